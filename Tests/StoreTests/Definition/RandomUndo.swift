import StoreDefinition
import StoreFixtures
import Testing

/// What a transaction or a sweep deleted in a random graph comes back as it was.
@Suite("Undo in random graphs")
struct RandomUndo {
  private let histories = UndoneHistories(SQLiteUnderTest())

  @Test("What a change file deleted comes back as it was", arguments: 0..<2)
  func files(part: Int) throws { try histories.compare(bySQL: false, seeds(part)) }

  @Test("What a sweep deleted comes back as it was", arguments: 0..<2)
  func sweeps(part: Int) throws { try histories.compare(bySQL: true, seeds(part)) }

  @Test("What an application deleted comes back with what followed", arguments: 0..<2)
  func kept(part: Int) throws { try histories.compare(bySQL: true, keeping: true, seeds(part)) }

  @Test("One node comes back alone, and the rest later", arguments: [false, true], 0..<2)
  func singly(bySQL: Bool, part: Int) throws {
    try histories.compare(bySQL: bySQL, keeping: bySQL, singly: true, seeds(part))
  }

  private func seeds(_ part: Int) -> [UInt64] {
    Histories.seeds(quick: 8, long: 300, part: part, of: 2)
  }
}
