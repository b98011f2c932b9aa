import PostgresSupport
import StoreDefinition
import Testing

/// Others write at random between the steps of sweeps over random graphs.
@Suite(
  "Random writers between the steps of a sweep on PostgreSQL",
  .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct RandomInterference {
  @Test("A sweep leaves nothing to do, and nothing without a reason")
  func agreement() throws {
    try InterferedSweeps(PostgresUnderTest()).compare(Histories.seeds(quick: 3, long: 300))
  }
}
