import PostgresSupport
import StoreDefinition
import Testing

@Suite("Held plans on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct HeldPlanTests {
  @Test(
    "They own their causes, and make nothing else wait", arguments: HeldPlans.Claim.allCases,
    HeldPlans.Way.allCases)
  func claim(_ claim: HeldPlans.Claim, _ way: HeldPlans.Way) throws {
    try HeldPlans(PostgresUnderTest()).expect(claim, way)
  }

  @Test("Change files take nothing of them", arguments: HeldPlans.Way.allCases)
  func files(_ way: HeldPlans.Way) throws {
    try HeldPlans(PostgresUnderTest()).expectLeftByFiles(way)
  }
}

@Suite(
  "Random deletions that are held, on PostgreSQL",
  .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct RandomHolds {
  @Test("End where they would without a limit", arguments: 0..<HeldHistories.runs)
  func compare(seed: UInt64) throws {
    _ = try HeldHistories(PostgresUnderTest()).compare(seed: seed)
  }
}

@Suite(
  "Random protections, on PostgreSQL",
  .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct RandomProtections {
  @Test("Nothing goes that is protected, and all else", arguments: ProtectedHistories.seeds)
  func compare(seed: UInt64) throws {
    try ProtectedHistories(PostgresUnderTest(), seed: seed).compare()
  }
}

@Suite(
  "Random causes, on PostgreSQL",
  .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct RandomCauses {
  @Test(
    "Whatever begins a deletion, the same goes and comes back", arguments: CausedHistories.seeds)
  func compare(seed: UInt64) throws {
    try CausedHistories(PostgresUnderTest(), seed: seed).compare()
  }
}
