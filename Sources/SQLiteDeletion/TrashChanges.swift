internal import CascadeModel
package import CascadeSQLite
package import SQLiteTables
internal import SQLiteRules

/// Keeps in the trash the references that surviving nodes lose, and rows that are not nodes.
extension Writer {
  /// Keeps the old and the new values of references in surviving rows, before they are set to null.
  /// `more` is bound to the parameters of `rows` behind the fifth.
  func trashReferences(
    of relation: EdgeRelation, _ rows: [String], _ slice: Slice, _ more: [Value] = []
  ) throws {
    guard case .mapped(let table, let key, _) = relation.source.kind else { return }
    let numbers = current.numbers
    let nulled = relation.nulledColumns("r", numbers, .inTrash)
    let columns = key.map(\.name) + nulled.map(\.column)
    if columns.count + nulled.count > TrashLayout.columnsPerPart { return }
    let layout = TrashLayout(
      kind: .change, collection: relation.source.id, subject: table.name, columns: columns,
      keys: key.count)
    let values = columns.map { "r.\(quoted($0))" } + nulled.map(\.value)
    let bound = slice.bound + [.integer(try lowestSideId())] + more
    try writeToTrash(layout, values: values, bound) { part, values in
      """
      SELECT ?1, ?5 - row_number() OVER (), \(part), ?2, NULL, NULL, NULL\(values)
      FROM main.\(quoted(table.name)) AS r WHERE \(table.identity("r")) IN (
        \(Table.union(rows)))
      """
    }
  }

  /// Keeps the references that the application's foreign keys will remove from rows that stay.
  func trashReferencesLostByForeignKeys(_ slice: Slice) throws {
    let followers = foreignKeyEffects()
    for follower in followers {
      guard let key = follower.lost else { continue }
      let going = followers.filter { $0.lost == nil && $0.table == follower.table }.map(\.rows)
      let isLeft = going.map { " AND \(follower.table.identity("r")) NOT IN (\($0))" }
      try trashReferences(of: key, follower, isLeft.joined(), slice)
    }
  }

  private func trashReferences(
    of key: Table.ForeignKey, _ follower: ForeignKeyEffect, _ isLeft: String, _ slice: Slice
  ) throws {
    let table = follower.table
    let collection = binding.collection(in: table)
    let names: [String?] = collection?.keyNames ?? table.primaryKey
    let identity =
      names.isEmpty
      ? table.identityWithoutKey(TrashLayout.columnsPerPart - 2 * key.columns.count) : names
    let layout = TrashLayout(
      kind: .change, collection: collection?.id, subject: table.name,
      columns: identity + key.columns, keys: identity.count)
    if layout.columns.count + key.columns.count > TrashLayout.columnsPerPart { return }
    let bound = try slice.bound + [.integer(lowestSideId())] + defaults(key, in: table)
    let values =
      layout.values(of: "r", in: table) + key.columns.indices.map { "?\($0 + 6)" }
    try writeToTrash(layout, values: values, bound) { part, values in
      """
      SELECT ?1, ?5 - row_number() OVER (), \(part), ?2, NULL, NULL, NULL\(values)
      FROM main.\(quoted(table.name)) AS r
      WHERE \(table.identity("r")) IN (\(follower.rows))\(isLeft)
      """
    }
  }

  /// The values that the foreign key sets its columns to.
  private func defaults(_ key: Table.ForeignKey, in table: Table) throws -> [Value] {
    try key.columns.map { name in
      guard key.onDelete == .setDefault, let column = table.column(name) else { return .null }
      return try defaultValue(column)
    }
  }

  /// The same for a managed object, before its new value is written.
  func trashValue(of id: Int64, becoming value: String) throws {
    if model.trash <= .zero { return }
    let layout = TrashLayout(kind: .value, columns: ["id", "value", "value"])
    let bound: [Value] = [.integer(id), .text(value), .integer(try lowestSideId())]
    try writeToTrash(layout, values: ["n.id", "n.value", "?4"], bound) { part, values in
      """
      SELECT ?1, ?5 - 1, \(part), ?2, NULL, NULL, NULL\(values)
      FROM main.cascade_node AS n WHERE n.id = ?3
      """
    }
  }
}

extension Table {
  /// Identifies a row of a table without a key: by its rowid, and by the values of the columns that
  /// foreign keys do not change. Another row may have the rowid later, but rarely has the same
  /// values too.
  fileprivate func identityWithoutKey(_ most: Int) -> [String?] {
    let taken = foreignKeys.filter(\.onDelete.clearsReference).flatMap(\.columns).map(\.folded)
    let values = columns.filter { !$0.isGenerated && !taken.contains($0.name.folded) }.map(\.name)
    return [nil] + values.prefix(max(most - 1, 0)).map(Optional.some)
  }
}

// MARK: - Rows that are not nodes

extension Writer {
  /// Keeps join rows, and rows that go by foreign keys which no rule examines.
  func trashSideRows(_ slice: Slice) throws {
    var relations: [Table: [String]] = [:]
    for relation in binding.edgeRelations {
      guard let (table, ends) = binding.joinRowsWithoutNodes(of: relation),
        !current.keepsReferencesUntilGone(relation, binding)
      else {
        continue
      }
      relations[table, default: []] += ends.flatMap {
        table.joinRows($0.end, other: $0.other, slice, current.numbers, .inTrash)
      }
    }
    for follower in foreignKeyEffects() where follower.lost == nil {
      relations[follower.table, default: []].append(follower.rows)
    }
    for (table, rows) in relations.sorted(by: { $0.key.name < $1.key.name }) {
      try trashSideRows(of: table, rows.unique, slice)
    }
  }

  func trashSideRows(
    of table: Table, _ rows: [String], _ slice: Slice, _ more: [Value] = []
  ) throws {
    let layout = TrashLayout(.side, table)
    let bound = slice.bound + [.integer(try lowestSideId())] + more
    try writeToTrash(layout, values: layout.values(of: "r", in: table), bound) { part, values in
      """
      SELECT ?1, ?5 - row_number() OVER (), \(part), ?2, NULL, NULL, NULL\(values)
      FROM main.\(quoted(table.name)) AS r WHERE \(table.identity("r")) IN (
        \(Table.union(rows)))
      """
    }
  }

  /// The value of a column that a change does not give. The default is evaluated alone, where names
  /// of columns have no meaning.
  package func defaultValue(_ column: Table.Column) throws -> Value {
    guard let expression = column.initial else { return .null }
    do {
      return try db.all(generated: "SELECT (\(expression)\n)") { $0.value(0) }[0]
    } catch {
      // `DEFAULT word` is the text 'word'.
      return .text(expression)
    }
  }
}
