import StoreDefinition
import StoreFixtures
import Testing

/// Others write at random between the steps of sweeps over random graphs.
@Suite("Random writers between the steps of a sweep")
struct RandomInterference {
  @Test("A sweep leaves nothing to do, and nothing without a reason", arguments: 0..<2)
  func agreement(part: UInt64) throws { try InterferedSweeps(SQLiteUnderTest()).compare(part) }
}
