import StoreDefinition
import StoreFixtures
import Testing

@Suite("Why, of what was spared at first")
struct LaterDeletionTests {
  @Test(
    "It is told as is claimed", arguments: LaterDeletions.Claim.allCases,
    LaterDeletions.Way.allCases)
  func claim(_ claim: LaterDeletions.Claim, _ way: LaterDeletions.Way) throws {
    try LaterDeletions(SQLiteUnderTest()).expect(claim, way)
  }
}
