import StoreDefinition
import StoreFixtures
import Testing

@Suite("Keys that are used again")
struct UsedKeyTests {
  @Test("They name other nodes", arguments: UsedKeys.Claim.allCases, UsedKeys.Way.allCases)
  func claim(_ claim: UsedKeys.Claim, _ way: UsedKeys.Way) throws {
    try UsedKeys(SQLiteUnderTest()).expect(claim, way)
  }

  @Test("Also where the last reference to its predecessor went during a sweep", arguments: 0..<6)
  func newOneStays(afterStep step: Int) throws {
    try UsedKeys(SQLiteUnderTest()).expectNewOneStays(afterStep: step)
  }
}
