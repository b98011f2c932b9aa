import StoreDefinition
import StoreFixtures
import Testing

@Suite("Approvals")
struct ApprovalTests {
  @Test("They are for what is claimed", arguments: Approvals.Claim.allCases)
  func claim(_ claim: Approvals.Claim) throws {
    try Approvals(SQLiteUnderTest()).expect(claim)
  }
}
