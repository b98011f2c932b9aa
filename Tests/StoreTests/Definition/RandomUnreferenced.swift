import StoreDefinition
import StoreFixtures
import Testing

@Suite("Random tables, and what nothing refers to in them")
struct RandomUnreferenced {
  private let seeds = Histories.seeds(quick: 10, long: 500)

  @Test(
    "Exactly what plain SQL finds goes",
    arguments: ["", "'deleteDestinationIfAllSourcesDeleted'"], ["", "unreferenced: true"])
  func isExact(rule: String, free: String) throws {
    try UnreferencedSweeps(SQLiteUnderTest()).compare(rule: rule, free: free, seeds)
  }

  @Test("What a writer refers to between two steps stays")
  func staysBesideWriters() throws {
    try UnreferencedSweeps(SQLiteUnderTest()).holdBesideWriters(seeds)
  }
}
