internal import CascadeKit
internal import CascadeModel
internal import CascadeSystem

/// One line on a terminal that shows the progress of a sweep or an undo.
struct ProgressLine {
  private let isShown: Bool
  private var isWritten = false
  private let start = SystemClock.monotonic()

  /// Calls a method that reports its progress, and returns its last reply.
  static func call(
    _ method: String, _ parameters: JSON, _ client: inout ControlClient, _ output: Output
  ) throws -> JSON {
    var last: JSON = .null
    var line = ProgressLine(output)
    defer { line.clear() }
    try client.stream(method, parameters) { reply in
      if let progress = reply["progress"], !progress.isNull { return line.show(progress) }
      last = reply
    }
    return last
  }

  private init(_ output: Output) {
    isShown = !output.json && !output.quiet && StandardStream.error.isTerminal
  }

  private mutating func show(_ progress: JSON) {
    if !isShown { return }
    isWritten = true
    StandardStream.error.write("\r\u{1B}[K\(text(progress))")
  }

  private mutating func clear() {
    if isWritten { StandardStream.error.write("\r\u{1B}[K") }
    isWritten = false
  }

  private func text(_ progress: JSON) -> String {
    let done = progress["done"]?.integer ?? 0
    let total = progress["total"]?.integer ?? 0
    let phase = progress["phase"]?.string ?? ""
    guard total > 0 else { return done > 0 ? "\(phase) \(done) nodes" : phase }
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
