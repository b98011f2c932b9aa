package import CascadeModel
internal import CascadePostgres

/// A relationship to files, whose paths below a root are in a column of the source, in a list, or in
/// a table of stored edges.
///
/// In the SQL, `s` is a row of the source, and `e` an element of a list or a stored edge.
package struct FileRelation {
  package let number: Int64
  package let name: String
  package let rules: Rules
  /// Where the model says that the paths are.
  package let storage: Relationship.EdgeStorage
  package let source: MappedTable
  package let root: String
  package let place: Place

  package init(
    number: Int64, name: String, rules: Rules, storage: Relationship.EdgeStorage,
    source: MappedTable, root: String, place: Place
  ) {
    (self.number, self.name, self.rules, self.storage) = (number, name, rules, storage)
    (self.source, self.root, self.place) = (source, root, place)
  }

  package enum Place {
    case column(String)
    case list(ListColumn)
    case stored(StoredPaths)
  }

  package var list: ListColumn? {
    if case .list(let list) = place { list } else { nil }
  }

  package var stored: StoredPaths? {
    if case .stored(let stored) = place { stored } else { nil }
  }

  /// The table whose rows have the paths.
  package var table: String { stored?.name ?? source.name }

  /// What an edge in `edges` leads to; null if that is nothing.
  package var path: String { path(in: stored == nil ? "s" : "e") }

  /// The same for a row of `table`, or an element `e` of it.
  package func path(in row: String) -> String {
    switch place {
    case .column(let column): "\(row).\(quoted(column))"
    case .list(let list): list.value.contents("e")
    case .stored: "\(row).path"
    }
  }

  /// All edges of rows `s` that are there, for FROM.
  package var edges: String {
    guard let stored else { return edges(of: "\(source.name) s", as: "s") }
    return "\(stored.name) e JOIN \(source.name) s ON \(stored.source.equal("e", source.key, "s"))"
  }

  /// Rows of `table`, with their elements.
  package func edges(of rows: String, as row: String) -> String {
    rows + (list.map { " CROSS JOIN \($0.elements(row))" } ?? "")
  }

  /// Whether the row `s` may name one of the paths that a query returns.
  package func mayName(anyOf paths: String) -> String {
    list?.mayHaveAny(paths, in: "s") ?? "true"
  }

  /// Whether the row `s` names a file.
  package var namesAny: String {
    switch place {
    case .column: "\(path) IS NOT NULL"
    case .list(let list): "EXISTS (SELECT FROM \(list.elements("s")) WHERE \(path) IS NOT NULL)"
    case .stored(let stored):
      "EXISTS (SELECT FROM \(stored.name) e WHERE \(stored.source.equal("e", source.key, "s")))"
    }
  }

  /// Whether its source declares an edge.
  package var isDeclared: String { stored == nil ? "true" : "e.is_declared" }

  /// What orders edges beside their source.
  package var order: [String] {
    (list == nil && stored == nil ? [] : [path]) + (stored == nil ? [] : [isDeclared])
  }

  package func mayBeChanged(_ row: String, _ other: String) -> String {
    if let list { return list.mayBeChanged(row, other) }
    return "\(path(in: row)) IS NOT NULL AND \(path(in: row)) IS DISTINCT FROM \(path(in: other))"
  }

  /// Whether a file may go with an edge.
  package var releases: Bool { !rules.isEmpty }

  package func edge(_ key: String, _ path: String, isDeclared: Bool = true) -> Edge {
    Edge(
      name: name, source: source.node(key), destination: .file(root: root, path: path),
      rules: rules, origin: isDeclared ? .declared : .manual, kind: .file)
  }
}

/// A table of stored edges to files, with their `path`. They outlive their source, and are removed with
/// it.
package struct StoredPaths {
  /// With its schema.
  package let name: String
  package let source: Columns

  package init(name: String, source: Columns) { (self.name, self.source) = (name, source) }

  /// Tells apart the tables of stored edges.
  package static func part(_ source: MappedTable, rules: Rules) -> String {
    JoinTable.part([source.key], rules: rules)
  }
}

extension FileRelation {
  /// The stored edges whose source is not there.
  package var sourceless: DanglingEdges? {
    stored.map { stored in
      let isThere = stored.source.equal("e", source.key, "t")
      return DanglingEdges(
        source, stored.source, "e", in: "\(stored.name) e",
        where: "NOT EXISTS (SELECT FROM \(source.name) t WHERE \(isThere))")
    }
  }
}
