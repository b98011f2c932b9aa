import PostgresSupport
import StoreDefinition
import Testing

@Suite("What was held back on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct HeldBackTests {
  @Test(
    "It goes when it should",
    arguments: HeldBack.Claim.allCases, HeldBack.Holder.allCases)
  func claim(_ claim: HeldBack.Claim, by holder: HeldBack.Holder) throws {
    try HeldBack(PostgresUnderTest()).expect(claim, by: holder)
  }
}
