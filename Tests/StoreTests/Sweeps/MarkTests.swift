import StoreDefinition
import StoreFixtures
import Testing

@Suite("Rows that are marked")
struct MarkTests {
  @Test("Rows are gone for others", arguments: Marks.Claim.allCases)
  func claim(_ claim: Marks.Claim) throws { try Marks(SQLiteUnderTest()).expect(claim) }

  @Test("Why rows were marked that have gone is forgotten with the trash")
  func forgotten() throws { try Marks(SQLiteUnderTest()).expectForgetting(from: "cascade_marked") }
}

extension MarkTests {
  @Test("Marks are what the definition says", arguments: MarkedHistories.seeds)
  func histories(_ seed: UInt64) throws {
    try MarkedHistories(SQLiteUnderTest(), seed: seed).compare()
  }
}
