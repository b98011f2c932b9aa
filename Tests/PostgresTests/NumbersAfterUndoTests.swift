import PostgresSupport
import StoreDefinition
import Testing

@Suite(
  "Numbers after an undo on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct NumbersAfterUndoTests {
  @Test("They are told as is claimed", arguments: NumbersAfterUndo.Claim.allCases)
  func claim(_ claim: NumbersAfterUndo.Claim) throws {
    try NumbersAfterUndo(PostgresUnderTest()).expect(claim)
  }
}
