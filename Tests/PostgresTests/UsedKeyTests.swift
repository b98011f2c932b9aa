import PostgresSupport
import StoreDefinition
import Testing

@Suite(
  "Keys that are used again on PostgreSQL",
  .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct UsedKeyTests {
  @Test("They name other nodes", arguments: UsedKeys.Claim.allCases, UsedKeys.Way.allCases)
  func claim(_ claim: UsedKeys.Claim, _ way: UsedKeys.Way) throws {
    try UsedKeys(PostgresUnderTest()).expect(claim, way)
  }

  @Test("Also where the last reference to its predecessor went during a sweep", arguments: 0..<6)
  func newOneStays(afterStep step: Int) throws {
    try UsedKeys(PostgresUnderTest()).expectNewOneStays(afterStep: step)
  }
}
