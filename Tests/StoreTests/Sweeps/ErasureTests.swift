import StoreDefinition
import StoreFixtures
import Testing

@Suite("Erasures")
struct ErasureTests {
  @Test("Nothing is left", arguments: Erasures.Claim.allCases)
  func claim(_ claim: Erasures.Claim) throws {
    try Erasures(SQLiteUnderTest()).expect(claim)
  }
}
