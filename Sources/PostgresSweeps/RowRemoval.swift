package import CascadeModel
internal import CascadePostgres
package import PostgresBinding
package import PostgresTables

/// Deletes rows, and writes in the same statement what follows from it: their names, with the row
/// if it is kept, and the edges that they lose.
package struct RowRemoval {
  package let store: StoreConnection
  package let batch: Int64
  /// The batch in statements: a parameter in those that come again.
  private(set) var batchValue: String
  /// Whether a statement deletes no more than a step.
  var isInSteps = false
  /// How far the rows are from where a job begins that had planned them.
  var level: Int?
  /// Where they belong in the order of causes, if that is not the order of deletion.
  var place: Int64?
  /// Whether join rows stay that another session has locked.
  var skipsLocked = false

  package init(store: StoreConnection, batch: Int64, isInSteps: Bool = false) {
    (self.store, self.batch, self.isInSteps) = (store, batch, isInSteps)
    batchValue = "\(batch)"
  }

  /// Which rows, in terms of one of them, with the values of `$1`, `$2`, …
  package struct Selection {
    /// What the condition calls the row.
    package let row: String
    package private(set) var condition: String
    package private(set) var values: [String?] = []
    /// Whether rows are looked up one by one in a list, `n`, that says for each for which node it goes.
    private(set) var isListed = false

    package init(row: String, condition: String, values: [String?] = []) {
      (self.row, self.condition, self.values) = (row, condition, values)
    }

    /// Rows with these keys. `others` are the nodes for which they go.
    init(row: String, of table: MappedTable, keys: [String], others: [String]) {
      self.init(
        row: row, condition: table.key.equal(row, text: "n.key"),
        values: [arrayText(keys), arrayText(others)])
      isListed = true
    }

    /// Only those for which a condition holds, too.
    func only(where condition: String) -> Selection {
      var selection = self
      selection.condition += " AND \(condition)"
      return selection
    }

    fileprivate static let list = "unnest($1::text[], $2::text[]) n(key, other)"

    /// What to read from, if the rows are those of this table.
    func from(_ table: MappedTable) -> String {
      (isListed ? "\(Selection.list), " : "") + "\(table.name) \(row)"
    }

    /// Those without these keys.
    func but(_ keys: [String], of table: MappedTable) -> Selection {
      var selection = only(where: "NOT \(table.key.isAny(row, "$\(values.count + 1)"))")
      selection.values.append(arrayText(keys))
      return selection
    }

    /// Only those with these keys.
    package func only(_ keys: [String], of table: MappedTable) -> Selection {
      var selection = only(where: table.key.isAny(row, "$\(values.count + 1)"))
      selection.values.append(arrayText(keys))
      return selection
    }
  }

  /// Why they go. `other` is the key of the node at the other end, in terms of the row `d`.
  package struct Cause {
    package let rule: Rules
    package let relation: EdgeRelation
    package let other: String

    /// If the list of the rows says it.
    static let listedOther = "d.cascade_other"
  }

  /// How many rows went, and how many edges with them. Not more than `limit`.
  package struct Count {
    package var rows = 0
    package var edges = 0
    /// The rows that have to be followed.
    var groups: [Work.Group] = []
  }

  package func delete(
    from table: MappedTable, _ selection: Selection, because cause: Cause?, limit: Int
  ) throws -> Count {
    let values = selection.values + ["\(batch)"]
    var removal = self
    removal.batchValue = "$\(values.count)::bigint"
    let row = try store.writing(table.name) {
      try store.db.runAgain(removal.sql(table, selection, cause, limit), values).rows[0]
    }
    return Count(
      rows: Int(row[0]!)!, edges: Int(row[1] ?? "0")!, groups: groups(ids: row[2], sizes: row[3]))
  }

  private func groups(ids: String?, sizes: String?) -> [Work.Group] {
    guard let ids, let sizes else { return [] }
    return zip(integers(ofArray: ids), integers(ofArray: sizes)).map {
      Work.Group(id: $0, size: Int($1))
    }
  }

  private func sql(
    _ table: MappedTable, _ selection: Selection, _ cause: Cause?, _ limit: Int
  ) -> String {
    let edges = store.binding.relations(heldBy: table)
    let count = edges.map { self.count($0, cause) }
    let groups =
      follows(table, cause)
      ? "(SELECT array_agg(k.id ORDER BY k.id) FROM k), "
        + "(SELECT array_agg(k.size ORDER BY k.id) FROM k)" : "NULL, NULL"
    let row = selection.isListed && keepsRows ? "d.cascade_row" : keptRow
    return """
      WITH d AS (
        \(delete(table.name, table.key, selection, limit, returning: columns(of: table, cause)))),
      \(cause == nil ? gone(table) : "")
      k AS (\(kept(table, cause, row)))\(edges.compactMap { lost($0, cause) }.joined())
      SELECT count(*), sum(\((["0"] + count).joined(separator: " + "))), \(groups) FROM d
      """
  }

  /// What a change file asks for is in its plan, also if nothing follows.
  private func gone(_ table: MappedTable) -> String {
    """
    g AS (
      INSERT INTO cascade.work(what, subject, key, batch)
      SELECT \(JournalSubject.gone.rawValue), \(table.number), \(table.key.text("d")), \(batchValue)
      FROM d),
    """
  }

  /// The columns of a row that are read when it is gone.
  private func columns(of table: MappedTable, _ cause: Cause?) -> [String] {
    if keepsRows { return ["*"] }
    let relations = store.binding.relations(heldBy: table) + (cause.map { [$0.relation] } ?? [])
    let read = relations.filter { $0.holder?.number == table.number }.flatMap(\.heldColumns)
    return Set(table.key.all.map(\.name) + read).sorted()
  }

  /// Looks again at each row when it is deleted: the statement may have had to wait for it.
  private func delete(
    _ table: String, _ key: Columns, _ selection: Selection, _ limit: Int,
    returning columns: [String] = ["*"]
  ) -> String {
    let (row, condition) = (selection.row, selection.condition)
    if let deletion = byOwner(table, selection, limit) {
      let gone =
        selection.isListed
        ? ["(c.gone).*, c.note AS cascade_other"]
          + (keepsRows ? ["(c.gone)::text AS cascade_row"] : [])
        : columns.map { "(c.gone).\($0)" }
      return "SELECT \(gone.joined(separator: ", ")) FROM \(deletion)"
    }
    var returned = "RETURNING \(columns.map { "\(row).\($0)" }.joined(separator: ", "))"
    if selection.isListed {
      // The text of the row is made before there is a column more.
      returned +=
        ", n.other AS cascade_other"
        + (keepsRows ? ", (\(row).*)::text AS cascade_row" : "")
      return "DELETE FROM \(table) \(row) USING \(Selection.list) WHERE \(condition) \(returned)"
    }
    if limit == .max && !skipsLocked {
      return "DELETE FROM \(table) \(row) WHERE \(condition) \(returned)"
    }
    // A value that names no key of the other table is one of a join row, too.
    let whole = "(\(key.contents(row)))"
    return """
      DELETE FROM \(table) \(row) WHERE \(whole) IN (
        SELECT \(key.contents(row)) FROM \(table) \(row)
        WHERE \(condition) AND \(whole) IS NOT NULL LIMIT \(limit)
        \(skipsLocked ? "FOR UPDATE OF \(row) SKIP LOCKED" : ""))
      AND \(condition) \(returned)
      """
  }

  /// Where rows of several owners are written by functions of theirs.
  private func byOwner(_ table: String, _ selection: Selection, _ limit: Int) -> String? {
    store.binding.deletion(
      from: table, selection.row,
      from: (selection.isListed ? "\(Selection.list), " : "") + "\(table) \(selection.row)",
      where: selection.condition, limit: limit,
      note: selection.isListed ? "n.other" : "NULL::text", skipsLocked: skipsLocked)
  }

  /// Nodes share rows: to write a row for each would take longer than to delete it. The memory for
  /// that is bounded in steps only.
  private func kept(_ table: MappedTable, _ cause: Cause?, _ row: String) -> String {
    let isShared = cause != nil && isInSteps
    let why = cause.map { "\($0.relation.number), \($0.rule.rawValue)" } ?? "NULL, NULL"
    let (key, other) = (table.key.text("d"), cause?.other ?? "NULL::text")
    let nodes =
      isShared
      ? """
      \(OwnSchema.sharedBucket("n.key")), count(*), array_agg(n.key), array_agg(n.other),
      \(keepsRows ? "array_agg(n.row)" : "NULL")
      FROM (SELECT \(key) AS key, \(other) AS other, \(row) AS row FROM d) n GROUP BY 10
      """
      : "\(OwnSchema.bucket(key)), 1, ARRAY[\(key)], ARRAY[\(other)], "
        + "\(keepsRows ? "ARRAY[\(row)]" : "NULL") FROM d"
    return """
      INSERT INTO cascade.deleted(
        batch, collection, via, rule, is_own, follows, shape, level, place, bucket, size, keys, others, rows)
      SELECT \(batchValue), \(table.number), \(why), true, \(follows(table, cause)),
        \(shape(table.name)), \(level.map(String.init) ?? "NULL::int"),
        \(place.map(String.init) ?? "NULL::bigint"), \(nodes)
      RETURNING id, size
      """
  }

  /// Whether something may follow from what a rule deletes.
  private func follows(_ table: MappedTable, _ cause: Cause?) -> Bool {
    cause != nil && store.binding.isMissed(table)
  }

  /// How many edges the row `d` had. A change file counts those of join rows itself, because several
  /// rows may be the same edge.
  private func count(_ relation: EdgeRelation, _ cause: Cause?) -> String {
    if !relation.countsReferences || relation.join != nil && cause == nil { return "0" }
    guard let list = relation.list else {
      return "coalesce((\(relation.isEdge(in: "d")))::int, 0)"
    }
    return "(SELECT count(*) FROM \(list.elements("d")) WHERE \(relation.isEdge()))"
  }

  private var keepsRows: Bool { store.model.trash > .zero }
  private func shape(_ table: String) -> String {
    keepsRows ? KeptShapes.now(table) : "NULL::bigint"
  }
  private var keptRow: String { keepsRows ? "(d.*)::text" : "NULL" }

  private func lost(_ relation: EdgeRelation, _ cause: Cause?) -> String? {
    if relation.join == nil {
      let isMissed = !relation.allRules.isDisjoint(with: .losingSource) || relation.isNeeded
      return isMissed ? lost(relation, as: .lost) : nil
    }
    let lostEnd = EdgeEnd.allCases.first { cause?.relation.isTie(of: relation, at: $0) ?? false }
    if let lostEnd {
      return lost(relation, as: lostEnd.lost, told: isToldOfLoss(relation, of: lostEnd, "d"))
    }
    return lost(relation, as: .lost) + (cause != nil ? lost(relation, as: .rowless) : "")
  }

  /// Notes the loss of the edges of the rows `d`.
  private func lost(
    _ relation: EdgeRelation, as what: JournalSubject, told: String = "false"
  ) -> String {
    let isComplete = relation.join.map { " AND \($0.source.isComplete("d"))" } ?? ""
    return """
      , e\(what.rawValue)_\(relation.number) AS (
        INSERT INTO cascade.work(what, subject, key, other, batch, done, told)
        SELECT \(what.rawValue), \(relation.number), \(relation.from(in: "d")),
        \(relation.to(in: "d")), \(batchValue), \(!relation.isFollowed(what)), \(told)
        FROM d\(relation.references(of: "d")) WHERE \(relation.isEdge(in: "d"))\(isComplete))
      """
  }

  // MARK: - Join rows

  /// Deletes the join rows that have one of these keys at this end, where no row has it any
  /// more, or where it goes next, and journals the loss of their edges. Returns how many went.
  package func unlink(
    _ relation: EdgeRelation, _ join: JoinTable, lost end: EdgeEnd, keys: KeyArray, limit: Int,
    goesNext: Bool = false
  ) throws -> Int {
    let (table, columns) = (relation.table(at: end), join.columns(at: end))
    let isOne = relation.isAny(at: end, keys.sql, of: join)
    let selection = Selection(
      row: "e",
      condition: """
        \(isOne) AND (\(goesNext) OR NOT EXISTS (
          SELECT FROM \(table.name) t WHERE \(columns.equal("e", table.key, "t"))))
        """, values: keys.values)
    return try unlink(
      relation, join, selection, as: end == .source ? .lost : .widowed, limit: limit)
  }

  /// Removes join rows, with the values of `$1`, `$2`, …; `what` is what follows, if anything does.
  /// What this batch has added, and a request removes, never was.
  package func unlink(
    _ relation: EdgeRelation, _ join: JoinTable, _ selection: Selection,
    as what: JournalSubject?, limit: Int = .max, isRequest: Bool = false
  ) throws -> Int {
    let went = try unlinkRows(relation, join, selection, as: what, limit, isRequest)
    let isEach = limit == .max && !skipsLocked
    if isEach || !join.hasNulls || went >= limit { return went }
    // A limit counts only rows that have both ends.
    var rest = self
    rest.skipsLocked = false
    let rows = selection.only(where: "NOT ((\(join.ends.contents("e"))) IS NOT NULL)")
    return try went + rest.unlinkRows(relation, join, rows, as: what, .max, isRequest)
  }

  private func unlinkRows(
    _ relation: EdgeRelation, _ join: JoinTable, _ selection: Selection,
    as what: JournalSubject?, _ limit: Int, _ isRequest: Bool
  ) throws -> Int {
    let was = isRequest ? "d.added <> \(batch)" : "true"
    let statement = """
      WITH d AS (\(delete(join.name, join.ends, selection, limit))),
      g AS (
        INSERT INTO cascade.work(what, subject, key, other, batch, is_manual)
        SELECT \(what?.rawValue ?? 0), \(relation.number), \(join.source.text("d")),
        \(join.destination.text("d")), \(batch), \(join.isManual("d"))
        FROM d WHERE \(what != nil) AND \(join.source.isComplete("d"))
        AND \(relation.isEdge(in: "d")) AND \(was)),
      k AS (INSERT INTO cascade.unlinked(batch, relation, row, shape)
        SELECT \(batch), \(relation.number), \(keptRow), \(shape(join.name)) FROM d)
      SELECT count(*) FROM d
      """
    return try store.writing(join.name) {
      try Int(store.db.run(statement, selection.values).integer ?? 0)
    }
  }

  // MARK: - Stored edges to files

  /// Deletes those that have one of these keys, where no row has it any more, or where it goes next. A
  /// trigger writes down the files. Returns how many went.
  func unlink(
    _ relation: FileRelation, _ keys: KeyArray, limit: Int, goesNext: Bool
  ) throws -> Int {
    guard let dangling = relation.sourceless else { return 0 }
    let isLost = goesNext ? "true" : dangling.condition
    return try unlink(
      relation,
      Selection(
        row: "e", condition: "\(dangling.isAny(keys.sql)) AND \(isLost)", values: keys.values),
      limit: limit)
  }

  package func unlink(
    _ relation: FileRelation, _ selection: Selection, limit: Int = .max
  ) throws -> Int {
    guard let stored = relation.stored else { return 0 }
    let ends = Columns(stored.source.all + [Columns.Column.path])
    return try Int(
      store.db.run(
        """
        WITH d AS (\(delete(stored.name, ends, selection, limit))),
        k AS (INSERT INTO cascade.unlinked(batch, relation, row)
          SELECT \(batch), \(relation.number), \(keptRow) FROM d)
        SELECT count(*) FROM d
        """, selection.values
      ).integer ?? 0)
  }
}
