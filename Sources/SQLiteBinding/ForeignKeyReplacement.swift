internal import CascadeModel
internal import CascadeSQLite

/// A sweep in steps works without SQLite's foreign keys, because it deletes causes before their
/// consequences. The rules see what the foreign keys would do or refuse. Each step handles the rows
/// that follow outside of the model (`Writer.applyForeignKeyEffects`).
extension Binding {
  /// A foreign key, with the names of its tables in lower case.
  typealias SchemaForeignKey = (child: String, parent: String, onDelete: Table.ForeignKey.Action)

  /// Whether the rules and the steps of a sweep can do all that the foreign keys would do.
  func canReplaceForeignKeys(for keys: [SchemaForeignKey]) -> Bool {
    let (nodes, joins) = (nodeNames, joinNames)
    func leadsToNode(_ key: Table.ForeignKey) -> Bool { nodes.contains(key.parent.folded) }
    return !keys.contains { joins.contains($0.parent) }
      && nodes.allSatisfy { canPredictFollowing(keys, from: $0, inModel: nodes.union(joins), [$0]) }
      && collections.values.allSatisfy { child in
        // The rules see what the key does.
        child.table!.foreignKeys.filter(leadsToNode).allSatisfy {
          parent(of: $0) != nil && ($0.onDelete != .setDefault || nullifies($0, of: child))
        }
      }
      && joinTables.allSatisfy { table in
        table.foreignKeys.filter(leadsToNode).allSatisfy { isJoinKeyToEnd($0, of: table) }
      }
  }

  /// Whether rows outside of the model may refuse a deletion that is not checked beforehand.
  func canBeHeldOutsideModel(_ keys: [SchemaForeignKey]) -> Bool {
    let (nodes, joins) = (nodeNames, joinNames)
    let parents = nodes.union(
      foreignKeyPlan.followingTables.map { foreignKeyPlan.tables[$0].name.folded })
    let covered = Set(holdsOutsideModel.map { $0.child.name.folded })
    return keys.contains { key in
      parents.contains(key.parent) && (key.onDelete.blocksDeletion || key.onDelete == .setDefault)
        && !nodes.contains(key.child) && !joins.contains(key.child)
        && !(covered.contains(key.child) && nodes.contains(key.parent))
    }
  }

  /// The names of the tables of nodes, in lower case.
  var nodeNames: Set<String> {
    Set(collections.values.compactMap { $0.table?.name.folded })
  }
  var joinNames: Set<String> { Set(joinTables.map(\.name.folded)) }

  private func nullifies(_ key: Table.ForeignKey, of child: NodeTable) -> Bool {
    edgeRelations.contains { $0.source == child && $0.nullifies(key) }
  }

  /// Whether the rules do what the foreign key would.
  package func rulesReplace(for follower: ForeignKeyEffect) -> Bool {
    guard let child = collection(in: follower.table) else { return false }
    return follower.lost.map { nullifies($0, of: child) } ?? true
  }

  /// Whether it is known beforehand what follows a row of `parent` outside of the model, and what
  /// refuses: no keys lead back through other tables.
  private func canPredictFollowing(
    _ keys: [SchemaForeignKey], from parent: String, inModel: Set<String>, _ visited: Set<String>
  ) -> Bool {
    keys.filter { $0.parent == parent }.allSatisfy { key in
      if inModel.contains(key.child) { return inModel.contains(parent) }
      if key.onDelete == .setNull || isCheckedBeforehand(key) { return true }
      if key.onDelete != .cascade { return false }
      if key.child == parent { return true }
      return !visited.contains(key.child)
        && canPredictFollowing(keys, from: key.child, inModel: inModel, visited.union([key.child]))
    }
  }

  /// Whether the rules check beforehand what the key refuses.
  private func isCheckedBeforehand(_ key: SchemaForeignKey) -> Bool {
    holdsOutsideModel.contains {
      $0.child.name.folded == key.child && $0.key.refers(to: key.parent)
        && $0.key.onDelete == key.onDelete
    }
  }

  /// Join tables whose rows are edges, and nothing else.
  var joinTables: Set<Table> {
    Set(edgeRelations.filter { !hasNodesAsRows($0) }.compactMap(\.joinTable))
  }

  /// Whether the rules delete a join row with its parent.
  func isJoinKeyToEnd(_ key: Table.ForeignKey, of table: Table) -> Bool {
    edgeRelations.contains { relation in
      guard case .join(table, let source, let destination) = relation.form,
        !hasNodesAsRows(relation),
        let parent = parent(of: key), let columns = parent.columns(of: key)?.map(\.folded)
      else { return false }
      return parent == relation.source && columns == source.map(\.folded)
        || parent == relation.destination && columns == destination.map(\.folded)
    }
  }
}

extension Connection {
  func foreignKeys() throws(SQLiteError) -> [Binding.SchemaForeignKey] {
    try all(
      """
      SELECT DISTINCT lower(t.name), lower(f."table"), f.on_delete
      FROM pragma_table_list AS t, pragma_foreign_key_list(t.name, 'main') AS f
      WHERE t.schema = 'main' AND t.type = 'table'
      """
    ) { (child: $0.text(0), parent: $0.text(1), onDelete: $0.action(2)) }
  }
}
