import StoreDefinition
import StoreFixtures
import Testing

@Suite("What went")
struct DeletedListTests {
  @Test("It is listed by numbers", arguments: DeletedLists.Claim.allCases)
  func claim(_ claim: DeletedLists.Claim) throws {
    try DeletedLists(SQLiteUnderTest()).expect(claim)
  }
}
