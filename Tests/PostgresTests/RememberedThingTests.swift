import PostgresSupport
import StoreDefinition
import Testing

@Suite(
  "What is remembered when tables change on PostgreSQL",
  .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct RememberedThingTests {
  @Test("It stays true", arguments: RememberedThings.Claim.allCases)
  func claim(_ claim: RememberedThings.Claim) throws {
    try RememberedThings(PostgresUnderTest()).expect(claim)
  }
}
