import StoreDefinition
import StoreFixtures
import Testing

@Suite("Archives")
struct ArchiveTests {
  @Test("They come back", arguments: Archives.Claim.allCases)
  func claim(_ claim: Archives.Claim) throws {
    try Archives(SQLiteUnderTest()).expect(claim)
  }
}
