import StoreDefinition
import StoreFixtures
import Testing

@Suite("Kept deletions")
struct KeptDeletionTests {
  @Test("What applications delete comes back", arguments: KeptDeletions.Claim.allCases)
  func claim(_ claim: KeptDeletions.Claim) throws {
    try KeptDeletions(SQLiteUnderTest()).expect(claim)
  }
}
