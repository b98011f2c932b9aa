import PostgresSupport
import StoreDefinition
import Testing

/// The same graph in columns, join tables, JSON lists and stored edges comes to what the reference says.
@Suite(
  "Random graphs in the application's tables on PostgreSQL",
  .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct RandomTables {
  @Test(
    "Change files, and SQL and sweeps, do what the reference does",
    arguments: [
      .files, .sweeps, .stepped, .kinds, .steppedKinds, .stopped, .stoppedKinds, .jobs,
      .steppedJobs,
    ]
      as [Comparison.Way])
  func agreement(way: Comparison.Way) throws { try compare(way) }

  @Test(
    "What is denied waits, and goes when its denial ends",
    arguments: [.sweeps, .stepped, .kinds, .stopped] as [Comparison.Way])
  func denied(way: Comparison.Way) throws { try compare(way, denies: true) }

  private func compare(_ way: Comparison.Way, denies: Bool = false) throws {
    try PlacedHistories(PostgresUnderTest()).compare(
      way, denies: denies, Histories.seeds(quick: 2, long: 300))
  }
}
