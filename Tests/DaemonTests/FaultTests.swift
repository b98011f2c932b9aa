import CascadeModel
import CascadeSystem
import Glibc
import Testing

/// Whichever system call of the daemon's fails, and whenever the power is cut: afterwards the store
/// is whole, the daemon goes on by itself, and ends where it would have.
@Suite struct FaultTests {
  private static let isLong = Process.environment("CASCADE_LONG") != nil
  /// Of each kind of calls that fail, and of cuts, in a run that is not long.
  private static let tries = 2

  private struct Way {
    let kinds: [Faults.Kind]
    let error: Int32
    let mode: Faults.Mode
    var isSeeded = false
  }

  private static let ways = [
    Way(kinds: [.write], error: ENOSPC, mode: .once),
    Way(kinds: [.write], error: ENOSPC, mode: .partly),
    Way(kinds: [.write, .mkdir], error: ENOSPC, mode: .lasting),
    Way(kinds: [.write], error: EIO, mode: .once),
    Way(kinds: [.sync], error: EIO, mode: .once),
    Way(kinds: [.sync], error: EIO, mode: .lasting),
    Way(kinds: [.open], error: EMFILE, mode: .once),
    Way(kinds: [.open], error: EMFILE, mode: .lasting),
    Way(kinds: [.rename, .mkdir, .unlink], error: EIO, mode: .once),
    Way(kinds: [.rename, .mkdir, .unlink], error: ENOSPC, mode: .lasting),
    Way(kinds: [.truncate], error: EIO, mode: .once),
    Way(kinds: [.truncate], error: EIO, mode: .lasting),
  ]

  private static let cuts = [
    Way(kinds: Faults.Kind.allCases, error: 0, mode: .cut),
    Way(kinds: Faults.Kind.allCases, error: 0, mode: .cut, isSeeded: true),
  ]

  @Worker @Test(arguments: Chore.Kind.allCases)
  func endsWhereAnUndisturbedDaemonEnds(_ kind: Chore.Kind) throws {
    let chore = try Chore(kind)
    var random = Seeded()
    print("faults in \(kind): seed \(random.seed), calls \(chore.calls)")
    var plans = FaultTests.ways.flatMap { FaultTests.plans($0, chore, &random) }
    var cuts = FaultTests.cuts.flatMap { FaultTests.plans($0, chore, &random) }
    if !FaultTests.isLong {
      plans = Array(plans.shuffled(using: &random).prefix(FaultTests.tries))
      cuts = Array(cuts.shuffled(using: &random).prefix(FaultTests.tries))
    }
    let hits = (plans + cuts).count(where: { FaultTests.fails(chore, $0) })
    print("\(kind): \(hits) of \(plans.count + cuts.count) plans let a call fail")
    // A run that differs a little may have fewer calls.
    if FaultTests.isLong { #expect(hits > 0) }
  }

  /// The last calls end the chore: what has failed there must leave no transaction open.
  @Worker @Test(arguments: [Chore.Kind.sweep, .attach])
  func workWhoseEndFindsNoRoomGoesOn(_ kind: Chore.Kind) throws {
    let chore = try Chore(kind)
    var random = Seeded()
    let noRoom = Way(kinds: [.write, .mkdir], error: ENOSPC, mode: .lasting)
    for plan in FaultTests.plans(noRoom, chore, &random).suffix(4) {
      _ = FaultTests.fails(chore, plan)
    }
  }

  /// Not only at the next look at all stores, which may be a minute away.
  @Worker @Test func aFileThatCouldNotBeMovedIsSoonTriedAgain() throws {
    let plan = Faults.Plan(kinds: [.rename], call: 1, error: EIO)
    #expect(try FaultTests.fails(Chore(.sweep), plan))
  }

  /// SQLite opens a database only for reading where it cannot open it for writing.
  @Worker @Test func aFileThatCannotBeOpenedForAMomentIsNotTakenForOneThatMayNotBeWritten() throws {
    let chore = try Chore(.attach)
    let step = FaultTests.isLong ? 1 : 4
    let first = Int64.random(in: 1...Int64(step))
    for call in stride(from: first, through: chore.calls[.open] ?? 1, by: step) {
      let plan = Faults.Plan(kinds: [.open], call: call, error: EMFILE)
      _ = FaultTests.fails(chore, plan)
    }
  }

  /// One for each call.
  private static func plans(_ way: Way, _ chore: Chore, _ random: inout Seeded) -> [Faults.Plan] {
    let calls = way.kinds.reduce(0) { $0 + (chore.calls[$1] ?? 0) }
    return (0..<calls).map { call in
      let seed = way.isSeeded ? Int64.random(in: 1...999_999, using: &random) : 0
      return Faults.Plan(
        kinds: way.kinds, call: call + 1, error: way.error, mode: way.mode, seed: seed)
    }
  }

  /// Whether a call failed.
  private static func fails(_ chore: Chore, _ plan: Faults.Plan) -> Bool {
    let label = Comment(rawValue: "\(chore.kind): \(plan)")
    do {
      try chore.restore()
      let hasFailed = try chore.perform(under: plan)
      let outcome = try chore.outcome()
      let difference = Set(outcome).symmetricDifference(chore.expected).sorted()
      #expect(difference.isEmpty, "\(label)\n\(chore.store.log)")
      #expect(outcome.count == chore.expected.count, label)
      #expect(ErrorTextTests.rawDescription(in: chore.store.log) == nil, label)
      try chore.store.end()
      return hasFailed
    } catch {
      Issue.record("\(label): \(error)")
      _ = try? chore.store.end(SIGKILL)
      return true
    }
  }
}
