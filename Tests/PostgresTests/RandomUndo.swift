import PostgresSupport
import StoreDefinition
import Testing

/// What a transaction or a sweep deleted in a random graph comes back as it was.
@Suite(
  "Undo in random graphs on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct RandomUndo {
  @Test("What a change file or a sweep deleted comes back as it was", arguments: [false, true])
  func agreement(bySQL: Bool) throws {
    try UndoneHistories(PostgresUnderTest()).compare(
      bySQL: bySQL, Histories.seeds(quick: 3, long: 300))
  }

  @Test("What an application deleted comes back with what followed")
  func kept() throws {
    try UndoneHistories(PostgresUnderTest()).compare(
      bySQL: true, keeping: true, Histories.seeds(quick: 3, long: 300))
  }

  @Test("One node comes back alone, and the rest later", arguments: [false, true])
  func singly(bySQL: Bool) throws {
    try UndoneHistories(PostgresUnderTest()).compare(
      bySQL: bySQL, keeping: bySQL, singly: true, Histories.seeds(quick: 3, long: 300))
  }
}
