internal import CascadeModel
internal import CascadeSystem

/// The lines of the overview: the stores, what runs, held plans, events.
struct TopOverview {
  let state: TopState
  let rows: Int
  let columns: Int

  var lines: [ScreenLine] {
    let plans = plans + jobs
    // Of many stores, those around the chosen one are shown, and some events.
    let top = [head] + stores(in: max(2, rows - plans.count - 7)) + plans
    let room = max(0, rows - top.count - 2)
    let events = state.events.suffix(room).map(event)
    return top + (events.isEmpty ? [] : [ScreenLine(), ScreenLine("EVENTS (UTC)", .dim)] + events)
  }

  // MARK: - Stores

  private static let titles = ["QUEUE", "HELD", "REJECTED", "JOURNAL", "p50", "p99", "max"]
  private static let widths = [7, 6, 10, 10, 8, 8, 8]
  private static let stateWidth = 10

  /// The column where the numbers begin.
  private var numbers: Int { columns - TopOverview.widths.reduce(0, +) - 1 }

  /// A narrow terminal has the state and the queue only.
  private var isNarrow: Bool { numbers < 30 }

  private var pathWidth: Int {
    max(8, (isNarrow ? columns - 9 : numbers) - TopOverview.stateWidth - 2)
  }

  private func stores(in room: Int) -> ArraySlice<ScreenLine> {
    let blocks = state.stores.enumerated().map { number, store in
      [line(store, isSelected: number == state.selected)] + details(store)
    }
    let lines = blocks.flatMap { $0 }
    let before = blocks.prefix(state.selected).reduce(0) { $0 + $1.count }
    let first = max(0, min(before - room / 2, lines.count - room))
    return lines.dropFirst(first).prefix(room)
  }

  private var head: ScreenLine {
    var line = ScreenLine("  STATE", .dim)
    line.add("STORE", .dim, at: TopOverview.stateWidth + 2)
    return adding(TopOverview.titles, to: line, .dim)
  }

  private func line(_ store: JSON, isSelected: Bool) -> ScreenLine {
    let name = store["state"]?.string ?? ""
    var line = ScreenLine(isSelected ? "> " : "  ", .bold)
    line.add(name, TopOverview.style(ofState: name))
    let path = (store["store"]?.string?.printable ?? "").cutFront(to: pathWidth)
    line.add(path, isSelected ? .bold : .plain, at: TopOverview.stateWidth + 2)
    let spool = store["spool"]
    let counts = [spool?["waiting"], spool?["held"], spool?["rejected"], store["journal"]]
      .map { ($0?.integer ?? 0).grouped }
    return adding(counts + TopOverview.lock(store["lockMs"]), to: line)
  }

  private func adding(
    _ texts: [String], to line: ScreenLine, _ style: TextStyle = .plain
  ) -> ScreenLine {
    var line = line
    var column = isNarrow ? columns - TopOverview.widths[0] - 1 : numbers
    for (text, width) in zip(texts, TopOverview.widths).prefix(isNarrow ? 1 : .max) {
      column += width
      line.add(text, style, endingAt: column)
    }
    return line
  }

  static func style(ofState state: String) -> TextStyle {
    switch state {
    case "ok": .green
    case "degraded": .red
    case "paused": .dim
    default: .yellow
    }
  }

  /// p50, p99 and max in milliseconds; dashes if the lock was never held.
  static func lock(_ lock: JSON?) -> [String] {
    ["p50", "p99", "max"].map { name in
      guard let time = lock?[name]?.number, time > 0 else { return "-" }
      let tenths = Int64((time * 10).rounded())
      return "\(tenths / 10).\(tenths % 10)"
    }
  }

  /// The reason of the state and what runs.
  private func details(_ store: JSON) -> [ScreenLine] {
    var lines: [ScreenLine] = []
    if let reason = store["reason"]?.string {
      lines.append(ScreenLine("    \(reason.printable)", .dim))
    }
    if let progress = store["progress"], !progress.isNull {
      lines.append(ScreenLine("    \(text(progress, rate: state.rate(of: store)))"))
    }
    return lines
  }

  private func text(_ progress: JSON, rate: Int64?) -> String {
    let done = progress["done"]?.integer ?? 0
    let total = progress["of"]?.integer ?? 0
    let what = progress["what"]?.string?.printable ?? ""
    guard total > 0 else { return done > 0 ? "\(what) \(done.grouped)" : what }
    let filled = Int(20 * min(done, total) / total)
    let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: 20 - filled)
    let share = "\(what) [\(bar)] \(done.grouped) of \(total.grouped) (\(done * 100 / total) %)"
    guard let rate, rate > 0 else { return share }
    return "\(share), \(rate.grouped) a second, \(max(0, total - done) / rate) s left"
  }

  // MARK: - Held plans and events

  private var plans: [ScreenLine] {
    let lines = state.stores.flatMap { store in
      (store["heldPlans"]?.array ?? []).map { plan(store, $0) }
    }
    return lines.isEmpty ? [] : [ScreenLine(), ScreenLine("HELD PLANS", .dim)] + lines
  }

  /// Those that run, and what goes because of its age.
  private var jobs: [ScreenLine] {
    let lines = state.stores.flatMap { store in TopOverview.jobs(of: store) }
    return lines.isEmpty
      ? [] : [ScreenLine(), ScreenLine("JOBS", .dim)] + lines.map { ScreenLine($0) }
  }

  static func jobs(of store: JSON) -> [String] {
    let jobs = (store["jobs"]?.array ?? []).filter { $0["state"] != "held" }.map { job in
      let (done, all) = (job["deletedCount"]?.integer ?? 0, job["of"]?.integer)
      let whole = all.map { " of \($0.grouped)" } ?? ""
      let number = job["job"]?.text ?? ""
      return "  job \(number)  \(done.grouped)\(whole) deleted; cascadectl cancel \(number) ends it"
    }
    let overdue = store["expired"]?["waiting"]?.integer ?? 0
    if overdue == 0 { return jobs }
    let hours = (store["expired"]?["oldest"]?.integer ?? 0) / 3_600
    return jobs + ["  \(overdue.grouped) rows are overdue, the first for \(hours.grouped) hours"]
  }

  private func plan(_ store: JSON, _ plan: JSON) -> ScreenLine {
    let number = plan["plan"]?.text ?? ""
    var line = ScreenLine("  plan \(number)", .yellow)
    let counts = (plan["byCollection"]?.object ?? [])
      .map { "\(($0.value.integer ?? 0).grouped) of \($0.name.printable)" }.joined(separator: ", ")
    let what = counts.isEmpty ? "\((plan["deletedCount"]?.integer ?? 0).grouped) nodes" : counts
    let edges = plan["edges"]?.integer ?? 0
    let more = edges > 0 ? " and \(edges.grouped) references" : ""
    let path = (store["store"]?.string?.printable ?? "").cutFront(to: 30)
    let place = state.stores.count > 1 ? "\(path): " : ""
    line.add(
      "  \(place)it would delete \(what)\(more); cascadectl approve \(number) allows it, reject gives it up"
    )
    return line
  }

  private func event(_ event: JSON) -> ScreenLine {
    let time = event["at"]?.integer.map { SystemClock.text($0).dropFirst(11).dropLast() } ?? ""
    let isBad = ["warning", "error", "critical"].contains(event["priority"]?.string)
    var line = ScreenLine("  \(time)  ", .dim)
    line.add("\(event["kind"]?.string ?? "")  ", isBad ? .yellow : .plain)
    line.add(state.message(of: event))
    return line
  }
}

extension Int64 {
  /// With commas between the thousands.
  var grouped: String {
    var text = ""
    for (index, digit) in "\(magnitude)".reversed().enumerated() {
      if index > 0 && index % 3 == 0 { text.append(",") }
      text.append(digit)
    }
    return (self < 0 ? "-" : "") + String(text.reversed())
  }
}
