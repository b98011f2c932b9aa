internal import Model
internal import System

/// The changes of a .ndjson file.
final class LineSource {
  let header: ChangeHeader
  let fingerprint: Int64
  /// The number of the line that the last change came from.
  private(set) var line = 0
  private var reader: LineReader
  private var parser = ChangeLineParser()
  private let headerLines: Int
  private var ahead: Change?

  /// Reads the file once for its fingerprint and its header.
  init(_ file: consuming FileDescriptor) throws {
    fingerprint = try LineSource.fingerprint(file)
    try file.rewind()
    reader = LineReader(file)
    let first = try LineSource.header(&reader)
    headerLines = first == nil ? 0 : 1
    header = first ?? ChangeHeader()
  }

  private static func fingerprint(_ file: borrowing FileDescriptor) throws -> Int64 {
    var fingerprint = Fingerprint()
    var chunk: [UInt8] = []
    while let count = try file.read(into: &chunk, upTo: 256 << 10), count > 0 {
      fingerprint.add(chunk.span)
      chunk.removeAll(keepingCapacity: true)
    }
    return fingerprint.signed
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
