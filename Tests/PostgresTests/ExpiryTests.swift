import PostgresSupport
import StoreDefinition
import Testing

@Suite("Rows that expire, on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct ExpiryTests {
  @Test("Rows go because of their age", arguments: Expiries.Claim.allCases)
  func claim(_ claim: Expiries.Claim) throws { try Expiries(PostgresUnderTest()).expect(claim) }
}
