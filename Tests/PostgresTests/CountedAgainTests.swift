import PostgresSupport
import StoreDefinition
import Testing

@Suite(
  "Counts that are asked again on PostgreSQL",
  .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct CountedAgainTests {
  @Test(
    "Sweeps of each kind end where one of both does", arguments: CountedAgain.Claim.allCases,
    CountedAgain.Order.allCases)
  func claim(_ claim: CountedAgain.Claim, _ order: CountedAgain.Order) throws {
    try CountedAgain(PostgresUnderTest()).expect(claim, order)
  }
}
