internal import CascadeStore
internal import CascadeModel
internal import CascadeSystem

/// The reading side of a store, on its own thread: it answers questions while files are applied.
actor StoreReader {
  private nonisolated let thread: WorkerThread
  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.executor }

  private let engine: any StoreEngine
  private let configuration: StoreConfiguration
  private let lockTimeout: Duration
  private var reader: (any StoreReading)?
  /// Whether each question opens and closes the store.
  private var isBrief: Bool

  /// Why nothing can be read now; nil if it can.
  private var refusal: StoreError?

  init(
    _ engine: any StoreEngine, _ configuration: StoreConfiguration,
    lockTimeout: Duration = .seconds(5), on pool: ThreadPool = StoreThreads.readers
  ) {
    thread = WorkerThread(in: pool)
    self.engine = engine
    self.configuration = configuration
    self.lockTimeout = lockTimeout
    isBrief = configuration.isExclusive
  }

  /// From now on each question closes the store, or keeps it open.
  func setBrief(_ isBrief: Bool) {
    self.isBrief = isBrief
    if isBrief { reader = nil }
  }

  /// Reads from the store. The connection is opened by the first question, so a daemon without
  /// questions has one connection less.
  func read<T: Sendable>(_ body: @Sendable (any StoreReading) throws -> T) throws -> T {
    if let refusal { throw refusal }
    if reader == nil {
      reader = try engine.openForReading(
        configuration.path, model: configuration.model, lockTimeout: lockTimeout)
    }
    defer { if isBrief { reader = nil } }
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
