internal import CascadeSQLite
internal import CascadeModel
internal import SQLiteBinding
package import SQLiteTables
internal import SQLiteRules

/// What went, by numbers: for programs that do something for each deleted node, and once.
///
/// 1. A node is noted in the transaction that deletes it: in the batch, in a part for each plan of it, in the
///    place that it has in the plan, where causes come before what follows from them.
/// 2. The parts get numbers when the batch has ended, and can be seen from then on. So a row that a job
///    deletes before the one with which it began has a number behind it.
/// 3. What an application deleted itself is known last, and is the first part. A job that goes on makes a
///    plan of what is left, with the nodes with which it began: the later plan is the earlier part.
extension Writer {
  private static let applications: Int64 = 0

  func noteDeleted(_ slice: Slice, _ ends: NodeCounts) throws {
    for collection in ends.collections.sorted() {
      if let table = binding.collection(collection) {
        for form in ends.forms(of: table) {
          // The number of such a row is its key: there is no need to read the row.
          if form == .byRowid && table.isKeyedByRowid {
            try note(
              slice, key: table.rowid(of: "g.id"), where: table.hasRow("g.id"), in: collection)
          } else {
            let node = table.node(form, "g.id")
            try note(slice, key: table.nodeKey(form), from: "CROSS JOIN \(node)", in: collection)
          }
        }
      } else if try db.nameOfNodes(collection) != nil {
        let node = "CROSS JOIN main.cascade_node AS n ON n.id = g.id"
        try note(slice, key: "n.key", from: node, in: collection)
      }
    }
  }

  private func note(
    _ slice: Slice, key: String, from nodes: String = "", where condition: String = "true",
    in collection: Int64
  ) throws {
    let part = try partOfPlan()
    try db.run(
      """
      INSERT OR IGNORE INTO main.cascade_deleted(batch, part, place, collection, id, key)
      SELECT \(bind: current.batch), \(bind: part), coalesce(g.place, g.seq), g.collection, g.id, \(key)
      FROM temp.gone AS g \(nodes)
      WHERE g.counts AND g.collection = \(bind: collection) AND \(condition) AND \(slice.contains())
      """)
  }

  private func partOfPlan() throws -> Int64 {
    if let part = current.partOfDeleted { return part }
    let isJob = sweepRun.job != nil
    let last = try db.integer(
      generated: "SELECT \(isJob ? "min" : "max")(part) FROM cascade_deleted WHERE batch = ?",
      [.integer(current.batch)])
    let part = (last ?? Writer.applications) + (isJob ? -1 : 1)
    current.partOfDeleted = part
    return part
  }

  /// Rows that have come into the trash of the batch, with ids below `last`.
  package func noteDeletedByApplication(behind last: Int64) throws {
    try db.run(
      """
      INSERT INTO main.cascade_deleted(batch, part, place, collection, id, key)
      SELECT t.batch, \(Writer.applications), row_number() OVER (ORDER BY t.id DESC) + (
          SELECT coalesce(max(place), 0) FROM main.cascade_deleted
          WHERE batch = \(bind: current.batch) AND part = \(Writer.applications)),
        l.collection, t.id, \(TrashLayout.key(keys: "l.keys"))
      FROM main.cascade_trash AS t
      JOIN main.cascade_trash_layout AS l ON l.batch = t.batch AND l.layout = t.layout
      WHERE t.batch = \(bind: current.batch) AND t.id > \(bind: NumberRange.sideEntries)
      AND t.id < \(bind: last) AND t.part = 0
      """)
  }

  // MARK: - Numbers

  /// Gives numbers to what the batch at hand took. A job that has not ended may still take causes.
  package func numberDeleted() throws {
    let isOpen = try db.integer(
      "SELECT 1 FROM cascade_job WHERE batch = \(bind: current.batch) AND \(Query.isOpenJob)")
    if isOpen != nil { return }
    var last = Int64.min
    while let part = try nextPart(behind: last) {
      try number(part)
      last = part
    }
  }

  private func nextPart(behind part: Int64) throws -> Int64? {
    try db.integer(
      """
      SELECT part FROM cascade_deleted WHERE batch = ? AND part > ? ORDER BY part LIMIT 1
      """, .integer(current.batch), .integer(part))
  }

  /// The ends of a part are looked for one by one: that needs no scan.
  private func number(_ part: Int64) throws {
    try db.run(
      """
      INSERT INTO cascade_deleted_part(number, batch, part, low, high, at, kind, author)
      SELECT ?3 + 1, ?1, ?2,
        (SELECT min(place) FROM cascade_deleted WHERE batch = ?1 AND part = ?2),
        (SELECT max(place) FROM cascade_deleted WHERE batch = ?1 AND part = ?2),
        l.at, l.part, l.author FROM cascade_ledger AS l
      WHERE l.seq = ?1 AND NOT EXISTS (SELECT 1 FROM cascade_deleted_part WHERE batch = ?1 AND part = ?2)
      """, .integer(current.batch), .integer(part), .integer(db.lastDeletedNumber))
  }

  // MARK: - Forgetting

  /// Forgets a part, `most` rows at once. Returns whether all of it is gone.
  func forgetDeleted(_ number: Int64, most rows: inout Int64) throws -> Bool {
    let part = try db.first(
      "SELECT batch, part, number + high - low FROM cascade_deleted_part WHERE number = ?",
      .integer(number)
    ) { (batch: $0.integer(0), part: $0.integer(1), last: $0.integer(2)) }
    guard let part else { return true }
    try db.run(
      """
      DELETE FROM main.cascade_deleted WHERE (batch, part, place) IN (
        SELECT batch, part, place FROM main.cascade_deleted
        WHERE batch = ? AND part = ? LIMIT ?)
      """, .integer(part.batch), .integer(part.part), .integer(rows))
    rows -= Int64(db.changes)
    try db.setMeta(.forgottenDeleted, part.last)
    if rows <= 0 { return false }
    try db.run("DELETE FROM cascade_deleted_part WHERE number = ?", .integer(number))
    return true
  }
}

extension Connection {
  /// The last number that was given, to a node that is forgotten, too.
  package var lastDeletedNumber: Int64 {
    get throws {
      let last = try integer(
        "SELECT number + high - low FROM cascade_deleted_part ORDER BY number DESC LIMIT 1")
      return try max(last ?? 0, meta(.forgottenDeleted) ?? 0)
    }
  }
}

extension NodeTable {
  /// Whether the key is what SQLite calls the rowid.
  fileprivate var isKeyedByRowid: Bool {
    guard case .mapped(let table, let key, _) = kind, table.isRowidColumn, key.count == 1 else {
      return false
    }
    return key[0].name.folded == table.rowid?.folded
  }
}
