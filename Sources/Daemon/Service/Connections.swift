internal import CascadeStore
internal import CascadeModel
internal import SystemdService

/// The connections of a store, each on a thread at a time (`StoreThreads`). It also records which of
/// them were used, and so keep memory for the next use.
@EventLoopActor
struct Connections {
  let writer: StoreWriter
  let reader: StoreReader
  /// Serves `status` alone, so that it is answered while the reader is busy. A store without tables
  /// of the application has none, because its queries are all short. It does not wait long for
  /// locks.
  let statusReader: StoreReader?
  /// Runs the model's own queries. SQLite checks no time limit during one call of a function, so
  /// such a query may take very long.
  let queryReader: StoreReader

  enum Role { case writer, reader, statusReader, queryReader }
  private var used: Set<Role> = [.writer]
  private(set) var lastUse = ContinuousClock.now

  init(
    _ engine: any StoreEngine, _ configuration: StoreConfiguration, _ progress: ProgressBoard,
    _ leases: HeldLeases
  ) {
    writer = StoreWriter(engine, configuration, progress, leases)
    reader = StoreReader(engine, configuration)
    statusReader =
      configuration.model.hasTables
      ? StoreReader(
        engine, configuration, lockTimeout: .milliseconds(20), on: StoreThreads.status) : nil
    queryReader = StoreReader(engine, configuration, on: StoreThreads.queries)
  }

  /// The readers that answer questions.
  var readers: [StoreReader] { [reader] + (statusReader.map { [$0] } ?? []) }

  func close() async {
    for reader in readers { await reader.close() }
    await writer.close()
    closeFetcher()
  }

  /// Whether each question closes the store again. A question that is being answered is not waited
  /// for.
  func setBrief(_ isBrief: Bool) {
    for reader in readers + [queryReader] { Task { await reader.setBrief(isBrief) } }
  }

  /// Closes the connection for queries, without waiting for a query that is running.
  func closeFetcher(because reason: StoreError? = nil) {
    Task { [queryReader] in await queryReader.close(because: reason) }
  }

  // MARK: - Releasing memory

  mutating func note(_ role: Role) {
    used.insert(role)
    lastUse = .now
  }

  var areUnused: Bool { used.isEmpty }

  /// The connections that were used since the last call. Only those have memory to release.
  mutating func takeUsed() -> Set<Role> {
    defer { used = [] }
    return used
  }

  /// Releases memory that only makes the next use faster. Returns the writer's outlook if it was
  /// used.
  func releaseMemory(_ roles: Set<Role>) async -> StoreWriter.RemainingWork? {
    if roles.contains(.reader) { await reader.rest() }
    if roles.contains(.statusReader) { await statusReader?.rest() }
    if roles.contains(.queryReader) { Task { [queryReader] in await queryReader.rest() } }
    return roles.contains(.writer) ? await writer.releaseMemory() : nil
  }
}
