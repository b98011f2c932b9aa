import Glibc
import CascadeModel
import CascadeSystem
import Testing

/// Killed at any instant of a sweep of any kind, while others write, the daemon goes on where it
/// stopped, and ends where it would have.
@Suite struct SweepKillTests {
  private static let isLong = Process.environment("CASCADE_LONG") != nil
  private static let rounds = isLong ? 20 : 1
  /// In a round; as many roots are deleted, and some by the other process.
  private static let kills = 10
  private static let othersRoots = 3
  private static let kinds = [
    "cascade", "refcount", "dangling", "all", "unreachable", "files", "trash",
  ]

  @Worker @Test func endsWhereASweepThatNobodyKilledEnds() throws {
    var random = Seeded()
    print("kill -9 among sweeps: seed \(random.seed)")
    let expected = try SweepKillTests.undisturbed()
    var hits = 0
    for round in 0..<SweepKillTests.rounds {
      let hitsBefore = hits
      let label = Comment(rawValue: "round \(round), seed \(random.seed)")
      let estate = try SweepKillTests.estate()
      let before = try estate.belowRoots()
      try estate.startBystander(writes: 700, roots: SweepKillTests.othersRoots)
      for kill in 0..<SweepKillTests.kills {
        try estate.deleteRoot(kill + 1)
        hits += try SweepKillTests.kill(
          estate, SweepKillTests.kinds[(round + kill) % SweepKillTests.kinds.count], &random)
      }
      print("round \(round): \(hits - hitsBefore) kills hit a sweep")
      try estate.finish()
      let after = try estate.everything()
      #expect(after == expected, "\(label): \(SweepKillTests.difference(after, expected))")
      #expect(try estate.store.texts("PRAGMA integrity_check") == ["ok"], label)
      try estate.undoAll()
      let restored = try estate.belowRoots()
      #expect(restored == before, "\(label): \(SweepKillTests.difference(restored, before))")
    }
    print("\(hits) of \(SweepKillTests.rounds * SweepKillTests.kills) kills hit a sweep")
    #expect(hits > 0)
  }

  /// What is left would be a batch of its own.
  @Worker @Test func aSweepThatIsDueWaitsForTheOneThatWasKilled() throws {
    let sweep = try LongSweep(
      rows: 20_000, sweeps: #"sweeps: { trash: "never", refcount: "@every 1s" },"#, trash: "1d")
    let asking = try sweep.begin()
    try sweep.store.waitUntil("it deletes") { try sweep.rest() < 20_000 }
    #expect(try SweepKillTests.killed(sweep.store) == 1)
    _ = try asking.finish()
    SystemClock.sleep(for: .seconds(1))
    try sweep.store.start()
    try sweep.store.waitUntil("the rest is swept") { try sweep.rest() == 0 }
    #expect(
      try sweep.store.texts("SELECT deleted FROM cascade_ledger WHERE deleted > 0") == ["20000"])
  }

  private static func estate() throws -> Estate {
    try Estate(roots: kills + othersRoots + 1, albums: 16)
  }

  private static func undisturbed() throws -> [String] {
    let estate = try estate()
    try estate.startBystander(writes: 700, roots: othersRoots)
    for root in 1...kills { try estate.deleteRoot(root) }
    try estate.finish()
    return try estate.everything()
  }

  /// How many sweeps it hit. Every second kill waits until the sweep has begun, however busy the
  /// machine is. Every fourth is followed by another, while the daemon starts and goes on.
  private static func kill(
    _ estate: Estate, _ kind: String, _ random: inout Seeded
  ) throws -> Int {
    let store = estate.store
    let input = try FileDescriptor.open("/dev/null")
    let asking = try Running(
      [Programs.cascadectl, "--store", store.path, "sweep", kind], input: input)
    if Bool.random(using: &random) {
      try store.waitUntil("the sweep begins, or ends") {
        try asking.process.hasEnded || sweepsUnderWay(store) > 0
      }
    } else {
      SystemClock.sleep(for: .milliseconds(Int.random(in: 0..<300, using: &random)))
    }
    var hits = try killed(store)
    _ = try asking.finish()
    if Int.random(in: 0..<4, using: &random) == 0 {
      try store.launch()
      SystemClock.sleep(for: .milliseconds(Int.random(in: 0..<60, using: &random)))
      hits += try killed(store)
    }
    try store.start()
    return hits
  }

  private static func killed(_ store: TestStore) throws -> Int {
    #expect(try store.end(SIGKILL) == .signal(SIGKILL))
    return try sweepsUnderWay(store)
  }

  private static func sweepsUnderWay(_ store: TestStore) throws -> Int {
    Int(try store.integers("SELECT count(*) FROM cascade_meta WHERE name = 'sweep.batch'")[0])
  }

  private static func difference(_ actual: [String], _ expected: [String]) -> String {
    let (actual, expected) = (Set(actual), Set(expected))
    return "too many: \(actual.subtracting(expected).sorted().prefix(20)), "
      + "missing: \(expected.subtracting(actual).sorted().prefix(20))"
  }
}
