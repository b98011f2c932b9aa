import PostgresSupport
import StoreDefinition
import Testing

@Suite(
  "Nodes that come back in a change file on PostgreSQL",
  .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct ReturnedNodeTests {
  @Test(
    "They are the same nodes", arguments: ReturnedNodes.Claim.allCases, ReturnedNodes.Place.allCases
  )
  func claim(_ claim: ReturnedNodes.Claim, _ place: ReturnedNodes.Place) throws {
    try ReturnedNodes(PostgresUnderTest()).expect(claim, place)
  }
}
