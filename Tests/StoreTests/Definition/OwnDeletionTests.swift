import StoreDefinition
import StoreFixtures
import Testing

@Suite("Writes that delete themselves")
struct OwnDeletionTests {
  @Test("They are what is claimed", arguments: OwnDeletions.Claim.allCases)
  func claim(_ claim: OwnDeletions.Claim) throws {
    try OwnDeletions(SQLiteUnderTest()).expect(claim)
  }
}
