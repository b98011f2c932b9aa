internal import CascadeModel
internal import CascadeSystem

/// Why a file of the spool cannot be taken.
enum SpoolFault: Error, CustomStringConvertible {
  /// The file is gone: it was taken out of the spool.
  case vanished
  /// A fault of the machine, not of the file. The file stays in the queue.
  case transient(String)
  case refused(String)

  var description: String {
    switch self {
    case .vanished: "the file is no longer in the spool"
    case .transient(let reason), .refused(let reason): reason
    }
  }

  static func tooLarge(_ what: String) -> SpoolFault { .refused("\(what) 64 MiB") }
}

/// An open file of the queue: a regular file with a valid name.
struct SpoolFile: ~Copyable {
  enum Form { case document, lines }

  let name: FileName
  /// The name as text. It is the id of a file that gives none.
  let title: String
  let form: Form
  let descriptor: FileDescriptor
  let size: Int64

  static let largestDocument = 64 << 20

  /// Opens only regular files: opening a FIFO would block, and a link may lead elsewhere.
  init(_ name: FileName, in directory: borrowing Directory) throws {
    guard let status = try directory.status(of: name) else { throw SpoolFault.vanished }
    guard status.kind == .file else {
      throw SpoolFault.refused("\(status.kind.words) is not a change file, and is not opened")
    }
    let title = try SpoolFile.title(name)
    let form = try SpoolFile.form(title)
    let descriptor = try SpoolFile.open(name, in: directory)
    let opened = try descriptor.status()
    guard opened.kind == .file else { throw SpoolFault.vanished }
    if form == .document && opened.size > SpoolFile.largestDocument {
      throw SpoolFault.tooLarge("the .json change file is larger than")
    }
    self.name = name
    self.title = title
    self.form = form
    self.descriptor = descriptor
    size = opened.size
  }

  private static func title(_ name: FileName) throws -> String {
    guard let title = String(validating: name.bytes, as: UTF8.self) else {
      throw SpoolFault.refused("the file's name is not UTF-8: rename it")
    }
    return title
  }

  private static func form(_ title: String) throws -> Form {
    if title.hasSuffix(".json") { return .document }
    if title.hasSuffix(".ndjson") { return .lines }
    throw SpoolFault.refused("the name of a change file must end with .json or .ndjson")
  }

  private static func open(
    _ name: FileName, in directory: borrowing Directory
  ) throws -> FileDescriptor {
    do {
      return try directory.file(name)
    } catch {
      if error.isMissing { throw SpoolFault.vanished }
      if error.isNotAllowed { throw SpoolFault.refused("the daemon has no permission to read it") }
      throw SpoolFault.transient("\(error)")
    }
  }

  consuming func takeDescriptor() -> FileDescriptor { descriptor }

  /// The whole file. It must be a document, not a file of lines.
  borrowing func readDocument() throws -> [UInt8] {
    guard let bytes = try descriptor.readWhole(limit: SpoolFile.largestDocument, size: size)
    else {
      throw SpoolFault.tooLarge("the .json change file is larger than")
    }
    return bytes
  }
}

extension FileStatus.Kind {
  fileprivate var words: String {
    switch self {
    case .file: "a file"
    case .directory: "a directory"
    case .symbolicLink: "a symbolic link"
    case .socket, .other: "a FIFO, socket or device"
    }
  }
}
