import PostgresSupport
import StoreDefinition
import Testing

@Suite(
  "Why, of what was spared at first, on PostgreSQL",
  .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct LaterDeletionTests {
  @Test(
    "It is told as is claimed", arguments: LaterDeletions.Claim.allCases,
    LaterDeletions.Way.allCases)
  func claim(_ claim: LaterDeletions.Claim, _ way: LaterDeletions.Way) throws {
    try LaterDeletions(PostgresUnderTest()).expect(claim, way)
  }
}
