internal import Model
internal import System

/// The changes of a .ndjson file.
final class LineSource {
  let header: ChangeHeader
  let fingerprint: Int64
  /// The number of the line that the last change came from.
  private(set) var line = 0
  private let file: FileDescriptor
  private let headerLines: Int
  private var batches: () throws -> [NumberedChange]? = { nil }
  private var ready: ArraySlice<NumberedChange> = []
  private let isLarge: Bool

  /// From this size on, lines are parsed on a thread of their own while SQLite takes those before.
  private static let large = 1 << 20
  private static let batchesAhead = 4

  /// Reads the file once for its fingerprint and its header.
  init(_ file: consuming FileDescriptor, size: Int) throws {
    fingerprint = try LineSource.fingerprint(file)
    let first = try LineParser(file, behind: 0).header()
    header = first ?? ChangeHeader()
    headerLines = first == nil ? 0 : 1
    isLarge = size >= LineSource.large
    self.file = file
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

  /// Begins again behind the first `count` lines, and behind the header in any case.
  func rewind(toLine count: Int) throws {
    // Whoever read before must be gone: they share the place in the file.
    batches = { nil }
    ready = []
    line = max(count, headerLines)
    let lines = try LineParser(file, behind: line)
    if isLarge {
      let ahead = try Ahead(by: LineSource.batchesAhead) { try lines.batch() }
      batches = { try ahead.next() }
    } else {
      batches = { try lines.batch() }
    }
  }

  func next() throws -> Change? {
    guard try hasNext(), let next = ready.popFirst() else { return nil }
    line = next.line
    return next.change
  }

  /// Reads ahead; `line` stays where it is.
  func hasNext() throws -> Bool {
    if ready.isEmpty { ready = try batches()?[...] ?? [] }
    return !ready.isEmpty
  }

  /// Judges every line, before the first of several transactions takes effect.
  func judge() throws {
    try rewind(toLine: 0)
    while try next() != nil {}
  }
}

struct NumberedChange: Sendable {
  let change: Change
  let line: Int
}

/// Lines to changes, some at a time.
final class LineParser {
  private var reader: LineReader
  private var parser = ChangeLineParser()

  private static let batch = 256

  /// Reads `file` from its beginning, and passes over some lines. The descriptor is shared: of
  /// several that read from one, only the last one made may be used.
  init(_ file: borrowing FileDescriptor, behind count: Int) throws {
    reader = LineReader(try file.duplicate())
    try reader.rewind()
    try reader.skip(lines: count)
  }

  func header() throws -> ChangeHeader? {
    try reader.next { line, _ in try line.isBlank ? nil : parser.header(line) } ?? nil
  }

  /// The next changes; nil at the end.
  func batch() throws -> [NumberedChange]? {
    var batch: [NumberedChange] = []
    while batch.count < LineParser.batch, let change = try next() {
      batch.append(NumberedChange(change: change, line: reader.number))
    }
    return batch.isEmpty ? nil : batch
  }

  private func next() throws -> Change? {
    while true {
      let change = try reader.next { line, number in
        try line.isBlank ? Optional<Change>.none : parser.change(line, number: number)
      }
      guard let change else { return nil }
      if let change { return change }
    }
  }
}

extension Span<UInt8> {
  fileprivate var isBlank: Bool {
    for index in indices where self[index] != 0x20 && self[index] != 0x09 { return false }
    return true
  }
}
