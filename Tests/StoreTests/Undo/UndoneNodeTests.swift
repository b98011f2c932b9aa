import StoreDefinition
import StoreFixtures
import Testing

@Suite("Undone nodes")
struct UndoneNodeTests {
  @Test("One node comes back, and nothing else", arguments: UndoneNodes.Claim.allCases)
  func claim(_ claim: UndoneNodes.Claim) throws {
    try UndoneNodes(SQLiteUnderTest()).expect(claim)
  }
}
