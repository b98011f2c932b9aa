import StoreDefinition
import StoreFixtures
import Testing

/// Others write at random between the steps of sweeps over random graphs.
@Suite("Random writers between the steps of a sweep")
struct RandomInterference {
  @Test("A sweep leaves nothing to do, and nothing without a reason", arguments: 0..<2)
  func agreement(part: Int) throws {
    try InterferedSweeps(SQLiteUnderTest()).compare(
      Histories.seeds(quick: 6, long: 200, part: part, of: 2))
  }
}
