import PostgresSupport
import StoreDefinition
import Testing

@Suite("Protections, on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct ProtectionTests {
  @Test("Nodes are kept from every deletion", arguments: Protections.Claim.allCases)
  func claim(_ claim: Protections.Claim) throws {
    try Protections(PostgresUnderTest()).expect(claim)
  }
}
