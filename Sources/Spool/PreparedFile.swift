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
