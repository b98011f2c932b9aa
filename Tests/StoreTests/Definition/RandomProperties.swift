import StoreDefinition
import StoreFixtures
import Testing

/// The same random histories, but what an object declares stands in lists within its value.
@Suite("Random properties")
struct RandomProperties {
  @Test("References in values do what declared edges do", arguments: 0..<4)
  func agreement(part: Int) throws {
    try PropertyHistories(SQLiteUnderTest()).compare(
      Histories.seeds(quick: 100, long: 800, part: part, of: 4))
  }
}
