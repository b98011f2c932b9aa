internal import CascadeModel
internal import CascadeSystem
internal import CascadeVarlink

/// A store, and the daemon that serves it. Reads go to the database file itself, writes to the
/// daemon.
///
///     let store = Store("/srv/music.db", author: "music/1.0")
///     let songs = try await store.read { db in try db.all(Song.all) }
///     try await store.write { tx in try tx.put(song) }
///
/// A store opens its file and connects to the daemon when that is first needed.
public final class Store: Sendable {
  /// The path of the database file.
  public let path: String
  /// Who writes, for `cascadectl why`.
  public let author: String?
  let socket: String
  let readers: WorkerPool<Reader>
  let callers: WorkerPool<ControlClient>
  let queues: WorkerPool<SpoolQueue>
  let commits: CommitWatch
  private let isNamed: Bool

  private static let mostReaders = 8
  private static let mostCallers = 64
  private static let mostQueues = 4

  /// Names a store.
  ///
  /// - Parameters:
  ///   - path: The database file.
  ///   - socket: The socket of the daemon, if it is not beside the database.
  ///   - spool: The directory of change files, if it is not beside the database.
  ///   - author: Who writes, for `cascadectl why`.
  public init(_ path: String, socket: String? = nil, spool: String? = nil, author: String? = nil) {
    let path = (try? Process.absolutePath(path)) ?? path
    let socket = socket ?? "\(path).cascade/control"
    let isNamed = socket != "\(path).cascade/control"
    self.path = path
    self.author = author
    self.socket = socket
    self.isNamed = isNamed
    readers = WorkerPool("cascade-read", most: Store.mostReaders) { try Reader(path: path) }
    callers = WorkerPool("cascade-call", most: Store.mostCallers) {
      try ControlClient(socket: socket, store: isNamed ? path : nil)
    }
    let spool = spool ?? "\(path).cascade"
    queues = WorkerPool("cascade-queue", most: Store.mostQueues) { SpoolQueue(spool) }
    commits = CommitWatch(path)
  }

  /// A connection of its own, for calls that stay open.
  func connect() throws -> ControlClient {
    try ControlClient(socket: socket, store: isNamed ? path : nil)
  }
}

// MARK: - Reading

/// What a thread that reads has.
struct Reader: ~Copyable, SendableMetatype {
  private let snapshot: Snapshot

  init(path: String) throws(ReadError) { snapshot = Snapshot(try ReadConnection(path: path)) }

  borrowing func read<T>(_ body: (borrowing Snapshot) throws -> T) throws -> T {
    try snapshot.connection.inTransaction { try body(snapshot) }
  }
}

extension Store {
  /// Reads one state of the store, whatever others write meanwhile. Nobody waits for it, and it runs
  /// on a thread of the store's own.
  ///
  /// The snapshot cannot leave the block. What it returns are values.
  public func read<T: Sendable>(
    _ body: @escaping @Sendable (borrowing Snapshot) throws -> T
  ) async throws -> T {
    try await readers.run(isBroken: { ($0 as? ReadError)?.isBroken ?? false }) { reader in
      try reader.read(body)
    }
  }
}

extension ReadError {
  /// Whether the connection should be opened again, for example because the file was replaced.
  fileprivate var isBroken: Bool {
    guard case .sqlite(let code, _, _) = self else { return false }
    return [10, 11, 14, 26].contains(code & 0xFF)
  }
}
