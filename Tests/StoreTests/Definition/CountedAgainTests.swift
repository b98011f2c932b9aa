import StoreDefinition
import StoreFixtures
import Testing

@Suite("Counts that are asked again")
struct CountedAgainTests {
  @Test(
    "Sweeps of each kind end where one of both does", arguments: CountedAgain.Claim.allCases,
    CountedAgain.Order.allCases)
  func claim(_ claim: CountedAgain.Claim, _ order: CountedAgain.Order) throws {
    try CountedAgain(SQLiteUnderTest()).expect(claim, order)
  }
}
