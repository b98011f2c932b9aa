import StoreDefinition
import StoreFixtures
import Testing

@Suite("Nodes that come back in a change file")
struct ReturnedNodeTests {
  @Test(
    "They are the same nodes", arguments: ReturnedNodes.Claim.allCases, ReturnedNodes.Place.allCases
  )
  func claim(_ claim: ReturnedNodes.Claim, _ place: ReturnedNodes.Place) throws {
    try ReturnedNodes(SQLiteUnderTest()).expect(claim, place)
  }
}
