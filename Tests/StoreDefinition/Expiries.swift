import CascadeModel
import CascadeStore
import Testing

/// Rows that go because of their age, on every engine.
package struct Expiries {
  private let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  package enum Claim: String, CaseIterable, CustomTestStringConvertible {
    case aged = "What is older goes with what follows, in one batch, and an undo brings all back"
    case forms = "A time may be a number, a text or what the type of the column says"
    case texts = "Texts with offsets and fractions are times, and what is none never expires"
    case condition = "Rows go for which a condition holds"
    case renewed = "A row that is renewed while a pass goes on stays"
    case standing = "One approval stands for the later passes"
    case more =
      "A pass is held again if it takes more than that, and more than half of the collection"
    case changed = "An approval ends when the model says something else"
    case rejected = "What was rejected is asked for again when its time has changed"
    case denied = "What has to stay does, and the rest goes"
    case unfit = "A collection that does not fit keeps no other one from its pass"
    case doubtful =
      "Where the unit seems to be wrong, the first pass waits, however little it takes"
    case counted = "What is overdue is counted"
    case checked = "What is no time is told"

    package var testDescription: String { rawValue }
  }

  package func expect(_ claim: Claim) throws {
    switch claim {
    case .aged: try aged()
    case .forms: for form in EventStore.forms { try self.form(form) }
    case .texts: try texts()
    case .condition: try condition()
    case .renewed: try renewed()
    case .standing: try standing()
    case .more: try more()
    case .changed: try changed()
    case .rejected: try rejected()
    case .denied: try denied()
    case .unfit: try unfit()
    case .doubtful: try doubtful()
    case .counted: try counted()
    case .checked: try checked()
    }
  }

  private func store(
    _ expires: String = EventStore.unix, type: String = "BIGINT", limit: Int = 1_000
  ) throws -> EventStore {
    try EventStore(engine, expires, type: type, limit: limit)
  }

  private func aged() throws {
    let store = try store()
    try store.add(days: [40, 31, 29, 1])
    try store.bySQL("INSERT INTO note VALUES(1, 1), (2, 3)")
    let before = try store.dump()
    let pass = try #require(try store.pass())
    #expect(pass.state == .done && pass.byCollection == ["events": 2, "notes": 1])
    #expect(try store.ids() == ["3", "4"])
    let why = try store.why(1)
    #expect(why?.cause == .expired && why?.batch == pass.batch)
    #expect(try store.pass() == nil)
    #expect(try store.undo(#require(pass.batch)).restored == 3)
    #expect(try store.dump() == before)
  }

  private func form(_ form: EventStore.Form) throws {
    let store = try store(form.expires, type: form.type)
    let days = [40.0, 30.001, 29.999, -1]
    for (index, days) in days.enumerated() {
      try store.bySQL("INSERT INTO event VALUES(\(index + 1), \(form.literal(days)))")
    }
    try store.bySQL("INSERT INTO event VALUES(5, NULL)")
    let pass = try #require(try store.pass(), "\(form.type)")
    #expect(pass.deletedCount == 2 && pass.state == .done, "\(form.expires) \(form.type)")
    #expect(try store.ids() == ["3", "4", "5"], "\(form.expires) \(form.type)")
  }

  private func texts() throws {
    let store = try store("{ column: \"at\", after: \"30d\", as: \"iso\" }", type: "TEXT")
    // The limit is 2026-12-16T08:00:00Z.
    let times = [
      "2026-12-16", "2026-12-16 07:59", "2026-12-16T07:59:59.9Z", "2026-12-16T09:59:59+02:00",
      "2026-12-16T02:59:59.5-05:00", "1999-12-31 23:59:59",
    ]
    let later = [
      "2026-12-16T08:00:00.5Z", "2026-12-16T10:30:00+02:00", "2026-12-16T03:30:00-05:00", "now", "",
      "12:00", "yesterday", "99999999", "2026-13-01", "2026-12-16 25:00:00", "2026", "-",
    ]
    for (index, time) in (times + later).enumerated() {
      try store.bySQL("INSERT INTO event VALUES(\(index + 1), '\(time)')")
    }
    #expect(try store.pass()?.deletedCount == times.count)
    #expect(try store.ids() == (times.count + 1...times.count + later.count).map(String.init))
    #expect(try store.findings().contains { $0.contains("9 of \"events\" have no time") })
  }

  private func condition() throws {
    let store = try store("{ when: \"at < 5 AND id <> 2\" }")
    try store.bySQL("INSERT INTO event VALUES(1, 1), (2, 1), (3, 9)")
    #expect(try store.pass()?.deletedCount == 1)
    #expect(try store.ids() == ["2", "3"])
    try store.open("{ when: \"nothing = 5\" }")
    #expect(try store.begin().unfit.count == 1 && store.begin().jobs.isEmpty)
  }

  private func renewed() throws {
    let store = try store()
    try store.add(days: Array(repeating: 40, count: 400))
    store.inSteps(of: 20)
    var steps = 0
    let pass = try #require(
      try store.pass {
        steps += 1
        if steps == 2 {
          try store.bySQL("UPDATE event SET at = \(store.seconds(0)) WHERE id >= 399")
        }
      })
    #expect(pass.state == .done && pass.deletedCount == 398)
    #expect(try store.ids() == ["399", "400"])
  }

  // MARK: - The hold

  private func standing() throws {
    let store = try store(limit: 2)
    try store.add(days: [40, 40, 40, 40, 1, 1])
    let held = try #require(try store.pass())
    #expect(held.state == .held && held.deletedCount == 0)
    #expect(try store.pass()?.number == held.number)
    #expect(try store.approve(held))
    #expect(try store.carryOut(held.number).deletedCount == 4)
    try store.add(days: [40, 40, 40, 40])
    #expect(try store.pass()?.state == .done)
    #expect(try store.ids().count == 2)
    try store.reopen()
    try store.add(days: [40, 40, 40])
    #expect(try store.pass()?.deletedCount == 3)
  }

  private func more() throws {
    let store = try store(limit: 2)
    try store.add(days: [40, 40, 40, 1, 1, 1])
    let held = try #require(try store.pass())
    #expect(try store.approve(held) && store.carryOut(held.number).deletedCount == 3)
    // More than was approved, and not more than half.
    try store.add(days: Array(repeating: 40, count: 4) + Array(repeating: 1, count: 10))
    #expect(try store.pass()?.deletedCount == 4)
    try store.add(days: Array(repeating: 40, count: 14))
    let again = try #require(try store.pass())
    #expect(again.state == .held && again.total == 14)
    #expect(try store.approve(again) && store.carryOut(again.number).deletedCount == 14)
  }

  private func changed() throws {
    let store = try store(limit: 2)
    try store.add(days: [40, 40, 40, 20, 20, 20])
    let held = try #require(try store.pass())
    #expect(try store.approve(held) && store.carryOut(held.number).deletedCount == 3)
    try store.open("{ column: \"at\", after: \"10d\", as: \"unix\" }", limit: 2)
    let other = try #require(try store.pass())
    #expect(other.state == .held)
    try store.open(EventStore.unix, limit: 2)
    #expect(try store.pass() == nil && store.job(other.number)?.state == .cancelled)
  }

  private func rejected() throws {
    let store = try store(limit: 2)
    try store.add(days: [40, 40, 40, 20])
    let held = try #require(try store.pass())
    #expect(try store.reject(held) && store.job(held.number)?.state == .cancelled)
    #expect(try store.pass() == nil)
    try store.reopen()
    #expect(try store.pass() == nil && store.ids().count == 4)
    // A month later.
    store.now += 30 * 86_400_000
    #expect(try store.count().waiting == 1)
    try store.bySQL("UPDATE event SET at = \(store.seconds(31)) WHERE id = 2")
    #expect(try store.pass()?.deletedCount == 2)
    #expect(try store.ids() == ["1", "3"])
  }

  private func denied() throws {
    let store = try store()
    try store.add(days: [40, 40])
    try store.bySQL("INSERT INTO mark VALUES(1, 2)")
    let pass = try #require(try store.pass())
    #expect(pass.state == .done && pass.deletedCount == 1 && !pass.blocked.isEmpty)
    #expect(try store.ids() == ["2"])
    let again = try #require(try store.pass())
    #expect(again.deletedCount == 0 && !again.blocked.isEmpty)
    try store.bySQL("DELETE FROM mark")
    #expect(try store.pass()?.deletedCount == 1)
  }

  // MARK: - What does not fit

  private func unfit() throws {
    let store = try store("{ column: \"other\", after: \"1d\", as: \"unix\" }")
    try store.bySQL("INSERT INTO mark VALUES(1, NULL)")
    try store.open(
      "{ column: \"other\", after: \"1d\", as: \"unix\" }",
      marks: "expires: { when: \"event IS NULL\" }")
    let begun = try store.begin()
    #expect(begun.jobs.count == 1 && begun.unfit.count == 1)
    #expect(begun.unfit[0].message.contains("other"))
    #expect(try store.findings().contains { $0.contains("collections.events.expires") })
    try store.open("{ column: \"at\", after: \"1d\" }")
    #expect(try store.begin().unfit.count == 1)
  }

  private func doubtful() throws {
    let store = try store("{ column: \"at\", after: \"30d\", as: \"unixms\" }")
    try store.add(days: [40, 1])
    let pass = try #require(try store.pass())
    #expect(pass.state == .held && pass.total == 2)
    #expect(try store.findings().contains { $0.contains("1970") })
  }

  private func counted() throws {
    let store = try store()
    #expect(try store.count() == OverdueCount())
    try store.add(days: [40, 31, 29])
    let count = try store.count()
    #expect(count.waiting == 2 && count.oldest == 10 * 86_400_000)
    _ = try store.pass()
    #expect(try store.count() == OverdueCount())
  }

  private func checked() throws {
    let store = try store("{ column: \"at\", after: \"30d\", as: \"unix\" }")
    #expect(try store.findings().contains { $0.contains("index") && $0.contains("at") })
    try store.bySQL("CREATE INDEX event_at ON event(at)")
    #expect(try !store.findings().contains { $0.contains("index") })
  }
}

/// Events with notes, which go with them, and marks, which keep them.
private final class EventStore {
  private let store: any StoreUnderTest
  var now: Int64 = 1_800_000_000_000
  private var last = 0

  static let unix = "{ column: \"at\", after: \"30d\", as: \"unix\" }"

  struct Form: Sendable {
    let expires: String
    let type: String
    /// The time so many days ago.
    let literal: @Sendable (Double) -> String
  }

  private static func seconds(_ days: Double) -> Double { 1_800_000_000 - days * 86_400 }
  private static func numbers(_ form: String, _ type: String, _ factor: Double) -> Form {
    Form(expires: "{ column: \"at\", after: \"30d\", as: \"\(form)\" }", type: type) {
      "\(Int64(seconds($0) * factor))"
    }
  }

  static let forms = [
    numbers("unix", "BIGINT", 1), numbers("unix", "DOUBLE PRECISION", 1),
    numbers("unixms", "BIGINT", 1_000), numbers("unixus", "BIGINT", 1_000_000),
    Form(expires: "{ column: \"at\", after: \"30d\", as: \"julian\" }", type: "DOUBLE PRECISION") {
      "\(seconds($0) / 86_400 + 2_440_587.5)"
    }, texts("TIMESTAMP"), texts("TIMESTAMP WITH TIME ZONE", suffix: "+00:00"),
    texts("TEXT", suffix: "Z", form: ", as: \"iso\""),
  ]

  private static func texts(_ type: String, suffix: String = "", form: String = "") -> Form {
    Form(expires: "{ column: \"at\", after: \"30d\"\(form) }", type: type) { days in
      let text =
        days > 35
        ? "2026-12-06 08:00:00"
        : days < 0
          ? "2027-01-16 08:00:00"
          : days > 30 ? "2026-12-16 07:58:34" : "2026-12-16 08:01:26"
      return "'\(text)\(suffix)'"
    }
  }

  init(_ engine: any EngineUnderTest, _ expires: String, type: String, limit: Int) throws {
    store = try engine.makeStore(
      model: StoreModel(EventStore.model(expires, limit: limit)),
      schema: """
        CREATE TABLE event(id INTEGER PRIMARY KEY, at \(type));
        CREATE TABLE note(id INTEGER PRIMARY KEY, event INTEGER);
        CREATE TABLE mark(id INTEGER PRIMARY KEY, event INTEGER);
        CREATE INDEX note_event ON note(event); CREATE INDEX mark_event ON mark(event);
        """)
    _ = try store.writer.sweep([.all], at: now)
  }

  private static func model(_ expires: String, marks: String = "", limit: Int) -> String {
    """
    { collections: {
        events: { table: "event", key: "id", expires: \(expires) },
        notes: { table: "note", key: "id" },
        marks: { table: "mark", key: "id"\(marks.isEmpty ? "" : ", \(marks)") } },
      relationships: [
        { name: "event", from: "notes", to: "events", column: "event",
          rules: ["deleteSourceIfDestinationDeleted"] },
        { name: "marked", from: "marks", to: "events", column: "event",
          rules: ["denyDestinationDeletion"] }],
      limits: { hold: { deletes: \(limit), share: 0.01 } } }
    """
  }

  func open(_ expires: String, marks: String = "", limit: Int = 1_000) throws {
    try store.reopen(with: StoreModel(EventStore.model(expires, marks: marks, limit: limit)))
  }

  func reopen() throws { try store.reopen() }
  func inSteps(of rows: Int64) { store.sweepsInSteps(of: rows) }

  func seconds(_ days: Double) -> Int64 { now / 1_000 - Int64(days * 86_400) }

  /// Events of so many days ago.
  func add(days: [Double]) throws {
    let rows = days.enumerated().map { "(\(last + $0.offset + 1), \(seconds($0.element)))" }
    last += days.count
    try store.bySQL("INSERT INTO event VALUES \(rows.joined(separator: ", "))")
  }

  // MARK: - Passes

  func begin() throws -> BegunPasses { try store.writer.beginExpired(at: now) }

  /// Nil if nothing is overdue.
  func pass(pause: () throws -> Void = {}) throws -> DeletionJob? {
    try begin().jobs.first.map { try carryOut($0, pause: pause) }
  }

  func carryOut(_ job: Int64, pause: () throws -> Void = {}) throws -> DeletionJob {
    try withoutActuallyEscaping(pause) { pause in
      try store.writer.carryOut(job: job, at: now, manners: StepPolicy { _ in try pause() })
    }
  }

  func job(_ number: Int64) throws -> DeletionJob? { try store.reader.job(number) }
  func approve(_ job: DeletionJob) throws -> Bool {
    try job.plan.flatMap { try store.writer.approve(plan: $0) } != nil
  }
  func reject(_ job: DeletionJob) throws -> Bool {
    try job.plan.flatMap { try store.writer.reject(plan: $0, at: now) } != nil
  }
  func undo(_ batch: Int64) throws -> UndoResult {
    try store.writer.undo(batch, by: "me", at: now)
  }
  func why(_ key: Int64) throws -> Why.Deletion? {
    let why = try store.reader.why(.node(Node("events", .integer(key))), at: nil)
    return if case .deleted(let deletion) = why { deletion } else { nil }
  }
  func count() throws -> OverdueCount { try store.reader.countOverdue(at: now) }
  func findings() throws -> [String] { try store.reader.checkSetup().map(\.message) }

  // MARK: - The application

  func bySQL(_ sql: String) throws { try store.bySQL(sql) }
  func dump() throws -> [String] { try store.dump().sorted() }
  func ids() throws -> [String] {
    try store.texts("SELECT CAST(id AS TEXT) FROM event").sorted { Int($0)! < Int($1)! }
  }
}
