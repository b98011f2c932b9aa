import PostgresSupport
import StoreDefinition
import Testing

/// When all leases are over, the store is as if there had been none.
@Suite("Random leases on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct RandomLeases {
  private let histories = LeasedHistories(PostgresUnderTest())
  private let seeds = Histories.seeds(quick: 4, long: 300)

  @Test("Files, leases of managed nodes")
  func managed() throws { try seeds.forEach(histories.compareManaged) }

  @Test("Files and SQL, leases of rows", arguments: [false, true])
  func rows(bySQL: Bool) throws {
    for seed in seeds { try histories.comparePlaced(seed, bySQL: bySQL) }
  }
}
