import PostgresSupport
import StoreDefinition
import Testing

@Suite(
  "Links of edges that the model places on PostgreSQL",
  .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct PlacedLinkTests {
  @Test("They are what is claimed", arguments: PlacedLinks.Claim.allCases)
  func claim(_ claim: PlacedLinks.Claim) throws {
    try PlacedLinks(PostgresUnderTest()).expect(claim)
  }
}
