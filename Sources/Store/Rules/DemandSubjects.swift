internal import CascadeModel
internal import CascadeSQLite
/// Whom a demand is about: rows of key, number and row. The number is that of `cascade_node`, if
/// the node has one; the row is where the application's row is found.
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
      \(andIsLeft(numbered: "n.id"))
      """
  }

  private var isOfAll: Bool { if case .all = scope { true } else { false } }

  private func rows(of table: NodeTable) -> String {
    // Compared as a value: a column would impose its affinity on `cascade_node`, past its index.
    let columns = """
      SELECT +\(table.key("r")), \(table.number(ofKey: table.key("r"))), \(table.row("r"))
      """
    if isOfAll { return "\(columns) FROM \(table.rows) AS r WHERE \(table.isNode("r"))" }
    return """
      \(columns) FROM (\(touchedKeys)) AS t
      CROSS JOIN \(table.rows) AS r ON \(table.hasKey("r", "t.key"))
      \(andIsLeft(table, "r"))
      """
  }

  /// What only columns name has no row of its own.
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
    let referred = arriving.map { "SELECT \($0.reference) \($0.all)" }
    return ([stored] + referred).joined(separator: " UNION ")
  }
}

// MARK: - What a transaction touched

/// Whoever adds or removes an edge touches both of its ends, wherever it lives.
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

  /// A destination that comes back is one more for those that a join table says refer to it. In a
  /// column it is the only one, but may be of another type than before. Lists are not searched for it.
  private var sources: [String] {
    leaving.filter(countsAnew).map { place in
      """
      SELECT \(place.source.key("s"))
      FROM (\(keysOfTouched(place.destination.collection))) AS t
      CROSS JOIN \(place.sources(of: "t").dropFirst("FROM ".count))
      """
    }
  }

  private func countsAnew(_ place: Place) -> Bool {
    switch place.form {
    case .join: true
    case .column, .typed: !isOfType(place).isEmpty
    case .json, .foreignKey: false
    }
  }

  /// A source that was put again may be of another type now.
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
