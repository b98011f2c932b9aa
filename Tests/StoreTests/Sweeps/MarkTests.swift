import StoreDefinition
import StoreFixtures
import Testing

@Suite("Rows that are marked")
struct MarkTests {
  @Test("Rows are gone for others", arguments: Marks.Claim.allCases)
  func claim(_ claim: Marks.Claim) throws { try Marks(SQLiteUnderTest()).expect(claim) }
}

extension MarkTests {
  @Test("Marks are what the definition says", arguments: MarkedHistories.seeds)
  func histories(_ seed: UInt64) throws {
    try MarkedHistories(SQLiteUnderTest(), seed: seed).compare()
  }
}
