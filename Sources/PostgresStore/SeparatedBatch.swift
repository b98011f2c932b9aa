internal import CascadeModel
internal import CascadeEngine
internal import CascadePostgres
internal import CascadeStore
internal import PostgresBinding
internal import PostgresTables

/// Moves what is chosen of a batch into one of its own, so that it can be undone alone. What one of these
/// nodes lost together with one that stays, an edge or a join row between the two, stays.
struct SeparatedBatch {
  private let store: StoreConnection
  private let chosen: ChosenNodes
  private let batch: Int64

  init(_ store: StoreConnection, _ chosen: ChosenNodes, outOf batch: Int64) {
    (self.store, self.chosen, self.batch) = (store, chosen, batch)
  }

  private var db: Session { _read { yield store.db } }
  private var binding: Binding { store.binding }

  /// Returns the new batch; the same one if all of it is chosen.
  func separate(into next: () throws -> Int64) throws -> Int64 {
    let own = chosen.nodes.filter { $0.batch == batch }
    let counts = try db.run(
      """
      SELECT count(*) FILTER (WHERE (k.collection, k.key) IN (
        SELECT * FROM unnest($1::int[], $2::text[]))), count(*)
      FROM cascade.deleted_node k WHERE k.batch = \(batch) AND k.row IS NOT NULL
      """, arrays(own)
    ).rows[0].map { Int64($0!)! }
    if counts[0] == counts[1] { return batch }
    let new = try next()
    try enter(new, counts[0])
    try moveNodes(own, new)
    for relation in binding.relations {
      try moveReferences(relation, new)
      try copyLists(relation, new)
      try moveJoinRows(relation, new)
    }
    for relation in binding.files { try moveEdges(relation, new) }
    return new
  }

  private func arrays(_ nodes: [ChosenNodes.Node]) -> [String?] {
    [arrayText(nodes.map { "\($0.collection)" }), arrayText(nodes.map(\.key))]
  }

  private func enter(_ new: Int64, _ count: Int64) throws {
    let entered = try db.run(
      """
      INSERT INTO cascade.ledger(batch, id, part, author, fingerprint, at, is_last, line, deleted, edges,
        notices, skipped, origin)
      SELECT \(new), id || '/\(new)', part, author, fingerprint, at + \(ClockJumps.after("l.batch")), true,
        line, \(count), 0, 0, 0, coalesce(origin, batch) FROM cascade.ledger l WHERE batch = \(batch)
      """)
    if entered.changed == 0 { throw UndoUnavailable.unknown }
  }

  private func moveNodes(_ nodes: [ChosenNodes.Node], _ new: Int64) throws {
    let isOne = "(d.collection, n.key) IN (SELECT * FROM unnest($1::int[], $2::text[]))"
    try db.run(
      """
      WITH d AS (DELETE FROM cascade.deleted
        WHERE batch = \(batch) AND collection = ANY($1::int[]) AND keys && $2::text[] RETURNING *)
      INSERT INTO cascade.deleted(
        batch, collection, via, rule, is_own, follows, shape, bucket, keys, others, rows)
      SELECT CASE WHEN \(isOne) THEN \(new) ELSE d.batch END, d.collection, d.via, d.rule, d.is_own,
        d.follows, d.shape, \(OwnSchema.bucket("n.key")), ARRAY[n.key],
        CASE WHEN d.others IS NOT NULL THEN ARRAY[n.other] END,
        CASE WHEN n.row IS NOT NULL THEN ARRAY[n.row] END
      FROM d, unnest(d.keys, d.others, d.rows) n(key, other, row) ORDER BY d.id
      """, arrays(nodes))
  }

  // MARK: - References

  private func moveReferences(_ relation: EdgeRelation, _ new: Int64) throws {
    if relation.columns == nil || !chosen.isAny(of: relation.destination) { return }
    try db.run(
      """
      UPDATE cascade.nullified SET batch = \(new)
      WHERE batch = \(batch) AND relation = \(relation.number) AND value = ANY($1::text[])
      """, [chosen.keys(of: relation.destination)])
  }

  /// What comes back of a list is told when it has (`Undo.settleLists`). Until then both batches have it.
  private func copyLists(_ relation: EdgeRelation, _ new: Int64) throws {
    guard let list = relation.list?.ofKnownType, chosen.isAny(of: relation.destination) else {
      return
    }
    try db.run(
      """
      INSERT INTO cascade.nullified(batch, relation, key, value, rest)
      SELECT \(new), relation, key, value, rest FROM (
        SELECT n.*, n.value::\(list.type) AS \(list.name) FROM cascade.nullified n
        WHERE n.batch = \(batch) AND n.relation = \(relation.number)) o
      WHERE EXISTS (SELECT FROM \(list.elements("o"))
        WHERE \(list.value.text("e")) = ANY($1::text[]))
      """, [chosen.keys(of: relation.destination)])
  }

  // MARK: - Join rows and stored edges

  /// Those with a chosen end, of which the other is chosen, too, or exists.
  private func moveJoinRows(_ relation: EdgeRelation, _ new: Int64) throws {
    guard let join = relation.join,
      EdgeEnd.allCases.contains(where: { chosen.isAny(of: relation.table(at: $0)) })
    else { return }
    let isChosen = EdgeEnd.allCases.enumerated().map { place, end in
      "\(join.columns(at: end).text("r")) = ANY($\(place + 2)::text[])"
    }
    let isThere = EdgeEnd.allCases.map { end in
      let table = relation.table(at: end)
      return """
        EXISTS (SELECT FROM \(table.name) t WHERE \(table.key.equal("t", join.columns(at: end), "r")))
        """
    }
    let others = zip(isChosen, isThere).map { "(\($0) OR \($1))" }
    try move(
      relation.number, join.name, key: [join.source, join.destination],
      where: "(\(isChosen.joined(separator: " OR "))) AND \(others.joined(separator: " AND "))",
      EdgeEnd.allCases.map { chosen.keys(of: relation.table(at: $0), upTo: batch) }, new)
  }

  private func moveEdges(_ relation: FileRelation, _ new: Int64) throws {
    guard let stored = relation.stored, chosen.isAny(of: relation.source) else { return }
    try move(
      relation.number, stored.name, key: [stored.source],
      where: "\(stored.source.text("r")) = ANY($2::text[])", [chosen.keys(of: relation.source)],
      new)
  }

  private func move(
    _ relation: Int64, _ table: String, key: [Columns], where condition: String,
    _ values: [String?], _ new: Int64
  ) throws {
    let own = "u.batch = \(batch) AND u.relation = \(relation) AND u.row IS NOT NULL"
    let shapes = try db.run("SELECT DISTINCT u.shape FROM cascade.unlinked u WHERE \(own)").rows
    for shape in shapes.map({ $0[0] }) {
      let source = KeptRows.Source(
        texts: """
          SELECT u.id::text, u.row FROM cascade.unlinked u WHERE \(own)
          AND u.shape IS NOT DISTINCT FROM \(shape ?? "NULL") AND ($1::text[] IS NULL OR true)
          """)
      guard let kept = try KeptRows(store, source, shape: shape, in: table, key: key) else {
        continue
      }
      try db.run(
        """
        UPDATE cascade.unlinked SET batch = \(new) WHERE id IN (
          SELECT r.\(KeptRows.id)::bigint FROM (\(kept.rows)) r WHERE \(condition))
        """, [nil] + values)
    }
  }
}

extension Undo {
  var isSeparated: Bool { origin != batch }

  /// Files stay in the batch that let them go. They come back when a row does that names them.
  func restoreNamedFiles() throws -> Int {
    if !isSeparated { return 0 }
    let files = FileRows(store: store)
    let kept = try files.kept(by: origin)
    let named = try files.named(kept)
    let back = kept.filter { named.contains($0.id) }
    try files.set(.toRestore, back)
    return back.count
  }

  /// Has the batch from which this one was separated expect the lists of these rows as they are now, and forget
  /// what they have again. What does not come back stays there.
  func settleLists(_ relation: EdgeRelation, restored keys: [String]) throws {
    guard isSeparated, let list = relation.list?.ofKnownType else { return }
    let (source, own) = (relation.source, "n.relation = \(relation.number)")
    let isRestored = """
      n.batch = \(origin) AND \(own) AND n.key = ANY($1::text[]) AND \(source.key.equal("s", text: "n.key"))
      """
    let lacks = """
      EXISTS (SELECT FROM (SELECT n.value::\(list.type) AS \(list.name)) o, \(list.elements("o"))
        WHERE \(isAway(relation, list)))
      """
    try store.db.run(
      """
      UPDATE cascade.nullified n SET rest = s.\(list.name)::text FROM \(source.name) s
      WHERE \(isRestored) AND \(lacks)
      """, [arrayText(keys)])
    try store.db.run(
      """
      DELETE FROM cascade.nullified n USING \(source.name) s WHERE \(isRestored) AND NOT \(lacks)
      """, [arrayText(keys)])
    try store.db.run(
      "DELETE FROM cascade.nullified n WHERE n.batch = \(batch) AND \(own) AND n.rest IS NOT NULL")
  }
}
