internal import CascadeModel
internal import CascadeSQLite
internal import CascadePlanning
internal import SQLiteBinding

/// The nodes that a demand is about, as rows of key, number and row. The number is the node's id in
/// `cascade_node`, if it has one. The row tells where the application's row is.
extension DemandQuery {
  var subjects: String {
    if let table = binding.collections[subject.collection] { return rows(of: table) }
    if subject.collection.hasPrefix(Destination.fileCollection) { return files }
    let touched = isOfAll ? "" : "(\(touchedNumbers)) AS t CROSS JOIN "
    let isOfType = subject.type.map { "AND n.type = \(literal($0))" } ?? ""
    return """
      SELECT n.key, n.id, NULL
      FROM \(touched)main.cascade_node AS n \(touched.isEmpty ? "" : "ON n.id = t.id")
      WHERE n.collection = \(number(ofCollection: subject.collection)) \(isOfType)
      \(andStays(numbered: "n.id"))
      """
  }

  private var isOfAll: Bool { if case .all = scope { true } else { false } }

  private func rows(of table: NodeTable) -> String {
    // The plus makes the key a plain value. As a column it would impose its affinity on the
    // comparison with `cascade_node`, and the index there could not be used.
    let columns = """
      SELECT +\(table.key("r")), \(table.number(ofKey: table.key("r"))), \(table.row("r"))
      """
    if isOfAll { return "\(columns) FROM \(table.rows) AS r WHERE \(table.isNode("r"))" }
    return """
      \(columns) FROM (\(touchedKeys)) AS t
      CROSS JOIN \(table.rows) AS r ON \(table.hasKey("r", "t.key"))
      \(andStays(table, "r"))
      """
  }

  /// Files. A file that only columns name has no row of its own.
  private var files: String {
    let number = """
      (SELECT i.id FROM main.cascade_node AS i
        WHERE i.collection = \(number(ofCollection: subject.collection)) AND i.key = t.key)
      """
    return "SELECT t.key, \(number), NULL FROM (\(isOfAll ? allFiles : touchedKeys)) AS t"
  }

  private var allFiles: String {
    let stored = """
      SELECT i.key AS key FROM main.cascade_node AS i
      WHERE i.collection = \(number(ofCollection: subject.collection))
      """
    let referred = incomingRelations.map { "SELECT \($0.destinationKey) \($0.all)" }
    return ([stored] + referred).joined(separator: " UNION ")
  }
}

// MARK: - What a transaction touched

/// Adding or removing an edge touches both of its ends, wherever the edge is stored.
extension DemandQuery {
  private var touchedKeys: String {
    ([keysOfTouched(subject.collection)] + sources + storedKeys)
      .joined(separator: " UNION ")
  }

  private var touchedNumbers: String {
    (["SELECT id FROM temp.touched"] + storedDestinations).joined(separator: " UNION ")
  }

  private func keysOfTouched(_ collection: String) -> String {
    let number = number(ofCollection: collection)
    return """
      SELECT k.key AS key FROM temp.touched AS t CROSS JOIN temp.known AS k ON k.id = t.id
      WHERE k.collection = \(number)
      UNION SELECT i.key FROM temp.touched AS t CROSS JOIN main.cascade_node AS i ON i.id = t.id
      WHERE i.collection = \(number)
      """
  }

  /// The sources of touched destinations. A destination that comes back is one more for the sources
  /// that refer to it in a join table. In a column it is the only destination, but it may now be of
  /// another type. Lists are not searched for it.
  private var sources: [String] {
    outgoingRelations.filter(countMayChange).map { relation in
      """
      SELECT \(relation.source.key("s"))
      FROM (\(keysOfTouched(relation.destination.collection))) AS t
      CROSS JOIN \(relation.sources(of: "t").dropFirst("FROM ".count))
      """
    }
  }

  private func countMayChange(_ relation: EdgeRelation) -> Bool {
    switch relation.form {
    case .join: true
    case .column, .typed: !isOfType(relation).isEmpty
    case .json, .foreignKey: false
    }
  }

  /// The destinations of touched sources. A source that was put again may now be of another type.
  private var storedDestinations: [String] {
    guard case .touchedDestinations = scope, let incoming else { return [] }
    return [
      """
      SELECT e.destination AS id FROM temp.touched AS t
      CROSS JOIN main.cascade_edge AS e ON e.source = t.id AND e.name = \(number(ofName: incoming))
      """
    ]
  }

  private var storedKeys: [String] {
    storedDestinations.map {
      """
      SELECT i.key FROM (\($0)) AS e CROSS JOIN main.cascade_node AS i ON i.id = e.id
      WHERE i.collection = \(number(ofCollection: subject.collection))
      """
    }
  }
}
