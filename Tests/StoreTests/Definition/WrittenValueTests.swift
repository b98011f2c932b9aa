import StoreDefinition
import StoreFixtures
import Testing

@Suite("What change files write")
struct WrittenValueTests {
  @Test("It is what is claimed", arguments: WrittenValues.Claim.allCases)
  func claim(_ claim: WrittenValues.Claim) throws {
    try WrittenValues(SQLiteUnderTest()).expect(claim)
  }
}
