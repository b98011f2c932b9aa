import PostgresSupport
import StoreDefinition
import Testing

@Suite("What went, on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct DeletedListTests {
  @Test("It is listed by numbers", arguments: DeletedLists.Claim.allCases)
  func claim(_ claim: DeletedLists.Claim) throws {
    try DeletedLists(PostgresUnderTest()).expect(claim)
  }
}
