import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing

/// The same graph in columns, join tables, JSON lists, values of objects and stored edges comes to
/// what the reference says, whoever writes it.
@Suite("Random graphs in the application's tables")
struct RandomPlaces {
  @Test("Change files do what the reference does", arguments: 0..<2)
  func files(part: Int) throws { try compare(.files, part) }

  @Test("SQL and sweeps do what the reference does", arguments: 0..<2)
  func sweeps(part: Int) throws { try compare(.sweeps, part) }

  @Test("SQL and sweeps in steps do what the reference does", arguments: 0..<2)
  func sweepsInSteps(part: Int) throws { try compare(.stepped, part) }

  @Test("Sweeps of one kind after the other end where one of all ends", arguments: 0..<2)
  func kinds(part: Int) throws { try compare(.kinds, part) }

  @Test("Sweeps of one kind in steps end where one of all ends", arguments: 0..<2)
  func kindsInSteps(part: Int) throws { try compare(.steppedKinds, part) }

  @Test("A sweep that is stopped again and again ends where one at once does", arguments: 0..<2)
  func stops(part: Int) throws { try compare(.stopped, part) }

  @Test("Sweeps of one kind that are stopped again and again end there too", arguments: 0..<2)
  func stopsOfKinds(part: Int) throws { try compare(.stoppedKinds, part) }

  @Test("Jobs do what the reference does", arguments: 0..<2)
  func jobs(part: Int) throws { try compare(.jobs, part) }

  @Test("Jobs in steps do what the reference does", arguments: 0..<2)
  func jobsInSteps(part: Int) throws { try compare(.steppedJobs, part) }

  @Test(
    "What is denied waits, and goes when its denial ends",
    arguments: [.sweeps, .stepped, .kinds, .stopped] as [Comparison.Way], 0..<2)
  func denied(way: Comparison.Way, part: Int) throws { try compare(way, denies: true, part) }

  /// Sweeps in many transactions take many times as long.
  private func compare(_ way: Comparison.Way, denies: Bool = false, _ part: Int) throws {
    let isSlow = ![.files, .sweeps].contains(way)
    let seeds = Histories.seeds(
      quick: isSlow ? 5 : 25, long: isSlow ? 350 : 2_000, part: part, of: 2)
    try PlacedHistories(SQLiteUnderTest()).compare(way, denies: denies, seeds)
  }
}
