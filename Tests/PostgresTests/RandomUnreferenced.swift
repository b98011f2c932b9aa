import PostgresSupport
import StoreDefinition
import Testing

@Suite(
  "Random tables, and what nothing refers to in them, on PostgreSQL",
  .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct RandomUnreferenced {
  private let seeds = Histories.seeds(quick: 3, long: 300)

  @Test(
    "Exactly what plain SQL finds goes",
    arguments: ["", "'deleteDestinationIfAllSourcesDeleted'"], ["", "unreferenced: true"])
  func isExact(rule: String, free: String) throws {
    try UnreferencedSweeps(PostgresUnderTest()).compare(rule: rule, free: free, seeds)
  }

  @Test("What a writer refers to between two steps stays")
  func staysBesideWriters() throws {
    try UnreferencedSweeps(PostgresUnderTest()).holdBesideWriters(seeds)
  }
}
