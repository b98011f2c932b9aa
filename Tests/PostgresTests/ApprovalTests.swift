import PostgresSupport
import StoreDefinition
import Testing

@Suite("Approvals on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct ApprovalTests {
  @Test("They are for what is claimed", arguments: Approvals.Claim.allCases)
  func claim(_ claim: Approvals.Claim) throws {
    try Approvals(PostgresUnderTest()).expect(claim)
  }
}
