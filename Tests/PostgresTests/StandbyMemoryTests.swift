import PostgresTables
import Testing

/// When a standby is waited for. Times are in seconds since the first one.
@Suite("What is known of standbys")
struct StandbyMemoryTests {
  private static let start = ContinuousClock.now
  private static func at(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }
  private static let none = StandbyMemory.Sight(count: 0, hasAll: false)
  private static let behind = StandbyMemory.Sight(count: 1, hasAll: false)
  private static let done = StandbyMemory.Sight(count: 1, hasAll: true)
  private static let limit = Duration.seconds(5)

  private var memory = StandbyMemory()

  private mutating func see(_ sight: StandbyMemory.Sight, _ seconds: Int) {
    memory.see(sight, at: Self.at(seconds))
  }

  private func judge(
    _ sight: StandbyMemory.Sight, _ seconds: Int, _ limit: Duration? = limit
  ) -> StandbyMemory.Verdict {
    memory.judge(sight, at: Self.at(seconds), limit: limit)
  }

  @Test("A server that never had a standby has none to wait for")
  mutating func unknown() {
    memory.begin(on: 1, at: Self.start, isKnown: false)
    see(Self.none, 0)
    #expect(judge(Self.none, 0, nil) == .settled)
  }

  @Test("One that is there is waited for as long as it is there")
  mutating func behind() {
    memory.begin(on: 1, at: Self.start, isKnown: false)
    see(Self.behind, 0)
    #expect(judge(Self.behind, 1_000) == .isBehind)
    #expect(judge(Self.done, 1_000) == .settled)
  }

  @Test("One that is away is waited for from when that was seen")
  mutating func away() {
    memory.begin(on: 1, at: Self.start, isKnown: false)
    see(Self.done, 0)
    see(Self.none, 10)
    see(Self.none, 12)
    #expect(judge(Self.none, 14) == .isAway)
    #expect(judge(Self.none, 15) == .isAlone)
    #expect(judge(Self.none, 1_000, nil) == .isAway)
    #expect(judge(Self.none, 10, .zero) == .settled)
  }

  @Test("A server that goes on alone does so until a standby is there again")
  mutating func alone() {
    memory.begin(on: 1, at: Self.start, isKnown: true)
    see(Self.none, 0)
    #expect(judge(Self.none, 5) == .isAlone)
    memory.goOnAlone(at: Self.at(5))
    memory.goOnAlone(at: Self.at(6))
    #expect(judge(Self.none, 6) == .isAlone)
    #expect(memory.aloneSince == Self.at(5))
    see(Self.behind, 7)
    see(Self.none, 8)
    #expect(judge(Self.none, 9) == .isAway)
    #expect(memory.aloneSince == nil)
  }

  @Test("The next daemon waits for one that an earlier one saw, from its own beginning")
  mutating func next() {
    memory.begin(on: 1, at: Self.start, isKnown: true)
    see(Self.none, 0)
    #expect(judge(Self.none, 4) == .isAway)
    #expect(judge(Self.none, 5) == .isAlone)
  }

  @Test("A server that is opened again after it hung has time to find its standby")
  mutating func opened() {
    memory.begin(on: 1, at: Self.start, isKnown: false)
    see(Self.done, 0)
    memory.begin(on: 1, at: Self.at(100), isKnown: false)
    see(Self.none, 100)
    #expect(judge(Self.none, 104) == .isAway)
  }

  @Test("After a promotion, the time began when the last standby was seen")
  mutating func promoted() {
    memory.begin(on: 1, at: Self.start, isKnown: false)
    see(Self.done, 2)
    memory.begin(on: 2, at: Self.at(6), isKnown: false)
    see(Self.none, 6)
    #expect(judge(Self.none, 6) == .isAway)
    #expect(judge(Self.none, 7) == .isAlone)
  }
}
