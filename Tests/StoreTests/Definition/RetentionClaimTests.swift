import StoreDefinition
import StoreFixtures
import Testing

@Suite("What is kept, and for how long")
struct RetentionClaimTests {
  @Test("It is forgotten when it should", arguments: Retentions.Claim.allCases)
  func claim(_ claim: Retentions.Claim) throws {
    try Retentions(SQLiteUnderTest()).expect(claim)
  }
}
