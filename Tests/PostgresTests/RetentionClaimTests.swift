import PostgresSupport
import StoreDefinition
import Testing

@Suite("Retention on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct RetentionClaimTests {
  @Test("It is forgotten when it should", arguments: Retentions.Claim.allCases)
  func claim(_ claim: Retentions.Claim) throws {
    try Retentions(PostgresUnderTest()).expect(claim)
  }
}
