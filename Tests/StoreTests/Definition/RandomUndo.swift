import StoreDefinition
import StoreFixtures
import Testing

/// What a transaction or a sweep deleted in a random graph comes back as it was.
@Suite("Undo in random graphs")
struct RandomUndo {
  private let histories = UndoneHistories(SQLiteUnderTest())

  @Test("What a change file deleted comes back as it was", arguments: 0..<2)
  func files(part: UInt64) throws { try histories.compare(bySQL: false, part) }

  @Test("What a sweep deleted comes back as it was", arguments: 0..<2)
  func sweeps(part: UInt64) throws { try histories.compare(bySQL: true, part) }
}
