internal import CascadeModel
internal import SQLiteTables
internal import SQLiteStore
internal import CascadeSystem

/// The reading side of a store, on its own thread: it answers questions while files are applied.
actor StoreReader {
  private nonisolated let thread: WorkerThread
  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.executor }

  private let configuration: StoreConfiguration
  private let busyMilliseconds: Int32
  private var reader: Reader?
  /// Why nothing can be read now; nil if it can.
  private var refusal: StoreError?

  init(_ configuration: StoreConfiguration, busyMilliseconds: Int32 = 5_000) {
    thread = WorkerThread(name: "reader")
    self.configuration = configuration
    self.busyMilliseconds = busyMilliseconds
  }

  /// Reads from the store. The connection is opened by the first question, so a daemon without
  /// questions has one connection less.
  func read<T: Sendable>(_ body: @Sendable (Reader) throws -> T) throws -> T {
    if let refusal { throw refusal }
    if reader == nil {
      // SQLite creates files beside the database for a reader too.
      try Ownership(of: configuration.path).refuseHarm()
      reader = try Reader(
        path: configuration.path, model: configuration.model, busyMilliseconds: busyMilliseconds)
    }
    return try body(reader!)
  }

  /// Closes the connection. The next question opens it again.
  func rest() { reader = nil }

  /// Closes the file. With a reason, it stays closed until `allow`.
  func close(because refusal: StoreError? = nil) {
    reader = nil
    self.refusal = refusal
  }

  func allow() { refusal = nil }
}
