import StoreDefinition
import StoreFixtures
import Testing

@Suite("Numbers after an undo")
struct NumbersAfterUndoTests {
  @Test("They are told as is claimed", arguments: NumbersAfterUndo.Claim.allCases)
  func claim(_ claim: NumbersAfterUndo.Claim) throws {
    try NumbersAfterUndo(SQLiteUnderTest()).expect(claim)
  }
}
