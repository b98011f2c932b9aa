internal import CascadeModel
package import CascadeSQLite
package import SQLiteBinding
package import SQLiteTables
internal import SQLiteRules

/// Keeps in the trash the references that surviving nodes lose, and rows that are not nodes.
extension Writer {
  /// Keeps the old and the new values of references in surviving rows, before they are set to null.
  func trashReferences(of relation: EdgeRelation, _ rows: [Query], _ slice: Slice) throws {
    guard case .mapped(let table, let key, _) = relation.source.kind else { return }
    let nulled = relation.nulledColumns("r", slice, current.numbers)
    let columns = key.map(\.name) + nulled.map(\.column)
    if columns.count + nulled.count > TrashLayout.columnsPerPart { return }
    let layout = TrashLayout(
      kind: .change, collection: relation.source.id, subject: table.name, columns: columns,
      types: table.types(of: columns), keys: key.count)
    let values = columns.map { "r.\(quoted($0))" as Query } + nulled.map(\.value)
    try writeToTrash(
      layout, id: try sideId, values: values, from: TrashLayout.rows(of: table, Table.union(rows)))
  }

  /// Numbers the entries that are not nodes. Their ids are above those of all nodes, and count
  /// down.
  private var sideId: Query {
    get throws {
      "\(bind: try db.lastSideId(of: current.batch)) - row_number() OVER ()"
    }
  }

  /// Keeps the references that the application's foreign keys will remove from rows that stay.
  func trashReferencesLostByForeignKeys(_ slice: Slice) throws {
    let followers = foreignKeyEffects()
    for follower in followers {
      guard let key = follower.lost else { continue }
      let going = followers.filter { $0.lost == nil && $0.table == follower.table }.map {
        $0.rows(slice)
      }
      let isLeft = going.map { " AND \(follower.table.identity("r")) NOT IN (\($0))" as Query }
      try trashReferences(of: key, follower, isLeft.joined(separator: ""), slice)
    }
  }

  private func trashReferences(
    of key: Table.ForeignKey, _ follower: ForeignKeyEffect, _ isLeft: Query, _ slice: Slice
  ) throws {
    let table = follower.table
    let collection = binding.collection(in: table)
    let names: [String?] = collection?.keyNames ?? table.primaryKey
    let identity =
      names.isEmpty
      ? table.identityWithoutKey(TrashLayout.columnsPerPart - 2 * key.columns.count) : names
    let layout = TrashLayout(
      kind: .change, collection: collection?.id, subject: table.name,
      columns: identity + key.columns, types: table.types(of: identity + key.columns),
      keys: identity.count)
    if layout.columns.count + key.columns.count > TrashLayout.columnsPerPart { return }
    // The values that the foreign key sets its columns to.
    let defaults = try key.columns.map { name -> Query in
      guard key.onDelete == .setDefault, let column = table.column(name) else { return "NULL" }
      return "\(bind: try defaultValue(column))"
    }
    let rows = TrashLayout.rows(of: table, follower.rows(slice))
    try writeToTrash(
      layout, id: try sideId, values: layout.values(of: "r", in: table) + defaults,
      from: "\(rows)\(isLeft)")
  }

  /// The same for a managed object, before its new value is written.
  func trashValue(of id: Int64, becoming value: String) throws {
    if !keepsTrash { return }
    let layout = TrashLayout(kind: .value, columns: ["id", "value", "value"])
    try writeToTrash(
      layout, id: try sideId, values: ["n.id", "n.value", "\(bind: .text(value))"],
      from: "main.cascade_node AS n WHERE n.id = \(bind: id)")
  }

  // MARK: - Rows that are not nodes

  /// Keeps join rows, and rows that go by foreign keys which no rule examines.
  func trashSideRows(_ slice: Slice) throws {
    var relations: [Table: [Query]] = [:]
    for relation in binding.edgeRelations
    where !current.keepsReferencesUntilGone(relation, binding) {
      guard let (table, rows) = binding.goingJoinRows(of: relation, slice, current.numbers)
      else { continue }
      relations[table, default: []] += rows
    }
    for follower in foreignKeyEffects() where follower.lost == nil {
      relations[follower.table, default: []].append(follower.rows(slice))
    }
    for (table, rows) in relations.sorted(by: { $0.key.name < $1.key.name }) {
      try trashSideRows(of: table, rows.unique)
    }
  }

  func trashSideRows(of table: Table, _ rows: [Query]) throws {
    let layout = TrashLayout(.side, table)
    try writeToTrash(
      layout, id: try sideId, values: layout.values(of: "r", in: table),
      from: TrashLayout.rows(of: table, Table.union(rows)))
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

extension TrashLayout {
  /// The rows `r` of the table that are identified by the query.
  fileprivate static func rows(of table: Table, _ identities: Query) -> Query {
    """
    main.\(quoted(table.name)) AS r WHERE \(table.identity("r")) IN (
      \(identities))
    """
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
