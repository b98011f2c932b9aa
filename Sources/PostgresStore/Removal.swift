internal import CascadeModel
internal import CascadePostgres

/// Deletes rows, and writes in the same statement what follows from it: their names, with the row
/// if it is kept, and the edges that they lose.
struct Removal {
  let store: StoreConnection
  let batch: Int64

  /// Which rows, in terms of the row `x`, with the values of `$1`, `$2`, …
  struct Selection {
    var condition: String
    var values: [String?] = []
  }

  /// Why they go. `other` is the key of the node at the other end, in terms of the row `d`.
  struct Cause {
    let rule: Rules
    let relation: ColumnRelation
    let other: String
  }

  /// How many rows went, and how many edges with them. Not more than `limit`.
  struct Count {
    var rows = 0
    var edges = 0
  }

  func delete(
    from table: MappedTable, _ selection: Selection, because cause: Cause?, limit: Int
  ) throws -> Count {
    let row = try store.db.run(sql(table, selection.condition, cause, limit), selection.values)
      .rows[0]
    return Count(rows: Int(row[0]!)!, edges: Int(row[1] ?? "0")!)
  }

  private func sql(
    _ table: MappedTable, _ condition: String, _ cause: Cause?, _ limit: Int
  ) -> String {
    let edges = store.binding.relations(from: table)
    let count = edges.map { "(d.\($0.column) IS NOT NULL)::int" }
    return """
      WITH d AS (
        DELETE FROM \(table.name) x WHERE x.\(table.key) IN (
          SELECT x.\(table.key) FROM \(table.name) x WHERE \(condition) LIMIT \(limit))
        AND \(condition) RETURNING x.*),
      g AS (
        INSERT INTO cascade.journal(what, subject, key, batch)
        SELECT \(JournalSubject.gone.rawValue), \(table.number), d.\(table.key)::text, \(batch)
        FROM d),
      k AS (\(kept(table, cause)))\(edges.compactMap { lost($0) }.joined())
      SELECT count(*), sum(\((["0"] + count).joined(separator: " + "))) FROM d
      """
  }

  private func kept(_ table: MappedTable, _ cause: Cause?) -> String {
    let row = store.model.trash > .zero ? "d::text" : "NULL"
    let why =
      cause.map { "\($0.rule.rawValue), \($0.relation.number), \($0.other)" }
      ?? "NULL, NULL, NULL"
    return """
      INSERT INTO cascade.deleted(batch, collection, key, is_own, row, rule, via, other)
      SELECT \(batch), \(table.number), d.\(table.key)::text, true, \(row), \(why) FROM d
      """
  }

  private func lost(_ relation: ColumnRelation) -> String? {
    if relation.rules.isDisjoint(with: .losingSource) { return nil }
    return """
      , e\(relation.number) AS (
        INSERT INTO cascade.journal(what, subject, key, other, batch)
        SELECT \(JournalSubject.lost.rawValue), \(relation.number),
        d.\(relation.source.key)::text, d.\(relation.column)::text, \(batch)
        FROM d WHERE d.\(relation.column) IS NOT NULL)
      """
  }

  /// What a sweep was told to leave.
  static func isNotBlocked(_ table: MappedTable, _ binding: Binding) -> String {
    if !binding.denies { return "true" }
    return """
      NOT EXISTS (SELECT FROM cascade.blocked b
        WHERE b.collection = \(table.number) AND b.key = x.\(table.key)::text)
      """
  }
}
