import StoreDefinition
import StoreFixtures
import Testing

@Suite("Keys that are used again")
struct UsedKeyTests {
  @Test("They name other nodes", arguments: UsedKeys.Claim.allCases, UsedKeys.Way.allCases)
  func claim(_ claim: UsedKeys.Claim, _ way: UsedKeys.Way) throws {
    try UsedKeys(SQLiteUnderTest()).expect(claim, way)
  }
}
