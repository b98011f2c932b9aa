import PostgresSupport
import StoreDefinition
import Testing

@Suite(
  "Tables that have changed since a batch on PostgreSQL",
  .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct ChangedTableTests {
  @Test("An undo puts each value where it was", arguments: ChangedTables.Claim.allCases)
  func claim(_ claim: ChangedTables.Claim) throws {
    try ChangedTables(PostgresUnderTest()).expect(claim)
  }
}
