internal import CascadeModel
internal import CascadeStore
internal import CascadeSystem

/// A file of the queue that was read as far as possible without the store.
///
/// Files are read and checked before the write lock is taken, so that other writers do not wait for
/// the parsing.
final class PreparedFile {
  let name: FileName
  let title: String
  let header: ChangeHeader
  let author: String?
  let size: Int
  private let content: Content

  private enum Content {
    case document(ChangeDocument, fingerprint: Int64)
    case lines(LineSource)
  }

  init(
    _ name: FileName, in directory: borrowing Directory, submitter: String? = nil
  ) throws {
    let file = try SpoolFile(name, in: directory)
    self.name = name
    title = file.title
    size = Int(file.size)
    switch file.form {
    case .document:
      let bytes = try file.readDocument()
      let document = try ChangeDocument(bytes)
      header = document.header
      content = .document(document, fingerprint: Fingerprint(bytes).signed)
    case .lines:
      let source = try LineSource(file.takeDescriptor())
      header = source.header
      content = .lines(source)
    }
    author = header.author ?? submitter
  }

  var id: String { header.id ?? title }

  /// The lines, if it is a file of lines.
  var lines: LineSource? {
    if case .lines(let source) = content { source } else { nil }
  }

  /// The changes, beginning with the first. Every attempt calls this again.
  func changes() throws -> () throws -> Change? {
    switch content {
    case .document(let document, _):
      var document = document
      return { document.next() }
    case .lines(let source):
      try source.rewind(toLine: 0)
      return { try source.next() }
    }
  }

  /// The fingerprint of the content, by which the ledger recognises a repetition.
  func fingerprint() throws -> Int64 {
    switch content {
    case .document(_, let fingerprint): return fingerprint
    case .lines(let source): return try source.fingerprint()
    }
  }

  /// The submission for the store. The fingerprint of a file of lines is known only after its last
  /// change: see `complete`.
  func submission(at now: Int64) -> Submission {
    var submission = Submission(id: id, author: author, fingerprint: 0, at: now)
    submission.mayDeleteItself = header.mayDeleteItself
    complete(&submission)
    return submission
  }

  func complete(_ submission: inout Submission) {
    switch content {
    case .document(_, let fingerprint): submission.fingerprint = fingerprint
    case .lines(let source):
      if let fingerprint = source.knownFingerprint { submission.fingerprint = fingerprint }
    }
  }
}
