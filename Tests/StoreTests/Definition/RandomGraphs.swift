import StoreDefinition
import StoreFixtures
import Testing

/// The engine against the reference, over random transactions.
@Suite("Random graphs")
struct RandomGraphs {
  @Test("The store does what the reference does", arguments: 0..<4)
  func agreement(part: Int) throws {
    try GraphHistories(SQLiteUnderTest()).compare(
      Histories.seeds(quick: 120, long: 2_000, part: part, of: 4))
  }
}
