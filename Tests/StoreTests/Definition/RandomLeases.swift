import StoreDefinition
import StoreFixtures
import Testing

/// When all leases are over, the store is as if there had been none.
@Suite("Random leases")
struct RandomLeases {
  private let histories = LeasedHistories(SQLiteUnderTest())

  @Test("Files, leases of managed nodes", arguments: 0..<2)
  func managed(part: Int) throws {
    for seed in Histories.seeds(quick: 20, long: 200, part: part, of: 2) {
      try histories.compareManaged(seed)
    }
  }

  @Test("Files and SQL, leases of rows", arguments: [false, true])
  func rows(bySQL: Bool) throws {
    for seed in Histories.seeds(quick: 10, long: 120) {
      try histories.comparePlaced(seed, bySQL: bySQL)
    }
  }
}
