internal import CascadeEngine
internal import CascadeModel
internal import CascadePostgres
package import CascadeStore
internal import PostgresBinding
internal import PostgresTables

/// The lines of an archive (`ArchivedBatch.swift`). A transaction of a change file puts them into the trash of
/// its batch; what is there then comes back as by an undo.
struct RestoredThings {
  let store: StoreConnection
  let batch: Int64
  /// How many lines are about what is not there any more.
  private(set) var skipped = 0
  private(set) var isAny = false
  private var shapes: [Shape: Int64] = [:]
  private var relations: [JSON: Int64] = [:]

  private struct Shape: Hashable {
    let table: String
    let columns: [String]
  }

  init(_ store: StoreConnection, batch: Int64) { (self.store, self.batch) = (store, batch) }

  private var db: Session { _read { yield store.db } }

  mutating func load(_ thing: RestoredThing) throws {
    try Rejection.refuseRestoring(by: store.model)
    isAny = true
    switch thing.subject {
    case .node(let node):
      if let lost = thing.kept, lost["relation"] != nil { return try loadLoss(node, lost) }
      try loadNode(node, thing)
    case .other(let what):
      if what["edge"] != nil, let kept = thing.kept { return try loadUnlinked(thing, kept) }
      guard let path = what["file"]?.string, let root = what["root"]?.string else {
        throw Rejection.unknownRestored
      }
      try loadFile(path, root, thing.kept?["batch"]?.integer ?? 0)
    }
  }

  // MARK: - Rows and objects

  private mutating func loadNode(_ node: Node, _ thing: RestoredThing) throws {
    guard let table = store.binding.tables[node.collection], let key = table.key.text(node.key)
    else { throw Rejection(.invalid, "\(node): there is no such collection, or key", node: node) }
    let (text, shape) = try row(thing, table.name)
    try db.run(
      """
      INSERT INTO cascade.deleted(batch, collection, is_own, bucket, shape, keys, rows)
      VALUES(\(batch), \(table.number), false, \(OwnSchema.bucket("$1::text")), $2::bigint, ARRAY[$1::text], ARRAY[$3::text])
      """, [key, shape, text])
  }

  /// The text of a row of a table, and the shape by which it is read.
  private mutating func row(
    _ thing: RestoredThing, _ table: String
  ) throws -> (text: String, shape: String?) {
    if let values = thing.kept?["row"]?.array { return (RowText.text(values.map(\.string)), nil) }
    let members = thing.value?.members() ?? []
    let shape = try shape(Shape(table: table, columns: members.map(\.name)))
    return (RowText.text(members.map { RowText.value($0.value.json) }), "\(shape)")
  }

  /// Writes down what the columns are: those that the table has by these names now.
  private mutating func shape(_ shape: Shape) throws -> Int64 {
    if let known = shapes[shape] { return known }
    let number = try db.run(
      """
      INSERT INTO cascade.shape(number, relation, name, columns, last_columns, numbers, types)
      SELECT hashtextextended($2::text, $1::regclass::oid::bigint), $1::regclass, $1, array_agg(c.name ORDER BY c.place),
        array_agg(c.name ORDER BY c.place), array_agg(a.attnum::bigint ORDER BY c.place),
        array_agg(coalesce(format_type(a.atttypid, a.atttypmod), 'text') ORDER BY c.place)
      FROM unnest($2::text[]) WITH ORDINALITY c(name, place)
      LEFT JOIN pg_attribute a ON a.attrelid = $1::regclass AND a.attname = c.name AND a.attnum > 0
        AND NOT a.attisdropped
      ON CONFLICT(number) DO UPDATE SET name = excluded.name RETURNING number
      """, [shape.table, arrayText(shape.columns)]
    ).integer!
    shapes[shape] = number
    return number
  }

  // MARK: - References, join rows and stored edges

  private mutating func relation(_ kept: JSON) throws -> Int64? {
    guard let identity = kept["relation"] else { throw Rejection.unknownRestored }
    if let known = relations[identity] { return known }
    let number = try db.run(
      """
      SELECT number FROM cascade.relation
      WHERE (name, source, destination, part) = ($1, $2, $3, $4)
      """, ["name", "from", "to", "part"].map { identity[$0]?.string }
    ).integer
    relations[identity] = number
    return number
  }

  private mutating func loadLoss(_ node: Node, _ kept: JSON) throws {
    guard let relation = try relation(kept),
      let key = store.binding.tables[node.collection]?.key.text(node.key)
    else { return skipped += 1 }
    try db.run(
      """
      INSERT INTO cascade.nullified(batch, relation, key, value, rest)
      VALUES(\(batch), \(relation), $1, $2, $3)
      """, [key, kept["had"]?.string, kept["has"]?.string])
  }

  private mutating func loadUnlinked(_ thing: RestoredThing, _ kept: JSON) throws {
    guard let number = try relation(kept) else { return skipped += 1 }
    let table = store.binding.relation(number)?.join?.name
    if thing.value != nil && table == nil { return skipped += 1 }
    let (text, shape) = try row(thing, table ?? "")
    try db.run(
      """
      INSERT INTO cascade.unlinked(batch, relation, row, shape)
      VALUES(\(batch), \(number), $1, $2::bigint)
      """, [text, shape])
  }

  private mutating func loadFile(_ path: String, _ root: String, _ archived: Int64) throws {
    let roots = FileRoots(store.model, StorePaths(store: "/", spool: "/"))
    guard let place = roots[root], let archive = try store.archive,
      try archive.bring(path, of: place, archivedIn: archived, as: batch)
    else { return skipped += 1 }
    try db.run(
      """
      INSERT INTO cascade.file(root, path, batch, state)
      VALUES($1, $2, \(batch), \(FileState.trashed.rawValue))
      """, [root, path])
  }
}

extension PostgresWriter {
  static let restoring = "restoring"

  package func finishRestoring(at now: Int64) throws -> UndoResult? {
    guard let batch = try unfinishedUndo else { return nil }
    let author =
      try db.run("SELECT author FROM cascade.ledger WHERE batch = \(batch)").texts.first ?? ""
    var result = UndoResult(batch: batch, author: author)
    do {
      result = try undo(batch, by: author, at: now, manners: .none)
    } catch is UndoUnavailable {}
    try store.transaction {
      try store.set(PostgresWriter.restoring, nil)
      if result.leftCount > 0 { return }
      try db.run(
        "UPDATE cascade.ledger SET undone_at = NULL, undone_by = NULL WHERE batch = \(batch)")
    }
    return result
  }

  /// An undo is one transaction, so none is ever unfinished, but one of what an archive had.
  package func resumeUndo(at now: Int64, manners: StepPolicy) throws -> UndoResult? {
    try finishRestoring(at: now)
  }

  package var unfinishedUndo: Int64? {
    get throws { try isDetached ? nil : store[meta: PostgresWriter.restoring] }
  }
}
