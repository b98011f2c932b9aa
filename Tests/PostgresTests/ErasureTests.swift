import PostgresSupport
import StoreDefinition
import Testing

@Suite("Erasures, on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct ErasureTests {
  @Test("Nothing is left", arguments: Erasures.Claim.allCases)
  func claim(_ claim: Erasures.Claim) throws {
    try Erasures(PostgresUnderTest()).expect(claim)
  }
}
