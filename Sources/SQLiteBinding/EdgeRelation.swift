package import CascadeModel
package import CascadeSQLite

/// Edges in the application's own tables: a relationship of the model, or one of the targets of a
/// polymorphic one, bound to existing columns.
///
/// In the SQL, `s` is a row of the source, `d` one of the destination, `j` of the join table, `x`
/// an element of a JSON list; `reference` is what names the destination.
package struct EdgeRelation: Hashable, Sendable {
  package let name: String
  package let nameId: Int64
  package let rules: Rules
  package let kind: EdgeKind
  package let source: NodeTable
  package internal(set) var destination: NodeTable
  /// All tables that the same reference may lead to, where no type says which
  /// (`UntypedReferences.swift`). The destination is one of them.
  package internal(set) var alternatives: [NodeTable] = []
  package var form: Form
  /// The relationship in the model; nil for a foreign key of the application's.
  package let relationship: Relationship?

  package enum Form: Hashable, Sendable {
    /// The columns of a reference, in the order of the key that it names. Of a polymorphic
    /// reference, each type has a relation of its own.
    case column([String], type: PolymorphicType? = nil)
    case join(Table, source: [String], destination: [String])
    /// A list or a single value at a path within a JSON column.
    case json(column: String, path: String)
    /// A foreign key to columns other than the destination's key.
    case foreignKey(Table.ForeignKey)
  }

  package var reference: Reference {
    switch form {
    case .column(let columns, _): Reference(columns, of: "s", in: source.table)
    case .join(let table, _, let columns): Reference(columns, of: "j", in: table)
    case .json: Reference(destination.asKey("x.value"))
    case .foreignKey(let key):
      Reference(
        "(SELECT \(destination.key("p")) FROM \(destination.rows) AS p WHERE \(matches(key)))")
    }
  }

  /// What names the source in a join row `j`.
  package var sourceReference: Reference? {
    guard case .join(let table, let columns, _) = form else { return nil }
    return Reference(columns, of: "j", in: table)
  }

  /// The condition that joins the rows `s` and `p` of both ends.
  private func matches(_ key: Table.ForeignKey) -> String {
    key.matches("s", "p", destination.table!)
  }

  /// What to join to the source row `s` to get its references, and on which condition.
  package var references: String {
    switch form {
    case .column, .foreignKey: ""
    case .join(let table, let columns, _):
      "CROSS JOIN main.\(quoted(table.name)) AS j "
        + "ON \(source.hasKey("s", Reference(columns, of: "j", in: table)))"
    case .json(let column, let path):
      elements(of: "s.\(quoted(column))", at: path)
    }
  }

  package func elements(of value: String, at path: String, as x: String = "x") -> String {
    let path = memberPath(path, in: value)
    return """
      CROSS JOIN json_each(iif(json_valid(\(value)) AND json_type(\(value), \(path)) <> 'object',
        \(value), 'null'), \(path)) AS \(x)
      """
  }

  /// The condition under which such a row is an edge.
  package var isEdge: String {
    switch form {
    case .column(_, let type?): "\(isReference(reference)) AND \(type.isOfRow("s"))"
    case .column, .join, .foreignKey: isReference(reference)
    case .json: isReference(element: "x")
    }
  }

  /// Whether the values of the referring columns name a node: all of them have to.
  package func isReference(_ reference: Reference) -> String {
    reference.values.indices.map { isPart(reference.values[$0], reference.columns[$0], at: $0) }
      .joined(separator: " AND ") + isSome(reference)
  }

  /// Whether a value may be this part of a key of the destination. A column without a type keeps
  /// numbers as numbers, which are not texts for SQLite.
  private func isPart(_ value: String, _ column: Table.Column?, at index: Int) -> String {
    switch destination.kind {
    case .managed: return "typeof(\(value)) IN ('text', 'integer')"
    case .files: return "typeof(\(value)) IN ('text', 'blob', 'integer')"
    case .mapped: break
    }
    guard column?.affinity == .blob, case .mapped(_, let key, _) = destination.kind,
      key[index].affinity == .text
    else { return "\(value) IS NOT NULL" }
    return "typeof(\(value)) IN ('text', 'blob')"
  }

  package var referringTable: Table? { joinTable ?? source.table }

  package var joinTable: Table? { if case .join(let table, _, _) = form { table } else { nil } }

  /// The names of the columns that contain them; empty for lists and for `.foreignKey`.
  package var referringColumns: [String] {
    switch form {
    case .column(let columns, _), .join(_, _, let columns): columns
    case .json, .foreignKey: []
    }
  }

  /// The edges that have a node of `driver` at this end. Gives rows of the driver, of m (the node),
  /// and of the other end, s or d, if it exists.
  package func edges(
    at end: EdgeEnd, in driver: StartingNodes, _ numbered: NumberForm, _ numbers: NumberedTables
  ) -> Query {
    let edges =
      end == .source
      ? edgesFromSources(in: driver, numbered) : edgesToDestinations(in: driver, numbered, numbers)
    return driver.condition.map { "\(edges) AND \($0)" } ?? edges
  }

  /// The edges whose source is a node of `driver`. Gives rows of the driver, of m (the source), of
  /// the references, and, if requested, of their destinations `d` that exist. The edges in a row
  /// are deleted with the row; join rows remain after their source is gone.
  package func edgesFromSources(
    in driver: StartingNodes, _ numbered: NumberForm, withDestinations: Bool = true
  ) -> Query {
    let edges =
      if let sourceReference, let table = referringTable {
        "CROSS JOIN main.\(quoted(table.name)) AS j "
          + "ON \(source.isReferenceToNode(by: sourceReference, numbered))"
      } else {
        "CROSS JOIN \(source.rows) AS s ON \(source.isRow("s", of: "m", numbered)) \(references)"
      }
    return """
      FROM \(driver.rows) CROSS JOIN \(source.node(numbered, driver.id))
      \(edges) \(withDestinations ? destinationRow : "") WHERE \(isEdge)
      """
  }

  /// The edges whose destination is a node of `driver`. Gives rows of the driver, of m (the
  /// destination), of s and of the references.
  package func edgesToDestinations(
    in driver: StartingNodes, _ numbered: NumberForm, _ numbers: NumberedTables
  ) -> Query {
    let node: Query = "FROM \(driver.rows) CROSS JOIN \(destination.node(numbered, driver.id))"
    let match = destination.isReferenceToNode(by: reference, numbered)
    switch form {
    case .column, .join:
      return "\(node) CROSS JOIN \(sources(where: match)) AND \(source.isNode("s", numbers))"
    case .foreignKey(let key):
      return """
        \(node) CROSS JOIN \(destination.rows) AS p ON \(destination.isRow("p", of: "m", numbered))
        CROSS JOIN \(source.rows) AS s ON \(matches(key)) WHERE \(source.isNode("s", numbers))
        """
    case .json:
      return edgesToDestinationsInLists(driver, numbered, numbers)
    }
  }

  /// No index helps: the lists are scanned once for all nodes, or were scanned before.
  private func edgesToDestinationsInLists(
    _ driver: StartingNodes, _ numbered: NumberForm, _ numbers: NumberedTables
  ) -> Query {
    if driver.hasLists {
      return """
        FROM \(driver.rows) CROSS JOIN temp.list_references AS l
          ON l.relation = \(literal(listedName)) AND l.destination = \(driver.id)
        CROSS JOIN \(source.rows) AS s ON \(source.isListed("s", "l.row")) \(references)
        CROSS JOIN \(destination.node(numbered, driver.id))
        WHERE \(isEdge) AND \(destination.isReferenceToNode(by: reference, numbered))
          AND \(source.isNode("s", numbers))
        """
    }
    let node: Query
    switch numbered {
    case .byKey:
      node = """
        \(destination.nodes) AS m ON m.id > 0 AND m.collection = \(destination.id)
          AND \(destination.keyEqualsReference("m.key", by: reference.value))
        CROSS JOIN \(driver.rows) ON \(driver.id) = m.id
        """
    case .byRowid:
      node = """
        \(destination.rows) AS m ON \(destination.hasKey("m", reference))
        CROSS JOIN \(driver.rows) ON \(driver.id) = \(destination.numberBase ?? 0) + \(destination.row("m"))
        """
    }
    let sources =
      driver.onlyWrittenLists
      ? "main.cascade_list_write AS w CROSS JOIN \(source.rows) AS s ON w.collection = \(source.id) "
        + "AND \(source.hasKey("s", "w.key"))" : "\(source.rows) AS s"
    return """
      FROM \(sources) \(references)
      CROSS JOIN \(node) WHERE \(isEdge) AND \(source.isNode("s", numbers))
      """
  }

  /// A table of node numbers to start from. Its rows are called g.
  package struct StartingNodes {
    package let rows: Query
    package let id: String
    /// Which of the rows; nil: all.
    package private(set) var condition: Query?
    /// The lists that refer to these nodes are in `temp.list_references`.
    var hasLists = false
    /// Only lists of rows in `cascade_list_write` are examined.
    package var onlyWrittenLists = false

    package init(rows: Query, id: String, hasLists: Bool = false, onlyWrittenLists: Bool = false) {
      (self.rows, self.id) = (rows, id)
      (self.hasLists, self.onlyWrittenLists) = (hasLists, onlyWrittenLists)
    }

    package func limited(to condition: Query) -> StartingNodes {
      var limited = self
      limited.condition = condition
      return limited
    }

    package func limited(to slice: Slice) -> StartingNodes { limited(to: slice.contains()) }

    package static let gone = StartingNodes(rows: "temp.gone AS g", id: "g.id")
    package static let goneOfWritten = StartingNodes(
      rows: "temp.gone AS g", id: "g.id", onlyWrittenLists: true)
    package static let reached = StartingNodes(rows: "temp.reachable_nodes AS g", id: "g.id")
    package static let leading = StartingNodes(rows: "temp.holder_order AS g", id: "g.id")
    package static let found = StartingNodes(rows: "temp.staged AS g", id: "g.id")
    package static let tally = StartingNodes(rows: "temp.remaining_counts AS g", id: "g.node")
  }

  /// All edges: rows of s and their references.
  package var all: String {
    "FROM \(source.rows) AS s \(references) WHERE \(isEdge) AND \(source.isNode("s"))"
  }

  /// The row of the destination, if it exists. A file has no row, and always counts as existing.
  package var destinationRow: String { destinationRow(of: reference) }

  package func destinationRow(of reference: Reference) -> String {
    if destination.kind == .files { return "" }
    return "CROSS JOIN \(destination.rows) AS d ON \(destination.hasKey("d", reference))"
  }

  /// The destination's id (if it has one), key and row, for use after `destinationRow`. Without
  /// `numbers`, the row is named by its key.
  package func destinationColumns(
    of reference: Reference, _ numbers: NumberedTables = NumberedTables()
  ) -> String {
    switch destination.kind {
    case .mapped: destination.numberKeyAndRow("d", numbers)
    case .managed: "d.id, d.key, NULL"
    case .files: "NULL, \(destination.asKey(reference)), NULL"
    }
  }

  package subscript(end: EdgeEnd) -> NodeTable { end == .source ? source : destination }

  package func numberKeyAndRow(of end: EdgeEnd, _ numbers: NumberedTables) -> String {
    end == .source
      ? source.numberKeyAndRow("s", numbers) : destinationColumns(of: reference, numbers)
  }

  /// Whether the node at this end stays. A file always does.
  package func stays(_ end: EdgeEnd, _ numbers: NumberedTables) -> String {
    self[end].kind == .files ? "1" : self[end].stays(end.alias, numbers)
  }

  /// Whether the edges lead to the node at this end, for what is reachable.
  package func leads(to end: EdgeEnd) -> Bool {
    end == .source ? leadsToSource : leadsToDestination
  }

  /// Whether an index of the source's table finds the rows that refer to a node. For a polymorphic
  /// reference, one that has the type as well serves, in any order.
  package var isIndexed: Bool {
    hasReferenceInColumns
      && [referringColumns, columnsWithType].contains { source.table?.hasIndex(on: $0) == true }
  }

  /// Whether the row of the source itself has the reference, in columns.
  package var hasReferenceInColumns: Bool {
    if case .column = form { true } else { false }
  }

  package var isInJoinTable: Bool { joinTable != nil }

  package var isInLists: Bool { if case .json = form { true } else { false } }

  /// The name of this relation in `temp.list_references`.
  package var listedName: String {
    guard case .json(let column, let path) = form else { return "" }
    return "\(nameId) \(source.id) \(destination.id) \(column) \(path)"
  }

  /// A join row lives by its ends. It is no path from one to the other; its edge is.
  package var leadsToDestination: Bool {
    destination.kind != .files && (relationship != nil || isForeignKey)
  }

  package var leadsToSource: Bool { !rules.isDisjoint(with: .ofLostDestination) }

  /// Whether its edges count at their sources. A foreign key that is no relationship of the model
  /// does not count there.
  package var countsAtSource: Bool { relationship != nil }

  /// Whether the destinations are files. A source never goes with a file, but an edge to a file
  /// counts at its source like any other edge.
  package var leadsToFiles: Bool { destination.kind == .files }

  /// Whether it is a foreign key outside of the model, which SQLite itself may follow or refuse.
  package var isForeignKey: Bool { relationship == nil && kind == .column }
}

extension EdgeEnd {
  /// The alias of the rows at this end.
  package var alias: String { self == .source ? "s" : "d" }
}
