import PostgresSupport
import StoreDefinition
import Testing

@Suite(
  "What change files write on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct WrittenValueTests {
  @Test("It is what is claimed", arguments: WrittenValues.Claim.allCases)
  func claim(_ claim: WrittenValues.Claim) throws {
    try WrittenValues(PostgresUnderTest()).expect(claim)
  }
}
