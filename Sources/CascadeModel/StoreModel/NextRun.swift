/// The next run of a schedule.
extension Schedule {
  /// The first run after `time`, both in milliseconds since 1970; nil if there is none.
  ///
  /// `spread` is a number that stays the same for a store and differs between machines, so that
  /// they do not all work in the same second. It is the second within the minute of a cron
  /// expression, and the phase of an interval.
  package func next(after time: Int64, spread: UInt64, in zone: Zone) -> Int64? {
    switch self {
    case .immediate, .never: nil
    case .every(let interval): next(after: time, every: interval.inMilliseconds, spread)
    case .cron(let cron):
      cron.next(after: time.floored(to: 1000), in: zone).map { ($0 + Int64(spread % 60)) * 1000 }
    }
  }

  private func next(after time: Int64, every step: Int64, _ spread: UInt64) -> Int64? {
    // An interval of thousands of years means never.
    if step >= 1 << 47 { return nil }
    let phase = Int64(spread % UInt64(step))
    return ((time - phase).floored(to: step) + 1) * step + phase
  }

  /// Whether it runs at certain times.
  package var isTimed: Bool {
    switch self {
    case .immediate, .never: false
    case .every, .cron: true
    }
  }

  package var isInterval: Bool { if case .every = self { true } else { false } }
}

extension Cron {
  /// The first run after `time`, in seconds since 1970.
  ///
  /// When clocks are set forward, a named time that is skipped runs right afterwards, once. When
  /// they are set back, a time that occurs twice runs the first time. A schedule of every hour or
  /// every minute runs whenever clocks show its time.
  package func next(after time: Int64, in zone: Zone) -> Int64? {
    var time = time
    while true {
      let offset = zone.offset(time)
      guard let local = nextLocal(after: time + offset) else { return nil }
      let found = local - offset
      if let change = zone.change(after: time, upTo: found) {
        if runs(whenClocks: change + offset, show: change + zone.offset(change)) {
          return change
        }
        time = change
      } else if hasWildcardTime || !zone.isRepeated(found) {
        return found
      } else {
        time = found
      }
    }
  }

  /// Whether it runs at the moment when clocks change from `old` to `new`.
  private func runs(whenClocks old: Int64, show new: Int64) -> Bool {
    if hasWildcardTime { return nextLocal(after: new - 1) == new }
    return old < new && nextLocal(after: old - 1).map { $0 <= new } ?? false
  }
}
