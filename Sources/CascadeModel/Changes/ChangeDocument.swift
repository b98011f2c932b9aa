/// The members of a change file that describe the file itself.
package struct ChangeHeader: Hashable, Sendable {
  package var id: String?
  package var author: String?
  /// The number of lines in one transaction; only in `.ndjson` files.
  package var batch: Int?
  /// Whether a node that the file writes may go because an edge that it gives leads nowhere.
  package var mayDeleteItself: Bool

  package init(
    id: String? = nil, author: String? = nil, batch: Int? = nil, mayDeleteItself: Bool = true
  ) {
    self.id = id
    self.author = author
    self.batch = batch
    self.mayDeleteItself = mayDeleteItself
  }
}

/// Why a change file is rejected, and the position of the fault in it.
package struct ChangeError: Error, Hashable, CustomStringConvertible {
  package let line: Int
  /// Counts Unicode scalars from 1.
  package let column: Int
  /// Such as `changes[3].put[1]`, or `put[1]` in a file of lines; empty for the whole document.
  package let path: String
  package let message: String

  package var description: String {
    "line \(line), column \(column)\(path.isEmpty ? "" : ", \(path)"): \(message)"
  }

  init(_ fault: Fault, in bytes: Bytes, firstLine: Int = 1) {
    let place = SourcePosition(of: fault.offset, in: bytes)
    line = firstLine + place.line - 1
    column = place.column
    path = place.path
    message = fault.message
  }
}

/// A `.json` change file: one transaction.
///
/// The whole file is checked before the first change is returned. Then the changes are parsed a
/// second time, one by one. That is twice the parsing, but no list of all changes is held in
/// memory.
package struct ChangeDocument: Sendable {
  package let header: ChangeHeader
  private let bytes: [UInt8]
  private var parser: ChangeParser
  private var first = true

  /// The nesting depth at which a change begins: within the object and its list.
  private static let depth = 2

  package init(_ bytes: [UInt8]) throws(ChangeError) {
    var parser = ChangeParser()
    do throws(Fault) {
      let document = try parser.document(bytes.span)
      parser.scanner.restart(at: document.changes, depth: ChangeDocument.depth)
      self.header = document.header
    } catch {
      throw ChangeError(error, in: bytes.span)
    }
    self.bytes = bytes
    self.parser = parser
  }

  /// The next change, nil after the last.
  package mutating func next() -> Change? {
    let file = bytes
    let bytes = file.span
    do throws(Fault) {
      if try parser.scanner.nextElement(&first, bytes) { return try parser.change(bytes) }
      // Stay before the `]`, so that the next call returns nil again.
      parser.scanner.restart(at: parser.scanner.at - 1, depth: ChangeDocument.depth)
      return nil
    } catch {
      preconditionFailure("judged before: \(error.message)")
    }
  }
}

/// A `.ndjson` change file, line by line.
package struct ChangeLineParser: Sendable {
  private var parser = ChangeParser()

  package init() {}

  /// The header of a file, if the first line is one; nil if it is a change.
  package mutating func header(_ line: Span<UInt8>) throws(ChangeError) -> ChangeHeader? {
    do throws(Fault) {
      parser.scanner.restart()
      return try parser.header(line)
    } catch {
      throw ChangeError(error, in: line)
    }
  }

  /// The change in line `number`; the first line is 1.
  package mutating func change(
    _ line: Span<UInt8>, number: Int
  ) throws(ChangeError) -> Change {
    do throws(Fault) {
      parser.scanner.restart()
      try parser.scanner.begin(line)
      let change = try parser.change(line)
      try parser.scanner.end(line)
      return change
    } catch {
      throw ChangeError(error, in: line, firstLine: number)
    }
  }
}
