internal import CascadeModel
internal import CascadeSQLite
internal import CascadeEngine
package import SQLiteBinding
internal import SQLiteTables

/// The statement that checks a demand. It finds the nodes with too few or too many distinct nodes
/// at the other ends of their edges, wherever the edges are stored.
///
/// The text refers to collections and edge names by name, not by number: a number may be taken back
/// by a rollback.
package struct DemandQuery: Sendable {
  let subject: Demand.Other
  var outgoing: String?
  var incoming: String?
  let others: [Demand.Other]
  let binding: Binding
  let scope: Scope

  package enum Scope: Sendable {
    /// The nodes in `temp.touched`.
    case touched
    /// The nodes in `temp.touched`, and the destinations of sources among them.
    case touchedDestinations
    /// The nodes in `temp.touched` that are left once all of `temp.gone` is deleted.
    case stayingNodes(NumberedTables)
    case all
  }

  /// Returns rows of key and count, for counts from ?1 up to ?2 and counts above ?3; at most ?4
  /// rows.
  var text: String {
    // The LIMIT keeps SQLite from merging the outer query into the inner one, which would count
    // twice.
    """
    WITH \((lists + ["n(key, id, row) AS (\(subjects))"]).joined(separator: ", "))
    SELECT key, others FROM (
      SELECT n.key AS key, (SELECT count(*) FROM (\(ends.joined(separator: " UNION ")))) AS others
      FROM n LIMIT -1
    ) WHERE others BETWEEN ?1 AND ?2 OR others > ?3 LIMIT ?4
    """
  }

  /// The collection and the key of each node at the other end.
  private var ends: [String] {
    let ends = storedEnds + outgoingRelations.map(destinations) + incomingRelations.map(sources)
    return ends.count > 1 ? ends : ends.map { "SELECT DISTINCT c, k FROM (\($0))" }
  }

  var outgoingRelations: [EdgeRelation] { relations(outgoing, from: .source) }
  var incomingRelations: [EdgeRelation] { relations(incoming, from: .destination) }

  private func relations(_ name: String?, from end: EdgeEnd) -> [EdgeRelation] {
    binding.edgeRelations.filter { relation in
      relation.name == name && relation[end].collection == subject.collection
        && others.contains { $0.collection == relation[end.other].collection }
    }
  }

  /// A further condition on a row of the table: in the scope `left`, only nodes that stay are
  /// counted and judged.
  func andStays(_ table: NodeTable, _ alias: String) -> String {
    guard case .stayingNodes(let numbers) = scope, table.kind != .files else { return "" }
    return "AND \(table.isNotListed("temp.gone", alias, numbers))"
  }

  /// The same for a row of `cascade_node`.
  func andStays(numbered id: String) -> String {
    if case .stayingNodes = scope { "AND \(id) NOT IN (SELECT id FROM temp.gone)" } else { "" }
  }

  // MARK: - Other ends

  private var storedEnds: [String] {
    EdgeEnd.allCases.compactMap { end in
      (end == .source ? outgoing : incoming).map { name in
        """
        SELECT o.collection AS c, o.key AS k
        FROM main.cascade_edge AS e CROSS JOIN main.cascade_node AS o ON o.id = e.\(end.other)
        WHERE e.\(end) = n.id AND e.name = \(number(ofName: name)) \(andStays(numbered: "o.id"))
        AND (\(others.map(isOther).joined(separator: " OR ")))
        """
      }
    }
  }

  /// Whether the node `o` is of this collection and type, and exists.
  private func isOther(_ other: Demand.Other) -> String {
    var conditions = ["o.collection = \(number(ofCollection: other.collection))"]
    if let type = other.type { conditions.append("o.type = \(literal(type))") }
    if let table = binding.collections[other.collection] {
      conditions.append(table.hasRow(withKey: "o.key"))
    }
    return conditions.joined(separator: " AND ")
  }

  private func destinations(_ relation: EdgeRelation) -> String {
    """
    SELECT \(relation.destination.id) AS c, \(relation.destinationKey) AS k
    FROM \(relation.source.rows) AS s \(relation.references) \(relation.destinationRow)
    WHERE \(relation.source.isRow("s", of: "n")) AND \(relation.isEdge) \(isOfType(relation))
    \(andStays(relation.destination, "d"))
    """
  }

  /// Whether the destination `d` is of a type that counts.
  func isOfType(_ relation: EdgeRelation) -> String {
    let types = others.filter { $0.collection == relation.destination.collection }.map(\.type)
    if types.contains(nil) { return "" }
    return "AND d.type IN (\(types.map { literal($0 ?? "") }.joined(separator: ", ")))"
  }

  private func sources(_ relation: EdgeRelation) -> String {
    if relation.isInLists {
      let list = listName(relation)
      return "SELECT \(relation.source.id) AS c, k FROM \(list) WHERE \(list).reference = n.key"
    }
    return """
      SELECT \(relation.source.id) AS c, \(relation.source.key("s")) AS k FROM \(relation.sources(of: "n"))
      \(andStays(relation.source, "s"))
      """
  }

  /// No index leads to the elements of JSON lists. The lists of a relation are read once, when they
  /// are first needed.
  private var lists: [String] {
    incomingRelations.filter(\.isInLists).map { relation in
      """
      \(listName(relation))(k, reference) AS MATERIALIZED (
        SELECT \(relation.source.key("s")), \(relation.reference.value) \(relation.all)
        \(andStays(relation.source, "s")))
      """
    }
  }

  private func listName(_ relation: EdgeRelation) -> String {
    "list_\(incomingRelations.firstIndex(of: relation) ?? 0)"
  }

  /// The nodes that a demand is about, as rows of key, number and row. The number is the node's id in
  /// `cascade_node`, if it has one. The row tells where the application's row is.
  var subjects: String {
    if let table = binding.collections[subject.collection] { return rows(of: table) }
    if subject.collection.hasPrefix(Destination.fileCollection) { return files }
    let numbers = ["SELECT id FROM temp.touched"] + storedDestinations
    let touched = isOfAll ? "" : "(\(numbers.joined(separator: " UNION "))) AS t CROSS JOIN "
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

  // MARK: - What a transaction touched

  /// Adding or removing an edge touches both of its ends, wherever the edge is stored.
  private var touchedKeys: String {
    ([keysOfTouched(subject.collection)] + sources + storedKeys)
      .joined(separator: " UNION ")
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
      CROSS JOIN \(relation.sources(of: "t"))
      """
    }
  }

  private func countMayChange(_ relation: EdgeRelation) -> Bool {
    switch relation.form {
    case .join: true
    case .column: !isOfType(relation).isEmpty
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

func number(ofName name: String) -> String {
  "(SELECT id FROM main.cascade_name WHERE name = \(literal(name)))"
}

func number(ofCollection name: String) -> String {
  "(SELECT id FROM main.cascade_collection WHERE name = \(literal(name)))"
}
