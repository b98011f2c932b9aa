import PostgresSupport
import StoreDefinition
import Testing

@Suite("Archives, on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct ArchiveTests {
  @Test("They come back", arguments: Archives.Claim.allCases)
  func claim(_ claim: Archives.Claim) throws {
    try Archives(PostgresUnderTest()).expect(claim)
  }
}
