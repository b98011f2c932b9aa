internal import CascadeModel

/// How many rows a step takes, so that it ends in time.
struct StepPace {
  private var rows = StepPace.first
  private static let first = 500.0
  /// A step keeps the names of its rows in the server's memory, and their texts if they are kept. Rows of
  /// one step are often in the same pages, so longer steps take less time for each.
  private static let most = 200_000.0
  private static let mostTexts = 30_000.0
  /// How much of its time a step uses on average. What takes more than all of it, and half as much
  /// again, is cancelled.
  private static let share = 0.95
  private static let longest = Duration.seconds(1)

  /// How long a step may take. Others do not wait for it, except for the same rows; so it may take
  /// what a SQLite store allows while no other connection writes.
  func budget(_ limits: StoreModel.Limits) -> Duration {
    limits.lock.map { max($0, limits.uncontendedLock) } ?? .seconds(60)
  }

  var limit: Int { Int(rows) }

  /// Of a statement in a step that does not know how many rows it will meet. Others may have to wait
  /// so long for some of them, and what the server remembers of them stays small.
  func longestStatement(_ limits: StoreModel.Limits) -> Duration {
    max(min(budget(limits), StepPace.longest) * 1.5, .milliseconds(50))
  }

  /// After a step that took far too long.
  mutating func slowDown() { rows = max(10, rows / 4) }

  mutating func note(_ time: Duration, _ model: StoreModel) {
    let ratio = min(budget(model.limits), StepPace.longest) / max(time, .microseconds(1))
    let most = model.trash > .zero ? StepPace.mostTexts : StepPace.most
    rows = min(most, max(10, rows * min(3, max(0.5, StepPace.share * ratio))))
  }
}
