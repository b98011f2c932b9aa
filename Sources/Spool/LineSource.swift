internal import CascadeModel
internal import CascadeSystem
/// The changes of a .ndjson file.
final class LineSource {
  let header: ChangeHeader
  /// The number of the line that the last change came from.
  private(set) var line = 0
  private var reader: LineReader
  private var parser = ChangeLineParser()
  private let headerLines: Int
  private var ahead: Change?

  init(_ file: consuming FileDescriptor) throws {
    reader = LineReader(file)
    let first = try LineSource.header(&reader)
    headerLines = first == nil ? 0 : 1
    header = first ?? ChangeHeader()
  }

  /// Of the file, if it was read to its end.
  var knownFingerprint: Int64? { reader.fingerprint }

  /// Of the file, which is read for it if need be; `rewind` must follow.
  func fingerprint() throws -> Int64 {
    if let known = knownFingerprint { return known }
    try reader.rewind()
    try reader.readToEnd()
    return knownFingerprint!
  }

  private static func header(_ reader: inout LineReader) throws -> ChangeHeader? {
    var parser = ChangeLineParser()
    return try reader.next { line, _ in try line.isBlank ? nil : parser.header(line) } ?? nil
  }

  /// Begins again behind the first `count` lines, and behind the header in any case.
  func rewind(toLine count: Int) throws {
    try reader.rewind()
    try reader.skip(lines: max(count, headerLines))
    line = reader.number
    ahead = nil
  }

  func next() throws -> Change? {
    let change = try ahead.take() ?? read()
    line = reader.number
    return change
  }

  /// Reads ahead; `line` stays where it is.
  func hasNext() throws -> Bool {
    if ahead == nil { ahead = try read() }
    return ahead != nil
  }

  private func read() throws -> Change? {
    while true {
      let change = try reader.next { line, number in
        try line.isBlank ? Optional<Change>.none : parser.change(line, number: number)
      }
      guard let change else { return nil }
      if let change { return change }
    }
  }

  /// Judges every line, before the first of several transactions takes effect.
  func judge() throws {
    try rewind(toLine: 0)
    while try next() != nil {}
  }
}

extension Span<UInt8> {
  fileprivate var isBlank: Bool {
    for index in indices where self[index] != 0x20 && self[index] != 0x09 { return false }
    return true
  }
}
