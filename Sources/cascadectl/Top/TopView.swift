internal import CascadeModel
internal import CascadeSystem

/// The lines of the whole screen: a head, the view, and a line of keys.
struct TopView {
  let state: TopState
  let rows: Int
  let columns: Int

  var lines: [ScreenLine] {
    var body = Array(body.prefix(max(0, rows - 3)))
    while body.count < rows - 3 { body.append(ScreenLine()) }
    return [head, ScreenLine()] + body + [foot]
  }

  private var head: ScreenLine {
    var line = ScreenLine("cascaded \(state.status["version"]?.string ?? "")", .bold)
    line.add("  \(state.stores.count.counted("store", "stores"))")
    if let trouble = state.trouble { line.add("  \(trouble)", .red) }
    if let problem = state.status["problems"]?.array?.first?.string {
      line.add("  \(problem.printable)", .red)
    }
    return line
  }

  private var body: [ScreenLine] {
    switch state.view {
    case .overview: overview
    case .store: store
    case .text(let title, let lines, let top):
      [ScreenLine(title, .bold), ScreenLine()]
        + lines.dropFirst(top).flatMap { $0.wrapped(to: columns) }.map { ScreenLine($0) }
    case .prompt: overview
    }
  }

  private var overview: [ScreenLine] {
    TopOverview(state: state, rows: rows - 3, columns: columns).lines
  }

  private var foot: ScreenLine {
    switch state.view {
    case .overview: keys("↑↓ choose   ⏎ look into   w why   p plan   ? keys   q quit")
    case .store: keys("esc back   w why   p plan   q quit")
    case .text: keys("↑↓ move   esc back   q quit")
    case .prompt(let question, let typed):
      ScreenLine("\(question.rawValue) of (\(question.form), esc: never mind): \(typed)_", .bold)
    }
  }

  private func keys(_ text: String) -> ScreenLine { ScreenLine(text, .dim) }

  // MARK: - One store

  private var store: [ScreenLine] {
    guard let store = state.selectedStore else { return [ScreenLine("there is no store")] }
    let name = store["state"]?.string ?? ""
    var title = ScreenLine(store["store"]?.string?.printable ?? "", .bold)
    title.add("  \(name)", TopOverview.style(ofState: name))
    let reason = store["reason"]?.string.map { [ScreenLine("  \($0.printable)")] } ?? []
    return [title] + reason + queue(store) + lock(store) + lastSweep(store["lastSweep"])
      + section("JOBS", TopOverview.jobs(of: store))
      + section("SCHEDULES", ScheduleTable.lines(store["schedules"]))
      + section("EVENTS (UTC)", events(of: store))
  }

  private func queue(_ store: JSON) -> [ScreenLine] {
    let spool = store["spool"]
    let counts = ["waiting", "held", "rejected", "stuck"]
      .map { "\((spool?[$0]?.integer ?? 0).grouped) \($0)" }.joined(separator: ", ")
    let journal = (store["journal"]?.integer ?? 0).grouped
    return section("QUEUE", ["  change files: \(counts)", "  journal: \(journal) rows to sweep"])
  }

  private func lock(_ store: JSON) -> [ScreenLine] {
    let times = zip(["p50", "p99", "max"], TopOverview.lock(store["lockMs"]))
      .map { "\($0) \($1) ms" }.joined(separator: ", ")
    return section("WRITE LOCK", ["  the last thousand holds: \(times)"])
  }

  private func lastSweep(_ sweep: JSON?) -> [ScreenLine] {
    guard let sweep, !sweep.isNull else { return [] }
    let kinds = DisplayText.texts(sweep["kinds"]).joined(separator: ", ")
    let rules = (sweep["byRule"]?.object ?? [])
      .map { "    \(($0.value.integer ?? 0).grouped) by \($0.name)" }
    let count = (sweep["deletedCount"]?.integer ?? 0).grouped
    let batch = sweep["batch"]?.integer.map { ", batch \($0)" } ?? ""
    let line =
      "  \(sweep["sweep"]?.text ?? "") (\(kinds)): \(sweep["outcome"]?.string ?? ""), "
      + "\(count) deleted\(batch)"
    return section("LAST SWEEP", [line] + rules)
  }

  private func events(of store: JSON) -> [String] {
    state.events.filter { $0["store"] == store["store"] }.suffix(8).map {
      let time = $0["at"]?.integer.map { SystemClock.text($0).dropFirst(11).dropLast() } ?? ""
      return "  \(time)  \(state.message(of: $0))"
    }
  }

  private func section(_ title: String, _ lines: [String]) -> [ScreenLine] {
    lines.isEmpty ? [] : [ScreenLine(), ScreenLine(title, .dim)] + lines.map { ScreenLine($0) }
  }
}
