/// What a change file says of itself.
package struct ChangeHeader: Hashable, Sendable {
  package var id: String?
  package var author: String?
  /// Lines to a transaction; only in `.ndjson` files.
  package var batch: Int?

  package init(id: String? = nil, author: String? = nil, batch: Int? = nil) {
    self.id = id
    self.author = author
    self.batch = batch
  }
}

/// Why a change file is rejected, and the place in it.
package struct ChangeError: Error, Hashable, CustomStringConvertible {
  package let line: Int
  /// Counts Unicode scalars from 1.
  package let column: Int
  /// `changes[3].put[1]`, in a line of its own `put[1]`; empty for the whole.
  package let path: String
  package let message: String

  package var description: String {
    "line \(line), column \(column)\(path.isEmpty ? "" : ", \(path)"): \(message)"
  }

  init(_ fault: Fault, in bytes: Bytes, firstLine: Int = 1) {
    let place = Place(of: fault.offset, in: bytes)
    line = firstLine + place.line - 1
    column = place.column
    path = place.path
    message = fault.message
  }
}

/// A `.json` change file: one transaction.
///
/// The file is judged whole before the first change comes out of it. Then the changes are read a
/// second time, one by one: twice the parsing, but no list of all changes in memory.
package struct ChangeDocument: Sendable {
  package let header: ChangeHeader
  private let bytes: [UInt8]
  private var parser: ChangeParser
  private var first = true

  /// Of a change: within the object and its list.
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
      // Back before the `]`: whoever asks again is told the same.
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

  /// The header of a file, if its first line is one; nil when it is a change.
  package mutating func header(_ line: Span<UInt8>) throws(ChangeError) -> ChangeHeader? {
    do throws(Fault) {
      parser.scanner.restart()
      return try parser.header(line)
    } catch {
      throw ChangeError(error, in: line)
    }
  }

  /// The change in line `number`, which begins with 1.
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
