internal import CascadeModel
internal import CascadePostgres
internal import PostgresSweeps
internal import PostgresTables

/// The first questions of a look at what others committed. They do not depend on each other, so they go
/// to the server together.
struct ReviewQueries {
  /// The server's time in milliseconds, and the newest lease.
  let clock = """
    SELECT floor(1000 * extract(epoch FROM clock_timestamp()))::bigint,
      (SELECT max(id) FROM cascade.lease)
    """

  /// How many leases have ended, and in how many milliseconds the next one ends.
  let leases = """
    SELECT count(*) FILTER (WHERE l.expires <= n.now),
      ceil(1000 * (min(l.expires) FILTER (WHERE l.expires > n.now)
        - extract(epoch FROM clock_timestamp())))::bigint
    FROM cascade.lease l, (SELECT \(LeaseTable.seconds)::bigint AS now) n
    """

  private let immediate: [SweepKind]

  init(_ model: StoreModel) {
    immediate = [SweepKind.cascade, .refcount].filter { model.schedule(of: $0) == .immediate }
  }

  /// Whether there is something for a sweep that runs by itself.
  func journal(_ store: StoreConnection) -> String {
    let isMeant = JournalRows.isMeant(for: immediate, .unplanned, store.binding)
    return """
      SELECT EXISTS (SELECT FROM cascade.journal j WHERE \(isMeant))
        OR \(CausePlan.isApproved)
        OR EXISTS (SELECT FROM cascade.meta WHERE key = 'sweep.batch')
        OR \(BlockedNodes.isDue) OR \(FileRows.areNew)
        OR EXISTS (SELECT FROM cascade.recheck WHERE \(LateReferences.isDue))
      """
  }

  func askAhead(_ store: StoreConnection) throws {
    let schema = SchemaState.query(store).map { [$0] } ?? []
    try store.db.askAhead([clock, JournalNews.sql, leases, journal(store)] + schema)
  }
}
