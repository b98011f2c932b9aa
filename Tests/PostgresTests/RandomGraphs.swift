import PostgresSupport
import StoreDefinition
import Testing

/// The engine against the reference, over random transactions. A history takes many seconds, so the ordinary run
/// has none.
@Suite("Random graphs on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct RandomGraphs {
  @Test("The store does what the reference does", arguments: 0..<2)
  func agreement(part: Int) throws {
    try GraphHistories(PostgresUnderTest()).compare(
      Histories.seeds(quick: 0, long: 400, part: part, of: 2))
  }
}
