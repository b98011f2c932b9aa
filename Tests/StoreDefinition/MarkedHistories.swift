import CascadeModel
import CascadeStore
import Testing

/// Random histories of marks, against a definition of their own: what is marked, and why, in sets.
package final class MarkedHistories {
  package static let seeds = ProtectedHistories.seeds
  private static let count = 8

  private let store: any StoreUnderTest
  private var random: Seeded
  private var world: MarkedWorld
  private var batches: [Int64: Set<MarkedWorld.Row>] = [:]

  package init(_ engine: any EngineUnderTest, seed: UInt64) throws {
    random = Seeded(seed)
    store = try MarkedWorld.store(engine)
    world = MarkedWorld()
    for id in 1...MarkedHistories.count {
      for table in MarkedWorld.tables { try insert(MarkedWorld.Row(table.name, id)) }
    }
    _ = try store.writer.sweep([.all], at: 0)
  }

  package func compare() throws {
    for step in 1...40 {
      let what = try act()
      if Int.random(in: 0..<3, using: &random) > 0 { continue }
      try follow()
      let marked = try self.marked()
      #expect(marked == world.marked, "step \(step), after \(what)")
      if marked != world.marked { return }
    }
  }

  // MARK: - What happens

  private func act() throws -> String {
    switch Int.random(in: 0..<10, using: &random) {
    case 0..<5: return try mark()
    case 5..<8: return try unmark()
    case 8: return try undo()
    default: return try give()
    }
  }

  private func insert(_ row: MarkedWorld.Row) throws {
    let table = MarkedWorld.table(row.table)
    let ends = table.references.map { _ in
      Int.random(in: 0..<4, using: &random) == 0
        ? nil : Int.random(in: 1...MarkedHistories.count, using: &random)
    }
    world.rows[row] = ends
    let values = ["\(row.id)"] + ends.map { $0.map(String.init) ?? "NULL" }
    let names = ["id"] + table.references.map(\.column)
    try store.bySQL(
      "INSERT INTO \(row.table)(\(names.joined(separator: ", "))) VALUES(\(values.joined(separator: ", ")))"
    )
  }

  private func anyRow(where isMeant: (MarkedWorld.Row) -> Bool) -> MarkedWorld.Row? {
    world.rows.keys.filter { MarkedWorld.table($0.table).mark != nil && isMeant($0) }
      .sorted { "\($0)" < "\($1)" }.randomElement(using: &random)
  }

  private func mark() throws -> String {
    guard let row = anyRow(where: { !world.marked.contains($0) }) else { return "nothing" }
    let isDenied = world.denied([row]).contains(row)
    do {
      try store.bySQL(
        "UPDATE \(row.table) SET \(MarkedWorld.table(row.table).set(true)) WHERE id = \(row.id)")
      #expect(!isDenied, "\(row)")
      world.marked.insert(row)
      world.events.insert(row)
    } catch {
      #expect(isDenied && store.isDenial(error), "\(row): \(error)")
    }
    return "mark \(row)"
  }

  private func unmark() throws -> String {
    guard let row = anyRow(where: world.marked.contains) else { return "nothing" }
    try store.bySQL(
      "UPDATE \(row.table) SET \(MarkedWorld.table(row.table).set(false)) WHERE id = \(row.id)")
    world.marked.remove(row)
    world.events.insert(row)
    return "unmark \(row)"
  }

  /// A row gets another reference. What is deleted because of that is no matter of marks, so no rule is that deletes.
  private func give() throws -> String {
    guard
      let row = world.rows.keys.filter({ $0.table == "post" }).sorted(by: { $0.id < $1.id })
        .randomElement(using: &random)
    else { return "nothing" }
    let author = Int.random(in: 1...MarkedHistories.count, using: &random)
    try store.bySQL("UPDATE post SET author = \(author) WHERE id = \(row.id)")
    world.rows[row]![0] = author
    return "\(row) of person \(author)"
  }

  private func undo() throws -> String {
    guard let batch = batches.keys.sorted().randomElement(using: &random) else { return "nothing" }
    try follow()
    let first = batches.removeValue(forKey: batch)!
    do {
      _ = try store.writer.undo(batch, by: "me", at: 0)
      world.undo(batch, first)
    } catch is UndoUnavailable {}
    return "undo \(batch)"
  }

  // MARK: - The daemon

  private func follow() throws {
    if Bool.random(using: &random) {
      store.sweepsInSteps(of: Int64.random(in: 1...4, using: &random))
    }
    while let job = try store.writer.beginMarks(at: 0) {
      let known = try store.reader.job(job)?.batch
      let steps = Int.random(in: 1...6, using: &random)
      let ended = try store.stopping(after: steps) {
        try store.writer.carryOut(job: job, at: 0, manners: $0)
      }
      let done = try ended ?? store.writer.carryOut(job: job, at: 0, manners: .none)
      let first = world.follow(batch: done.batch ?? known)
      if let batch = done.batch { batches[batch] = first }
    }
    world.events = []
  }

  private func marked() throws -> Set<MarkedWorld.Row> {
    var marked: Set<MarkedWorld.Row> = []
    for table in MarkedWorld.tables {
      guard let isMarked = table.isMarked else { continue }
      for id in try store.texts("SELECT CAST(id AS TEXT) FROM \(table.name) WHERE \(isMarked)") {
        marked.insert(MarkedWorld.Row(table.name, Int(id)!))
      }
    }
    return marked
  }
}
