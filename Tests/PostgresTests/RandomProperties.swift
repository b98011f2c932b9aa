import PostgresSupport
import StoreDefinition
import Testing

/// The same random histories, but what an object declares stands in lists within its value.
@Suite("Random properties on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct RandomProperties {
  @Test("References in values do what declared edges do")
  func agreement() throws {
    try PropertyHistories(PostgresUnderTest()).compare(Histories.seeds(quick: 8, long: 400))
  }
}
