import StoreDefinition
import StoreFixtures
import Testing

@Suite("What was held back")
struct HeldBackTests {
  @Test(
    "It goes when it should", arguments: HeldBack.Claim.allCases, HeldBack.Holder.allCases)
  func claim(_ claim: HeldBack.Claim, by holder: HeldBack.Holder) throws {
    try HeldBack(SQLiteUnderTest()).expect(claim, by: holder)
  }
}
