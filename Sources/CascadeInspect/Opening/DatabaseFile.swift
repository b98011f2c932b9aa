internal import CascadeSQLite
internal import CascadeSystem

/// A database file that is to be read so that it, and what is beside it, stay as they are.
struct DatabaseFile {
  /// How the file is read.
  enum Method: Hashable {
    /// There is no write-ahead log, and the journal mode makes one before it changes the file. An
    /// ordinary connection would create the log and its index.
    case immutable
    /// There is a log, but no index. An ordinary connection would create one.
    case privateCopy
    /// A log and its index are there: an ordinary connection blocks no other.
    case shared
    /// A rollback journal: a reader's lock delays writers.
    case paced
  }

  /// Without symbolic links: SQLite keeps the other files beside the real one.
  let path: String
  let method: Method
  private let state: State

  init(_ name: String) throws {
    guard let status = try FileStatus.of(name), let path = FileStatus.realPath(name) else {
      throw InspectError(.missing, "there is no file \(name)")
    }
    guard status.kind == .file else { throw InspectError.noDatabase(name) }
    self.path = path
    state = try State(path)
    let header = try DatabaseFile.header(of: path)
    guard header.isEmpty || header.starts(with: DatabaseFile.magic) else {
      throw InspectError.noDatabase(name)
    }
    method = state.method(isInLogMode: header.count > 19 && (header[18] == 2 || header[19] == 2))
  }

  func open() throws -> Connection {
    let db: Connection =
      switch method {
      case .immutable: try Connection(path: path, access: .immutable)
      case .privateCopy: try PrivateCopy.open(self)
      case .shared, .paced: try Connection(path: path, access: .readOnly)
      }
    db.setBusyTimeout(milliseconds: 5_000)
    db.keepLogOnClose()
    return db
  }

  /// Whether the database, or its log, changed since this value was made.
  var hasChanged: Bool {
    guard let now = try? State(path) else { return true }
    return method == .immutable ? now.database != state.database : now != state
  }

  private static let magic = Array("SQLite format 3\0".utf8)

  /// The descriptor is closed before SQLite opens the file: closing it later would release SQLite's
  /// locks.
  private static func header(of path: String) throws -> [UInt8] {
    var bytes: [UInt8] = []
    let file = try FileDescriptor.open(path)
    while bytes.count < 100, let count = try file.read(into: &bytes, upTo: 100), count > 0 {}
    return bytes
  }
}

extension DatabaseFile {
  /// The files, as far as a change shows in their status.
  private struct State: Hashable {
    let database: FileStatus?
    let log: FileStatus?
    let index: FileStatus?

    init(_ path: String) throws {
      database = try FileStatus.of(path)
      log = try FileStatus.of("\(path)-wal")
      index = try FileStatus.of("\(path)-shm")
    }

    func method(isInLogMode: Bool) -> Method {
      let frames = log?.size ?? 0
      if log != nil && index != nil { return .shared }
      if frames > 0 { return .privateCopy }
      return isInLogMode || database?.size == 0 ? .immutable : .paced
    }
  }
}
