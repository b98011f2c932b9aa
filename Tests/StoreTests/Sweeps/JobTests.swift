import StoreDefinition
import StoreFixtures
import Testing

@Suite("Jobs")
struct JobTests {
  @Test("Deletions begin here", arguments: Jobs.Claim.allCases)
  func claim(_ claim: Jobs.Claim) throws { try Jobs(SQLiteUnderTest()).expect(claim) }
}
