import PostgresSupport
import StoreDefinition
import Testing

/// The engine against the reference, over random transactions.
@Suite("Random graphs on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct RandomGraphs {
  @Test("The store does what the reference does", arguments: 0..<2)
  func agreement(part: Int) throws {
    try GraphHistories(PostgresUnderTest()).compare(
      Histories.seeds(quick: 2, long: 400, part: part, of: 2))
  }
}
