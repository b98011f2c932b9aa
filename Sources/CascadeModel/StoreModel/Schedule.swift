/// What a sweep looks for and removes.
package enum SweepKind: String, Hashable, Sendable, CaseIterable {
  case cascade, refcount, dangling, unreachable, unreferenced, files, trash, all, expired
}

extension [SweepKind] {
  /// Whether a sweep of these kinds does what one of that kind does. What is being built is not
  /// referred to yet, so `all` does not stand for `unreferenced`.
  package func include(_ kind: SweepKind) -> Bool {
    contains(kind) || kind != .unreferenced && contains(.all)
  }
}

/// When a sweep runs automatically.
package enum Schedule: Hashable, Sendable {
  /// As soon as the journal has entries.
  case immediate
  case never
  case every(Duration)
  case cron(Cron)

  package static let daily = Schedule.cron(.daily)
  package static let hourly = Schedule.cron(.hourly)

  /// A shorter interval would be polling; `immediate` does that better.
  private static let shortestInterval = Duration.seconds(1)

  private static let words: [(name: String, cron: String)] = [
    ("@yearly", "0 0 1 1 *"), ("@annually", "0 0 1 1 *"), ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"), ("@daily", "0 0 * * *"), ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
  ]

  package init(text: String) throws(IllegalSchedule) {
    if text == "immediate" {
      self = .immediate
    } else if text == "never" {
      self = .never
    } else if text == "@every" || text.hasPrefix("@every ") {
      self = .every(try Schedule.interval(text.dropFirst("@every ".count)))
    } else if let word = Schedule.words.first(where: { $0.name == text }) {
      self = .cron(try Cron(word.cron))
    } else if text.contains(where: Cron.isBlank) {
      self = .cron(try Cron(text))
    } else {
      throw IllegalSchedule(unknown("schedule", text, among: Schedule.forms))
    }
  }

  private static var forms: [String] {
    ["immediate", "never", "@every 30s"] + words.map(\.name) + ["17 3 * * *"]
  }

  private static func interval(_ text: Substring) throws(IllegalSchedule) -> Duration {
    guard let duration = Duration(text: String(text)) else {
      throw IllegalSchedule("\"\(text)\" is not a duration, such as \"30s\" or \"15m\"")
    }
    guard duration >= shortestInterval else {
      throw IllegalSchedule("@every needs at least 1s")
    }
    return duration
  }
}

package struct IllegalSchedule: Error, Hashable, CustomStringConvertible {
  package let reason: String
  package var description: String { reason }
  init(_ reason: String) { self.reason = reason }
}
