internal import CascadeModel
internal import CascadeSystem

/// Reads the changes of an `.ndjson` file.
final class LineSource {
  let header: ChangeHeader
  /// The number of the line of the last change.
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

  /// The fingerprint of the file, if it was read to its end.
  var knownFingerprint: Int64? { reader.fingerprint }

  /// The fingerprint of the file. It may read the whole file, so call `rewind` afterwards.
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

  /// Begins again after the first `count` lines, and in any case after the header.
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

  /// Whether there is another change. It reads ahead; `line` does not change.
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

  /// Checks every line, before the first of several transactions is applied.
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
