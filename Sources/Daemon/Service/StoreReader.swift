internal import CascadeModel
internal import Store
internal import CascadeSystem
/// A store's reading side on a thread of its own: questions are answered while files are applied.
actor StoreReader {
  private nonisolated let thread: WorkerThread
  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.executor }

  private let configuration: StoreConfiguration
  private let busyMilliseconds: Int32
  private var reader: Reader?
  /// Why nothing can be read now.
  private var refusal: StoreError?

  init(_ configuration: StoreConfiguration, busyMilliseconds: Int32 = 5_000) {
    thread = WorkerThread(name: "reader")
    self.configuration = configuration
    self.busyMilliseconds = busyMilliseconds
  }

  /// Opened with the first question; a daemon that nobody asks has one connection less.
  func read<T: Sendable>(_ body: @Sendable (Reader) throws -> T) throws -> T {
    if let refusal { throw refusal }
    if reader == nil {
      // SQLite makes files beside the database for a reader too.
      try Ownership(of: configuration.path).refuseHarm()
      reader = try Reader(
        path: configuration.path, model: configuration.model, busyMilliseconds: busyMilliseconds)
    }
    return try body(reader!)
  }

  /// The next question opens it again.
  func rest() { reader = nil }

  /// Closes the file; with a reason, it stays closed until `allow`.
  func close(because refusal: StoreError? = nil) {
    reader = nil
    self.refusal = refusal
  }

  func allow() { refusal = nil }
}
