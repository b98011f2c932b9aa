import StoreDefinition
import StoreFixtures
import Testing

@Suite("Roots of files with other names")
struct RenamedRootTests {
  @Test("Memory of files is by directory", arguments: RenamedRoots.Claim.allCases)
  func claim(_ claim: RenamedRoots.Claim) throws {
    try RenamedRoots(SQLiteUnderTest()).expect(claim)
  }
}
