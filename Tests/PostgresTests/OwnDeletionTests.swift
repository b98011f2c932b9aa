import PostgresSupport
import StoreDefinition
import Testing

@Suite(
  "Writes that delete themselves on PostgreSQL",
  .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct OwnDeletionTests {
  @Test("They are what is claimed", arguments: OwnDeletions.Claim.allCases)
  func claim(_ claim: OwnDeletions.Claim) throws {
    try OwnDeletions(PostgresUnderTest()).expect(claim)
  }
}
