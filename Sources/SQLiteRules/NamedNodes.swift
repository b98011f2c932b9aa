internal import CascadeModel
package import CascadeSQLite
package import CascadeStore
package import SQLiteBinding
internal import SQLiteTables

/// The nodes with which a job begins. They are put into `temp.unreachable_nodes`: nothing but the job is
/// their reason.
extension Connection {
  package func findNodes(
    of subject: DeletionJob.Subject, _ binding: Binding, _ numbers: NumberedTables
  ) throws {
    switch subject {
    case .nodes(let nodes): for node in nodes { try stageNode(node, binding, numbers) }
    case .rows(let collection, let condition):
      try stageRows(of: collection, where: condition, binding, numbers)
    case .overdue(let overdue):
      let rows = try overdueRows(overdue, binding)
      try stageRows(of: rows.table, numbers, where: rows.condition)
    case .marks: break
    }
    try numberFound()
    try run(
      """
      INSERT OR IGNORE INTO temp.unreachable_nodes
      SELECT id, collection FROM temp.staged WHERE id IS NOT NULL
      """)
    try clearFound()
  }

  /// Whether a row `d` is one of those with which a job begins, as SQL; nil if they were named.
  package func isMeant(
    by subject: DeletionJob.Subject, _ binding: Binding
  ) throws -> (table: NodeTable, condition: String)? {
    switch subject {
    case .nodes, .marks: return nil
    case .rows(let collection, let condition):
      return binding.collections[collection].map { ($0, "(\(condition))") }
    case .overdue(let overdue):
      let rows = try overdueRows(overdue, binding)
      return (rows.table, rows.condition)
    }
  }

  private func stageNode(
    _ node: Node, _ binding: Binding, _ numbers: NumberedTables
  ) throws {
    guard case .mapped = binding.model.collections[node.collection] else {
      return try stageObjects(of: node.collection, where: "d.key = ?2", node.key.managedText)
    }
    guard let table = binding.collections[node.collection], let key = table.stored(node.key) else {
      return
    }
    try run(
      generated: """
        INSERT INTO temp.staged(id, key, row, collection)
        SELECT \(table.numberKeyAndRow("d", numbers)), \(table.id) FROM \(table.rows) AS d
        WHERE \(table.hasKey("d", "?1"))
        """, [key])
  }

  private func stageRows(
    of collection: String, where condition: String, _ binding: Binding, _ numbers: NumberedTables
  ) throws {
    try validate(condition, on: collection, binding)
    guard let table = binding.collections[collection] else {
      return try stageObjects(of: collection, where: "(\(condition))", nil)
    }
    try stageRows(of: table, numbers, where: "(\(condition))")
  }

  /// The condition may read and compute, and nothing else, and stays one expression.
  package func validate(_ condition: String, on collection: String, _ binding: Binding) throws {
    try IllegalCondition.refuse(unlessExpression: condition)
    do {
      let rows = binding.collections[collection]?.rows ?? "main.cascade_node"
      try validate(guarded: "SELECT 1 FROM \(rows) AS d WHERE (\(condition))")
    } catch {
      throw IllegalCondition(reason: error.message)
    }
  }

  private func stageObjects(
    of collection: String, where condition: String, _ key: String?
  ) throws {
    try run(
      generated: """
        INSERT INTO temp.staged(id, collection)
        SELECT d.id, d.collection FROM main.cascade_node AS d
        WHERE d.collection = (SELECT id FROM main.cascade_collection WHERE name = ?1)
        AND ?2 IS ?2 AND \(condition)
        """, [.text(collection), .text(key)])
  }
}
