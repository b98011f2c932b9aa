import PostgresSupport
import StoreDefinition
import Testing

@Suite(
  "Roots of files with other names on PostgreSQL",
  .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct RenamedRootTests {
  @Test("Memory of files is by directory", arguments: RenamedRoots.Claim.allCases)
  func claim(_ claim: RenamedRoots.Claim) throws {
    try RenamedRoots(PostgresUnderTest()).expect(claim)
  }
}
