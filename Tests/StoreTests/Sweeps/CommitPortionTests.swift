import CascadeEngine
import Testing

@Suite("When commits of others are followed")
struct CommitPortionTests {
  /// For commits at these milliseconds, when they are followed. The daemon looks at each commit, and
  /// when the wait is over.
  private func follows(_ commits: [Int]) -> [Int] {
    var (portions, follows) = (CommitPortions(), [Int]())
    let start = ContinuousClock.now
    var next: Int?
    var seen = 0
    for time in 0...(commits.last! + 1_000) {
      let new = commits.filter { $0 <= time }.count
      if new == seen && next.map({ time < $0 }) ?? true { continue }
      let wait = portions.wait(with: Int64(new), at: start + .milliseconds(time))
      next = wait.map { time + Int(($0 / .milliseconds(1)).rounded(.up)) }
      if wait == nil { follows.append(time) }
      seen = new
    }
    return follows
  }

  @Test("After a pause, at once")
  func atOnce() {
    #expect(follows([0, 50, 100, 120]) == [0, 50, 100, 120])
  }

  @Test("Shortly after each other, in the first pause")
  func together() {
    #expect(follows([0, 3, 6, 9, 50]) == [0, 29, 50])
  }

  @Test("Without a pause, after a quarter of a second each")
  func inPortions() {
    let loop = follows(Array(0...1_000))
    #expect(loop == [0, 251, 502, 753, 1_004])
  }
}
