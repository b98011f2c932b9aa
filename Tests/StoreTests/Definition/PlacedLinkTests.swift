import StoreDefinition
import StoreFixtures
import Testing

@Suite("Links of edges that the model places")
struct PlacedLinkTests {
  @Test("They are what is claimed", arguments: PlacedLinks.Claim.allCases)
  func claim(_ claim: PlacedLinks.Claim) throws {
    try PlacedLinks(SQLiteUnderTest()).expect(claim)
  }
}
