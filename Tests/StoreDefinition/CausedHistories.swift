import CascadeModel
import CascadeStore
import Testing

/// Random deletions by applications, jobs and ages, held, approved, rejected and undone, in steps, stopped
/// anywhere, against a definition in sets (`CausedWorld`).
package final class CausedHistories {
  package static let seeds = ProtectedHistories.seeds
  private typealias Row = CausedWorld.Row

  private let store: any StoreUnderTest
  private var (random, seed): (Seeded, UInt64)
  private var world = CausedWorld()
  private var (lastID, lastBatch): (Int, Int64) = (0, 0)

  package init(_ engine: any EngineUnderTest, seed: UInt64) throws {
    (random, self.seed) = (Seeded(seed), seed)
    store = try CausedWorld.store(engine)
    for _ in 1...6 { for table in ["person", "image"] { try insert(table) } }
    for _ in 1...14 { for table in ["post", "mention"] { try insert(table) } }
    for _ in 1...2 { try insert("pin") }
    _ = try store.writer.sweep([.all], at: now)
  }

  package func compare() throws {
    for step in 1...50 {
      let what = try act()
      let rows = try rows()
      let wrong = world.difference(from: rows)
      #expect(wrong == [], "seed \(seed), step \(step), after \(what)")
      if !wrong.isEmpty { return }
    }
  }

  // MARK: - What happens

  private func act() throws -> String {
    switch Int.random(in: 0..<16, using: &random) {
    case 0..<5: return try write(deletion())
    case 5: return try move()
    case 6, 7: return try age()
    case 8, 9: return try expire()
    case 10..<14: return try deleteByJob()
    default:
      let tables = CausedWorld.tables + ["post", "post", "person"]
      return try insert(tables.randomElement(using: &random)!)
    }
  }

  @discardableResult
  private func insert(_ table: String) throws -> String {
    lastID += 1
    let values = CausedWorld.columns[table]!.map { column -> Int? in
      switch column {
      case "at": world.now + 100
      case "author": any("person")?.id
      case "image": any("image")?.id
      default: any("post")?.id
      }
    }
    try store.bySQL(
      "INSERT INTO \(table) VALUES(\(([lastID] + values).map { $0.map(String.init) ?? "NULL" }.joined(separator: ", ")))"
    )
    world.rows[Row(table, lastID)] = values
    return "\(table) \(lastID) of \(values)"
  }

  private func any(_ table: String) -> Row? {
    world.ids(table).randomElement(using: &random).map { Row(table, $0) }
  }

  /// Persons grow old, or young again.
  private func age() throws -> String {
    guard let person = any("person") else { return "nothing" }
    let at = world.now + 2 * Int.random(in: -3...2, using: &random)
    try store.bySQL("UPDATE person SET at = \(at) WHERE id = \(person.id)")
    world.rows[person] = [at]
    return "\(person) of \(at)"
  }

  // MARK: - An application

  private func deletion() -> (sql: String, rows: Set<Row>)? {
    let table = ["person", "person", "post", "pin", "mention"].randomElement(using: &random)!
    let count = table == "pin" ? 1 : Int.random(in: 1...2, using: &random)
    let rows = (1...count).compactMap { _ in any(table) }
    if rows.isEmpty { return nil }
    let ids = rows.map { "\($0.id)" }.joined(separator: ", ")
    return ("DELETE FROM \(table) WHERE id IN (\(ids))", Set(rows))
  }

  private func write(_ deletion: (sql: String, rows: Set<Row>)?) throws -> String {
    guard let deletion else { return "nothing" }
    let isDenied = deletion.rows.contains { $0.table == "post" && world.isPinned($0) }
    let before = world
    do {
      try store.bySQL(deletion.sql)
      #expect(!isDenied, "seed \(seed): \(deletion.sql)")
    } catch {
      #expect(isDenied && store.isDenial(error), "seed \(seed): \(error)")
      return deletion.sql
    }
    for row in deletion.rows { world.rows[row] = nil }
    return try "\(deletion.sql), \(follow(before, undoneTo: before))"
  }

  /// A post shows another image, and belongs to another person.
  private func move() throws -> String {
    guard let post = any("post"), let image = any("image"), let author = any("person") else {
      return "nothing"
    }
    let before = world
    try store.bySQL(
      "UPDATE post SET image = \(image.id), author = \(author.id) WHERE id = \(post.id)")
    world.move(post, to: author, showing: image)
    return try "\(post) of \(author) shows \(image), \(follow(before, undoneTo: world))"
  }

  /// The daemon follows what an application has written.
  private func follow(_ before: CausedWorld, undoneTo past: CausedWorld) throws -> String {
    let expected = world.following(after: before)
    let result = try inSteps {
      try self.store.writer.sweep([.cascade, .refcount], at: self.now, manners: $0)
    }
    if expected.count <= CausedWorld.holdLimit {
      #expect(result.outcome != .held, "seed \(seed): \(expected)")
    } else {
      #expect(result.outcome == .held && result.deletedCount == expected.count, "seed \(seed)")
      let plan = try #require(result.plan)
      if Bool.random(using: &random) {
        let rejected = try store.writer.reject(plan: plan, at: now)
        #expect(rejected?.restored == world.gone(since: before).count, "seed \(seed)")
        world.reject(expected, since: past)
        return "rejected"
      }
      _ = try store.writer.approve(plan: plan)
      _ = try inSteps {
        try self.store.writer.sweep([.cascade, .refcount], at: self.now, manners: $0)
      }
    }
    let roots = world.gone(since: before)
    world.delete(roots.union(expected))
    return try undoneOrNot(past, roots)
  }

  // MARK: - Jobs and ages

  private func deleteByJob() throws -> String {
    let table = ["person", "person", "post"].randomElement(using: &random)!
    let roots = Set((0..<Int.random(in: 1...2, using: &random)).compactMap { _ in any(table) })
    if roots.isEmpty { return "nothing" }
    let isPartial = Bool.random(using: &random)
    let expected = world.job(roots)
    let asked =
      Bool.random(using: &random) ? expected.count + Int.random(in: -1...1, using: &random) : nil
    let request = DeletionJob.Request(
      .nodes(roots.sorted().map(\.node)), by: "me", expecting: asked, isPartial: isPartial)
    let job = try carryOut(store.writer.begin(request, at: now))
    let what =
      "job \(roots) \(isPartial ? "partial" : "whole") expecting \(asked ?? -1): \(job.state)"
    if world.isDenied(roots) && !isPartial {
      #expect(job.state == .blocked && job.deletedCount == 0, "seed \(seed): \(what)")
      return what
    }
    let isHeld = expected.count > (asked ?? CausedWorld.holdLimit)
    #expect((job.state == .held) == isHeld, "seed \(seed): \(what), \(expected.count)")
    return try "\(what), \(end(job, expected, of: roots))"
  }

  private func expire() throws -> String {
    world.now += 2
    let roots = world.overdue
    guard let number = try store.writer.beginExpired(at: now).jobs.first else {
      #expect(roots.isEmpty, "seed \(seed)")
      return "nothing overdue"
    }
    let job = try carryOut(number)
    return try "overdue \(roots): \(job.state), \(end(job, world.job(roots), of: roots))"
  }

  private func end(_ job: DeletionJob, _ expected: Set<Row>, of roots: Set<Row>) throws -> String {
    let before = world
    if job.state == .held {
      #expect(job.total == expected.count, "seed \(seed)")
      let plan = try #require(job.plan)
      if Bool.random(using: &random) {
        _ = try store.writer.reject(plan: plan, at: now)
        #expect(try store.reader.job(job.number)?.state == .cancelled)
        if job.overdue != nil { world.sparedBefore = world.now - 1 }
        return "rejected"
      }
      _ = try store.writer.approve(plan: plan)
      _ = try carryOut(job.number)
    }
    world.delete(expected)
    return try undoneOrNot(before, roots.intersection(expected))
  }

  private func carryOut(_ job: Int64) throws -> DeletionJob {
    try inSteps { try self.store.writer.carryOut(job: job, at: self.now, manners: $0) }
  }

  // MARK: - Undo

  /// What went comes back as it was: batch by batch, or first one of the nodes with which it began.
  private func undoneOrNot(_ before: CausedWorld, _ roots: Set<Row>) throws -> String {
    let news = try store.reader.newestBatches(limit: 10).map(\.batch).filter { $0 > lastBatch }
      .sorted(by: >)
    lastBatch = max(lastBatch, news.first ?? 0)
    let gone = Set(before.rows.keys.filter { world.rows[$0] == nil })
    // An orphan that comes back goes with the next search for such, or before.
    if news.isEmpty || before.hasOrphans(among: gone) || Bool.random(using: &random) {
      return "done"
    }
    var what = "undone"
    if Bool.random(using: &random), let root = roots.sorted().randomElement(using: &random) {
      what += " \(root) first"
      for batch in try store.writer.separate(root.node) { try undo(batch) }
      let back = try rows()
      #expect(back[root] == before.rows[root], "seed \(seed): \(root)")
    }
    let rest = try store.reader.newestBatches(limit: 10).map(\.batch).filter { $0 >= news.last! }
    for batch in rest.sorted(by: >) { try undo(batch) }
    lastBatch = max(lastBatch, rest.max() ?? 0)
    world.rows = before.rows
    return what
  }

  private func undo(_ batch: Int64) throws {
    do {
      _ = try inSteps { manners in
        if let resumed = try self.store.writer.resumeUndo(at: self.now, manners: manners) {
          return resumed
        }
        return try self.store.writer.undo(batch, by: "me", at: self.now, manners: manners)
      }
    } catch is UndoUnavailable {}
  }

  // MARK: - The store

  private var now: Int64 { Int64(world.now) * 1_000 }

  /// Stops once behind some steps, as a crash would, and goes on.
  private func inSteps<T>(_ work: (StepPolicy) throws -> T) throws -> T {
    store.sweepsInSteps(of: .random(in: 1...3, using: &random))
    let steps = Int.random(in: 1...8, using: &random)
    return try store.stopping(after: steps, work) ?? work(.none)
  }

  private func rows() throws -> [Row: [Int?]] {
    var rows: [Row: [Int?]] = [:]
    for table in CausedWorld.tables {
      let columns = ["id"] + CausedWorld.columns[table]!
      let text = columns.map { "coalesce(CAST(\($0) AS TEXT), '-')" }.joined(separator: "||' '||")
      for line in try store.texts("SELECT \(text) FROM \(table)") {
        let values = line.split(separator: " ").map { Int($0) }
        rows[Row(table, values[0]!)] = Array(values.dropFirst())
      }
    }
    return rows
  }
}
