import StoreDefinition
import StoreFixtures
import Testing

@Suite("What is remembered when tables change")
struct RememberedThingTests {
  @Test("It stays true", arguments: RememberedThings.Claim.allCases)
  func claim(_ claim: RememberedThings.Claim) throws {
    try RememberedThings(SQLiteUnderTest()).expect(claim)
  }
}
