internal import CascadeModel
package import CascadeSQLite
internal import CascadeStore
package import SQLiteBinding
internal import SQLiteTables
internal import SQLiteJournal
internal import SQLiteRules

/// Rule 64 in the application's rows: a row that survives the destination of its reference gets
/// null in its columns, or a list without the element.
extension Writer {
  func nullify(_ relation: EdgeRelation, _ slice: Slice, _ forms: [NumberForm]) throws {
    guard let table = relation.source.table else { return }
    let what = "\"\(relation.name)\" of \"\(relation.source.collection)\" cannot be set to null"
    let mayRefuse = binding.hasTriggers || !table.allowsNull(relation.columnsWithType)
    let numbers = current.numbers
    let losing = { relation.losingRows(of: table, forms, in: $0, numbers) }
    try attemptOrRefuse(slice, what, .missingMandatory, rows: losing) { slice in
      // The savepoint takes back the trash entries of rows that stay after all.
      current.counts.edgesRemoved +=
        mayRefuse
        ? try db.savepoint { try nullify(relation, of: table, losing(slice), slice) }
        : try nullify(relation, of: table, losing(slice), slice)
    }
  }

  private func nullify(
    _ relation: EdgeRelation, of table: Table, _ losing: [Query], _ slice: Slice
  ) throws -> Int {
    if keepsTrash { try trashReferences(of: relation, losing, slice) }
    let mark = try journalMark
    let count = try losing.reduce(0) { try $0 + nullify(relation, of: table, in: $1, slice) }
    for rows in losing { try refuseIfReferencesRemain(rows, of: table) }
    try unjournalOwnNulls(of: relation, slice, behind: mark)
    return count
  }

  /// Returns how many rows were written.
  func nullify(
    _ relation: EdgeRelation, of table: Table, in rows: Query, _ slice: Slice
  ) throws -> Int {
    let assignments = relation.nulledColumns("r", slice, current.numbers)
      .map { "\(quoted($0.column)) = \($0.value)" as Query }
    try db.run(
      """
      UPDATE OR ABORT main.\(quoted(table.name)) AS r SET \(assignments.joined(separator: ", "))
      WHERE \(table.identity("r")) IN (
        \(rows))
      """)
    return db.changes
  }
}

extension EdgeRelation {
  func nulledColumns(
    _ r: String, _ slice: Slice, _ numbers: NumberedTables
  ) -> [(column: String, value: Query)] {
    switch form {
    case .column(let columns, let type):
      columns.map { ($0, Query(emptyValue(of: $0))) }
        + (type.map { [($0.column, emptyType(r, columns, $0.column))] } ?? [])
    case .json(let column, let path):
      [
        (
          column,
          listWithoutGone(
            "\(r).\(quoted(column))", path,
            without: destination.isGoingReference(reference, numbers, where: slice.contains()))
        )
      ]
    case .join, .foreignKey: []
    }
  }

  /// The list without the elements that go, or null in place of a single value. An element that
  /// went before is kept: the node may exist again, or wait for the next plan.
  package func listWithoutGone(_ list: String, _ path: String, without condition: Query) -> Query {
    let path = memberPath(path, in: list)
    return """
      iif(json_type(\(list), \(path)) = 'array',
        json_set(\(list), \(path), json((
          SELECT json_group_array(\(element(of: list)))
          FROM json_each(\(list), \(path)) AS x
          WHERE NOT (\(isReference(element: "x"))
            AND \(condition))))),
        json_set(\(list), \(path), NULL))
      """
  }

  /// The element `x`, as it stands in the list.
  package func element(of list: String) -> String {
    """
    CASE WHEN x.type IN ('true', 'false') THEN json(x.type)
      WHEN x.type IN ('object', 'array') THEN json(x.value)
      WHEN typeof(x.value) = 'real' THEN json(\(list) -> x.fullkey) ELSE x.value END
    """
  }
}
