import StoreDefinition
import StoreFixtures
import Testing

@Suite("Held plans")
struct HeldPlanTests {
  @Test("They own their causes", arguments: HeldPlans.Claim.allCases, HeldPlans.Way.allCases)
  func claim(_ claim: HeldPlans.Claim, _ way: HeldPlans.Way) throws {
    try HeldPlans(SQLiteUnderTest()).expect(claim, way)
  }

  @Test("A change file that names what is gone leaves it", arguments: HeldPlans.Way.allCases)
  func files(_ way: HeldPlans.Way) throws {
    try HeldPlans(SQLiteUnderTest()).expectLeftByFiles(way)
  }
}

@Suite("Random deletions that are held")
struct RandomHolds {
  @Test("End where they would without a limit", arguments: 0..<HeldHistories.runs)
  func compare(seed: UInt64) throws {
    #expect(try !HeldHistories(SQLiteUnderTest()).compare(seed: seed))
  }
}

@Suite("Random protections")
struct RandomProtections {
  @Test("Nothing goes that is protected, and all else", arguments: ProtectedHistories.seeds)
  func compare(seed: UInt64) throws {
    try ProtectedHistories(SQLiteUnderTest(), seed: seed).compare()
  }
}

@Suite("Random causes")
struct RandomCauses {
  @Test(
    "Whatever begins a deletion, the same goes and comes back", arguments: CausedHistories.seeds)
  func compare(seed: UInt64) throws {
    try CausedHistories(SQLiteUnderTest(), seed: seed).compare()
  }
}
