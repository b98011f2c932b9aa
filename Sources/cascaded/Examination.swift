internal import CascadeInspect
internal import CascadeModel
internal import CascadeSystem
internal import Glibc

/// `--examine`: a daemon starts itself so to look at its database file, because to open and to close that
/// file would end the locks that SQLite has on it in the same process.
enum Examination {
  /// Nil if the arguments are for something else.
  static func run(_ arguments: [String]?) -> CInt? {
    guard let arguments, arguments.count == 3, arguments[0] == "--examine" else { return nil }
    do {
      let found = try arguments[1] == "evidence" ? evidence(arguments[2]) : traces(arguments[2])
      try StandardStream.output.writeAll(found.text)
      return EX_OK
    } catch {
      StandardStream.output.write("\(error)")
      return EX_SOFTWARE
    }
  }

  private static func evidence(_ path: String) throws -> JSON {
    .array(
      try Inspect.file(path).relationships
        .filter { $0.isLikely && ![.join, .path].contains($0.found) }.map {
          [
            "table": .string($0.from), "columns": .array($0.columns.map(JSON.string)),
            "to": .string($0.to), "evidence": .string($0.evidence),
          ]
        })
  }

  private static func traces(_ path: String) throws -> JSON {
    var input: [UInt8] = []
    while let count = try StandardStream.input.duplicate().read(into: &input, upTo: 1 << 20),
      count > 0
    {}
    let texts = try JSON.parse(input, as: .json).array?.compactMap(\.string) ?? []
    return .array(try UnusedPlaces(path).traces(of: texts).map(JSON.string))
  }
}
