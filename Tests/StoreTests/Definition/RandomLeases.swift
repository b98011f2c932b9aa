import StoreDefinition
import StoreFixtures
import Testing

/// When all leases are over, the store is as if there had been none.
@Suite("Random leases")
struct RandomLeases {
  private let histories = LeasedHistories(SQLiteUnderTest())

  @Test("Files, leases of managed nodes", arguments: 0..<2)
  func managed(part: UInt64) throws {
    for run in 0..<(Histories.isLong ? 100 : 10) as Range<UInt64> {
      try histories.compareManaged(run * 2 + part)
    }
  }

  @Test("Files and SQL, leases of rows", arguments: [false, true])
  func rows(bySQL: Bool) throws {
    for seed in 0..<(Histories.isLong ? 120 : 10) as Range<UInt64> {
      try histories.comparePlaced(seed, bySQL: bySQL)
    }
  }
}
