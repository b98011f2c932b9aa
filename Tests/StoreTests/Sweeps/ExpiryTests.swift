import StoreDefinition
import StoreFixtures
import Testing

@Suite("Rows that expire")
struct ExpiryTests {
  @Test("Rows go because of their age", arguments: Expiries.Claim.allCases)
  func claim(_ claim: Expiries.Claim) throws { try Expiries(SQLiteUnderTest()).expect(claim) }
}
