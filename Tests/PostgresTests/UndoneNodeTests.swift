import PostgresSupport
import StoreDefinition
import Testing

@Suite("Undone nodes, on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct UndoneNodeTests {
  @Test("One node comes back, and nothing else", arguments: UndoneNodes.Claim.allCases)
  func claim(_ claim: UndoneNodes.Claim) throws {
    try UndoneNodes(PostgresUnderTest()).expect(claim)
  }
}
