internal import CascadeKit
internal import CascadeModel
internal import CascadeSystem

/// Shows the progress of a sweep or an undo on a terminal.
struct ProgressLine {
  private let start = SystemClock.monotonic()

  /// Calls a method that reports its progress, and returns its last reply.
  static func call(
    _ method: String, _ parameters: JSON, _ client: inout ControlClient, _ output: Output
  ) throws -> JSON {
    var last: JSON = .null
    let progressLine = ProgressLine()
    var line = TerminalLine(output)
    defer { line.clear() }
    try client.stream(method, parameters) { reply in
      if let progress = reply["progress"], !progress.isNull {
        return line.show(progressLine.text(progress))
      }
      if let reason = reply["waiting"]?.string {
        return line.show("waiting: \(reason.printable)")
      }
      last = reply
    }
    return last
  }

  private func text(_ progress: JSON) -> String {
    let done = progress["done"]?.integer ?? 0
    let total = progress["total"]?.integer ?? 0
    let phase = progress["phase"]?.string ?? ""
    guard total > 0 else { return done > 0 ? "\(phase) \(done) nodes" : phase }
    if phase == "looking" { return "looking through relationship \(done + 1) of \(total)" }
    let unit = phase == "restoring" ? "items" : "nodes"
    let share = "\(phase) \(done) of \(total) \(unit) (\(done * 100 / total) %)"
    let elapsed = max(1, SystemClock.monotonic() - start)
    guard done > 0 else { return share }
    let left = elapsed * max(0, total - done) / done / 1_000
    return "\(share), \(done * 1_000 / elapsed) a second, \(ProgressLine.text(seconds: left)) left"
  }

  private static func text(seconds: Int64) -> String {
    seconds < 60 ? "\(seconds) s" : "\(seconds / 60) min \(seconds % 60) s"
  }
}
