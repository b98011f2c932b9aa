internal import CascadeModel
internal import CascadeSystem

/// The scheduled runs of `status`, for a terminal. Kinds with the same text share a line.
enum ScheduleTable {
  static func lines(_ schedules: JSON?) -> [String] {
    var lines: [(kinds: String, text: String)] = []
    for schedule in schedules?.array ?? [] {
      guard let text = text(schedule), let kind = schedule["kind"]?.string else { continue }
      if let index = lines.firstIndex(where: { $0.text == text }) {
        lines[index].kinds += ", \(kind)"
      } else {
        lines.append((kind, text))
      }
    }
    return lines.map { "    \($0.kinds): \($0.text)" }
  }

  /// The text for one kind; nil if it never runs and never ran.
  private static func text(_ schedule: JSON) -> String? {
    let parts = [schedule["schedule"]?.string, next(schedule), last(schedule)]
    if schedule["nextWhy"]?.string == nil && parts[2] == nil { return nil }
    return parts.compactMap(\.self).joined(separator: "; ")
  }

  private static func next(_ schedule: JSON) -> String? {
    let why = schedule["nextWhy"]?.string
    guard let time = schedule["next"]?.integer else { return why == "paused" ? why : nil }
    let remark = why == "missed" || why == "trouble" ? " (\(why!))" : ""
    return "next \(SystemClock.text(time))\(remark)"
  }

  private static func last(_ schedule: JSON) -> String? {
    guard let last = schedule["last"], let time = last["at"]?.integer else { return nil }
    let words = "\(last["outcome"]?.string ?? "") (\(last["why"]?.string ?? ""))"
    return "last \(SystemClock.text(time)): \(words)"
  }
}
