import PostgresSupport
import StoreDefinition
import Testing

@Suite(
  "Rows that are marked, on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct MarkTests {
  @Test("Rows are gone for others", arguments: Marks.Claim.allCases)
  func claim(_ claim: Marks.Claim) throws { try Marks(PostgresUnderTest()).expect(claim) }

  @Test("Why rows were marked that have gone is forgotten with the trash")
  func forgotten() throws {
    try Marks(PostgresUnderTest()).expectForgetting(from: "cascade.marked")
  }
}

extension MarkTests {
  @Test("Marks are what the definition says", arguments: MarkedHistories.seeds)
  func histories(_ seed: UInt64) throws {
    try MarkedHistories(PostgresUnderTest(), seed: seed).compare()
  }
}
