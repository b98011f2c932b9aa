import PostgresSupport
import StoreDefinition
import Testing

@Suite("Kept deletions, on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct KeptDeletionTests {
  @Test("What applications delete comes back", arguments: KeptDeletions.Claim.allCases)
  func claim(_ claim: KeptDeletions.Claim) throws {
    try KeptDeletions(PostgresUnderTest()).expect(claim)
  }
}
