import PostgresSupport
import StoreDefinition
import Testing

@Suite("Jobs on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct JobTests {
  @Test("Deletions begin here", arguments: Jobs.Claim.allCases)
  func claim(_ claim: Jobs.Claim) throws { try Jobs(PostgresUnderTest()).expect(claim) }
}
