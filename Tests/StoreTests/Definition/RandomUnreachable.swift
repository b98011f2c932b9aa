import StoreDefinition
import StoreFixtures
import Testing

/// Others refer, between the steps of a sweep, to what they still see.
@Suite("Random writers see nothing by halves")
struct RandomUnreachable {
  @Test(
    "Nothing that is there refers to what went",
    arguments: ["", "'deleteSourceIfDestinationDeleted'"])
  func isWhole(rule: String) throws {
    try UnreachableSweeps(SQLiteUnderTest()).compare(
      rule: rule, Histories.seeds(quick: 6, long: 2_000))
  }
}
