import PostgresSupport
import StoreDefinition
import Testing

/// Others refer, between the steps of a sweep, to what they still see.
@Suite(
  "Random writers see nothing by halves on PostgreSQL",
  .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct RandomUnreachable {
  @Test(
    "Nothing that is there refers to what went",
    arguments: ["", "'deleteSourceIfDestinationDeleted'"])
  func isWhole(rule: String) throws {
    try UnreachableSweeps(PostgresUnderTest()).compare(
      rule: rule, Histories.seeds(quick: 3, long: 400))
  }
}
