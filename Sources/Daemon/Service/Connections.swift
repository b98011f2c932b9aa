internal import CascadeModel
internal import Store
internal import CascadeSystem
/// A store's ways to SQLite, each on a thread of its own, and which of them have something in memory
/// for the next question.
@EventLoopActor
struct Connections {
  let writer: StoreWriter
  let reader: StoreReader
  /// For `status` alone: it is answered while the other one is busy. Where the store has no tables
  /// of an application's, nothing is asked that takes long; and nobody is waited for.
  let gauge: StoreReader?
  /// For the model's own queries: SQLite looks at no clock within one call of a function, however long
  /// that takes.
  let fetcher: StoreReader

  enum Role { case writer, reader, gauge, fetcher }
  private var used: Set<Role> = [.writer]
  private(set) var lastUse = ContinuousClock.now

  init(
    _ configuration: StoreConfiguration, _ progress: ProgressBoard, _ leases: HeldLeases
  ) {
    writer = StoreWriter(configuration, progress, leases)
    reader = StoreReader(configuration)
    gauge = configuration.model.hasTables ? StoreReader(configuration, busyMilliseconds: 20) : nil
    fetcher = StoreReader(configuration)
  }

  /// Those that questions go to.
  var readers: [StoreReader] { [reader] + (gauge.map { [$0] } ?? []) }

  func close() async {
    for reader in readers { await reader.close() }
    await writer.close()
    closeFetcher()
  }

  /// Nobody waits for a query.
  func closeFetcher(because reason: StoreError? = nil) {
    Task { [fetcher] in await fetcher.close(because: reason) }
  }

  // MARK: - Rest

  mutating func note(_ role: Role) {
    used.insert(role)
    lastUse = .now
  }

  var areAtRest: Bool { used.isEmpty }

  /// What only makes the next use faster goes back to the system. Who was not used is not woken.
  mutating func takeUsed() -> Set<Role> {
    defer { used = [] }
    return used
  }

  /// Returns what the writer says, if it was used.
  func rest(_ roles: Set<Role>) async -> StoreWriter.Outlook? {
    if roles.contains(.reader) { await reader.rest() }
    if roles.contains(.gauge) { await gauge?.rest() }
    if roles.contains(.fetcher) { Task { [fetcher] in await fetcher.rest() } }
    return roles.contains(.writer) ? await writer.rest() : nil
  }
}
