import StoreDefinition
import StoreFixtures
import Testing

@Suite("Parts of a model that have other names")
struct RenamedPartTests {
  @Test("What is remembered of them stays true", arguments: RenamedParts.Claim.allCases)
  func claim(_ claim: RenamedParts.Claim) throws {
    try RenamedParts(SQLiteUnderTest()).expect(claim)
  }
}
