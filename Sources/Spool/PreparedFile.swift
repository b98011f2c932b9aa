internal import Model
internal import Store
internal import System

/// A file of the queue that was read as far as it can be without the store.
///
/// Reading and judging happen before the write lock is taken: nobody waits for our parsing.
final class PreparedFile {
  let name: FileName
  let title: String
  let header: ChangeHeader
  let fingerprint: Int64
  let size: Int
  private let content: Content

  private enum Content {
    case document(ChangeDocument)
    case lines(LineSource)
  }

  init(_ name: FileName, in directory: borrowing Directory) throws {
    let file = try SpoolFile(name, in: directory)
    self.name = name
    title = file.title
    size = Int(file.size)
    switch file.form {
    case .document:
      let bytes = try file.readDocument()
      fingerprint = Fingerprint(bytes).signed
      let document = try ChangeDocument(bytes)
      header = document.header
      content = .document(document)
    case .lines:
      let source = try LineSource(file.takeDescriptor())
      fingerprint = source.fingerprint
      header = source.header
      content = .lines(source)
    }
  }

  var id: String { header.id ?? title }

  /// Where the lines come from, if the file has them.
  var lines: LineSource? {
    if case .lines(let source) = content { source } else { nil }
  }

  /// From the first change on; every attempt calls it anew.
  func changes() throws -> () throws -> Change? {
    switch content {
    case .document(let document):
      var document = document
      return { document.next() }
    case .lines(let source):
      try source.rewind(toLine: 0)
      return { try source.next() }
    }
  }

  func submission(at now: Int64) -> Submission {
    Submission(id: id, author: header.author, fingerprint: fingerprint, at: now)
  }
}

/// The changes of a .ndjson file.
final class LineSource {
  let header: ChangeHeader
  let fingerprint: Int64
  private var reader: LineReader
  private var parser = ChangeLineParser()
  private var hasHeader: Bool
  /// Of the change that `next` returned last.
  private(set) var line = 0
  private var ahead: (change: Change, line: Int)?

  /// Reads the file once for its fingerprint and its header.
  init(_ file: consuming FileDescriptor) throws {
    fingerprint = try LineSource.fingerprint(file)
    try file.rewind()
    reader = LineReader(file)
    let first = try LineSource.header(&reader)
    hasHeader = first != nil
    header = first ?? ChangeHeader()
  }

  private static func fingerprint(_ file: borrowing FileDescriptor) throws -> Int64 {
    var fingerprint = Fingerprint()
    var chunk: [UInt8] = []
    while let count = try file.read(into: &chunk, upTo: 256 << 10), count > 0 {
      fingerprint.add(chunk)
      chunk.removeAll(keepingCapacity: true)
    }
    return fingerprint.signed
  }

  private static func header(_ reader: inout LineReader) throws -> ChangeHeader? {
    var parser = ChangeLineParser()
    return try reader.next { line, _ in try line.isBlank ? nil : parser.header(line) } ?? nil
  }

  /// Begins again behind the first `lines` lines, and behind the header in any case.
  func rewind(toLine lines: Int) throws {
    try reader.rewind()
    try reader.skip(lines: max(lines, hasHeader ? 1 : 0))
    line = reader.number
    ahead = nil
  }

  func next() throws -> Change? {
    guard try hasNext(), let next = ahead.take() else { return nil }
    line = next.line
    return next.change
  }

  /// Reads ahead; `line` stays where it is.
  func hasNext() throws -> Bool {
    if ahead == nil { ahead = try read().map { ($0, reader.number) } }
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
