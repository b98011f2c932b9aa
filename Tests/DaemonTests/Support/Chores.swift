import CascadeModel
import CascadeSystem
import Glibc

/// What a daemon does to a store, each time from the same beginning to the same end.
final class Chore {
  enum Kind: String, CaseIterable {
    /// Change files come by the spool, and over the socket.
    case ingest, apply
    case sweep
    /// Forgets the trash of a sweep.
    case trash
    case undo, attach, detach
  }

  let kind: Kind
  let faults: Faults
  /// What an undisturbed daemon left, and the calls that it made.
  private(set) var expected: [String] = []
  private(set) var calls: [Faults.Kind: Int64] = [:]
  private let estate: Estate
  private let saved: Scratch
  /// Of the sweep.
  private var batch: Int64 = 0
  /// How many calls there were when this was looked at last, and until when there must be no more.
  private var lastCalls: Int64 = 0
  private var quiet = Deadline(.milliseconds(500))
  /// Change files whose receipts came: what they say holds, whatever happens afterwards.
  private var receipts: Set<String> = []
  var store: TestStore { estate.store }

  init(_ kind: Kind) throws {
    self.kind = kind
    let trash = kind == .trash ? "1s" : "1d"
    estate = try Estate(
      roots: 2, albums: 4,
      more: #"sweeps: { cascade: "immediate", refcount: "immediate" }, trash: "\#(trash)""#)
    saved = try Scratch("-saved")
    faults = try Faults(below: estate.store.scratch.path)
    try prepare()
    try store.end()
    try Chore.copy(store.scratch, to: saved)
    store.faults = faults
    try begin(Faults.Plan())
    try askUntilAccepted()
    calls = try faults.calls
    expected = try outcome()
    try store.end()
  }

  /// A paused store has all of its work before it.
  private func prepare() throws {
    switch kind {
    case .ingest:
      try store.ctl("pause")
      for (name, text) in Chore.changeFiles { try store.enqueue(FileName(name), text) }
    case .sweep:
      try store.ctl("pause")
      try estate.deleteRoot(1)
    case .undo, .trash:
      try estate.deleteRoot(1)
      try store.waitUntil("it is swept") { try isSwept }
      batch = try store.integers("SELECT max(batch) FROM cascade_trash_layout")[0]
      let later = Deadline(.milliseconds(1_100))
      if kind == .trash { try store.waitUntil("its time is past") { later.isOver } }
    case .attach: try store.ctl("detach")
    case .apply, .detach: break
    }
  }

  private static let changeFiles = [
    ("1.json", #"{"changes": [{"put": ["notes", "a"], "value": {"n": 1}}]}"#),
    ("2.json", #"{"changes": [{"patch": ["notes", "missing"], "set": {"n": 2}}]}"#),
    (
      "3.json",
      #"{"changes": [{"put": ["notes", "b"], "edges": [{"name": "after", "to": ["notes", "a"], "#
        + #""rules": ["notifyIfDestinationDeleted"]}]}, {"delete": ["notes", "a"]}]}"#
    ),
    (
      "4.ndjson",
      #"{"id": "lines", "batch": 2}"# + "\n"
        + (0..<6).map { #"{"put": ["notes", "line \#($0)"]}"# }.joined(separator: "\n")
    ),
    ("5.json", "{"),
    ("6.json", #"{"changes": [{"delete": ["artists", 1]}]}"#),
  ]

  // MARK: - Once more

  /// The daemon is not running.
  func restore() throws {
    receipts = []
    store.clock = nil
    try store.scratch.directory.removeContents()
    try Chore.copy(saved, to: store.scratch)
  }

  private static func copy(_ source: Scratch, to target: Scratch) throws {
    let copied = try run(["/bin/cp", "-a", "\(source.path)/.", target.path])
    if copied.status != 0 { throw TooLate(description: copied.error) }
  }

  /// Returns whether a call failed. Afterwards nothing does, and all is done.
  func perform(under plan: Faults.Plan) throws -> Bool {
    try begin(plan)
    var isAccepted = (try? ask()) ?? false
    let deadline = Deadline(.seconds(10))
    while try store.ending == nil && !hasSeenEnough(plan) && !deadline.isOver {
      if !isAccepted && plan.mode != .cut { isAccepted = (try? ask()) ?? false }
      SystemClock.sleep(for: .milliseconds(3))
    }
    let hasFailed = try faults.failed > 0
    try faults.plan(Faults.Plan())
    try startAgainIfEnded(plan)
    try askUntilAccepted()
    return hasFailed
  }

  /// Where calls failed, the daemon may end by itself only while it starts.
  private func startAgainIfEnded(_ plan: Faults.Plan) throws {
    if kind == .attach {
      let deadline = Deadline(.seconds(20))
      while try store.ending == nil && !isDone && !deadline.isOver {
        SystemClock.sleep(for: .milliseconds(3))
      }
    }
    guard let ending = store.ending else { return }
    let isStart = kind == .attach && store.log.contains("\ncascaded: ")
    if ending != (plan.mode == .cut ? .signal(SIGKILL) : isStart ? .exit(75) : nil) {
      throw TooLate(description: "cascaded ended: \(ending)\n\(store.log)")
    }
    // A file whose move was taken back looks as if an application had just written it.
    if plan.mode == .cut {
      store.clock = try SetClock(SystemClock.wall() + .hours, zone: "UTC")
    }
    try store.start()
  }

  private func hasSeenEnough(_ plan: Faults.Plan) throws -> Bool {
    let failed = try faults.failed
    if plan.mode == .cut { return try failed == 0 && isQuiet }
    return failed >= (plan.mode == .lasting ? 3 : 1) || (try? isDone) ?? false
  }

  /// Whether the daemon has made no call for a while, so that none is left that could be cut. A
  /// process that looks into the database would lose its memory of it with the power, too.
  private var isQuiet: Bool {
    get throws {
      let sum = try faults.calls.values.reduce(0, +)
      if sum != lastCalls { (lastCalls, quiet) = (sum, Deadline(.milliseconds(500))) }
      return quiet.isOver
    }
  }

  /// The store is ready for what it shall do. It is attached when the daemon starts.
  private func begin(_ plan: Faults.Plan) throws {
    if kind == .attach {
      try faults.plan(plan)
      try store.launch()
    } else {
      try faults.plan(Faults.Plan())
      try store.start()
      try faults.plan(plan)
    }
  }

  private func askUntilAccepted() throws {
    try store.waitUntil("the \(kind) is accepted", limit: .seconds(20)) { try ask() }
    try store.waitUntil("the \(kind) is at its end", limit: .seconds(20)) { try isDone }
  }

  /// Returns false if the daemon has not taken over all of it yet.
  private func ask() throws -> Bool {
    switch kind {
    case .attach: return true
    case .ingest, .sweep: return try store.ctl("resume").status == 0
    case .detach: return try isDone || store.ctl("detach").status == 0
    case .trash:
      if try !isDone { try store.ctl("sweep", "trash") }
      return try isDone
    case .undo:
      if try !isDone { try store.ctl("undo", "\(batch)") }
      return try isDone
    case .apply:
      for number in 0..<8 where !receipts.contains("\(number)") {
        let put = #"{"put": ["notes", "applied \#(number)"], "value": {"n": \#(number)}}"#
        // It waits for its receipt, also while the disk is full.
        let applied = try? run(
          [Programs.cascadectl, "--store", store.path, "apply", "-"],
          input: #"{"id": "\#(number)", "changes": [\#(put)]}"#, limit: .seconds(1))
        if applied?.status != 0 { return false }
        receipts.insert("\(number)")
      }
      return true
    }
  }

  private var isDone: Bool {
    get throws {
      switch kind {
      case .ingest: try store.count(in: "new") == 0 && isSwept
      case .apply: try store.count(in: "new") == 0
      case .sweep: try isSwept
      case .trash:
        try store.integers(
          """
          SELECT (SELECT count(*) FROM cascade_trash) + (SELECT count(*) FROM cascade_trash_file)
          """) == [0]
      case .undo:
        try store.integers(
          """
          SELECT (SELECT count(*) FROM album WHERE artist = 1) - 4
          + (SELECT count(*) FROM cascade_trash_file WHERE fate)
          + (SELECT count(*) FROM cascade_meta WHERE name = 'undo.batch')
          """) == [0]
      case .attach: (try? store.state()) == "ok"
      case .detach: try !store.schema().contains("cascade_")
      }
    }
  }

  private var isSwept: Bool {
    get throws {
      try store.integers(
        """
        SELECT (SELECT count(*) FROM album WHERE artist = 1)
        + (SELECT count(*) FROM cascade_journal) + (SELECT count(*) FROM cascade_released_file)
        + (SELECT count(*) FROM cascade_meta WHERE name = 'sweep.batch')
        """) == [0]
    }
  }

  // MARK: - What is left

  func outcome() throws -> [String] {
    let whole = try store.texts("PRAGMA integrity_check")
    if kind == .detach { return try whole + [store.schema()] + estate.rows() }
    var spool: [String] = []
    for part in ["new", "held", "rejected"] {
      spool += try store.directory(part).names().map { "\(part)/\($0)" }.sorted()
    }
    // A client whose answer was lost asks again, and its file gets another name.
    let fromStdin = spool.filter { $0.hasPrefix("rejected/stdin-") }
    spool.removeAll(where: fromStdin.contains)
    spool += Set(fromStdin.map { "rejected/stdin-…" + $0.drop { $0 != "." } }).sorted()
    // How many sweeps it took is of no importance.
    let applied = try store.texts(
      """
      SELECT id || ' ' || part || ' ' || outcome || ' ' || deleted FROM cascade_ledger
      WHERE part >= 0 ORDER BY 1
      """)
    let notices = try store.texts("SELECT source_key FROM cascade_notice ORDER BY id")
    return try whole + [store.schema()] + spool + applied + notices + estate.everything()
  }
}
