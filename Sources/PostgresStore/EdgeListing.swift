internal import CascadeModel
internal import CascadePostgres
internal import CascadeStore
internal import PostgresBinding
internal import PostgresSweeps
internal import PostgresTables

/// Edges by relation and then by the key of their source.
struct EdgeListing {
  let store: StoreConnection
  let query: EdgeQuery

  func page(after cursor: EdgeCursor?, limit: Int) throws -> EdgePage {
    var edges: [Edge] = []
    let relations = self.relations
    for index in min(cursor?.listing ?? 0, relations.count)..<relations.count {
      let after = index == cursor?.listing ? cursor?.position as? [String] : nil
      let rows = try rows(of: relations[index], after: after, limit: limit - edges.count)
      edges += rows.map { relations[index].edge($0[0], $0[1], isDeclared: $0[2] == "t") }
      if edges.count == limit, let last = rows.last {
        return EdgePage(edges: edges, next: EdgeCursor(listing: index, position: last))
      }
    }
    let files = try files.page(after: cursor, limit: limit - edges.count)
    return EdgePage(edges: edges + files.edges, next: files.next)
  }

  private var relations: [EdgeRelation] { store.binding.relations.filter { !$0.isTie } }

  private var files: FileListing {
    FileListing(store: store, query: query, offset: relations.count)
  }

  func count() throws -> Int {
    try relations.reduce(files.count()) { sum, relation in
      guard let filter = filter(relation, after: nil) else { return sum }
      let count = try store.db.run("SELECT count(*) \(filter.sql)", filter.values).integer
      return sum + Int(count ?? 0)
    }
  }

  /// The texts of both ends, and whether the source declares it.
  private func rows(
    of relation: EdgeRelation, after: [String]?, limit: Int
  ) throws -> [[String]] {
    guard let filter = filter(relation, after: after) else { return [] }
    return try store.db.run(
      """
      SELECT \(relation.source.key.text("s")), \(relation.to()), \(isDeclared(relation))
      \(filter.sql)
      ORDER BY \(order(relation)) LIMIT \(limit)
      """, filter.values
    ).rows.map { $0.compactMap(\.self) }
  }

  private func isDeclared(_ relation: EdgeRelation) -> String {
    relation.isStored ? "e.is_declared" : "true"
  }

  private func order(_ relation: EdgeRelation) -> String {
    let source = relation.source.key.values("s")
    if relation.columns != nil { return source }
    let ends = "\(source), \(relation.toValues())"
    return relation.isStored ? "\(ends), e.is_declared" : ends
  }

  /// Nil if the relation has no such edges.
  private func filter(
    _ relation: EdgeRelation, after: [String]?
  ) -> (sql: String, values: [String?])? {
    if let name = query.name, name != relation.name { return nil }
    var conditions = [relation.isListed]
    var values: [String?] = []
    func parameter(_ value: String) -> String {
      values.append(value)
      return "$\(values.count)"
    }
    let (source, table) = (relation.source, relation.destination)
    if let from = query.from {
      guard from.collection == source.collection, let key = source.key.text(from.key) else {
        return nil
      }
      conditions.append(source.key.equal("s", text: parameter(key)))
    }
    if let to = query.to {
      guard case .node(let node) = to, node.collection == table.collection,
        let key = table.key.text(node.key)
      else { return nil }
      conditions.append(relation.leads(toText: parameter(key)))
    }
    if let after {
      let last =
        source.key.parts(of: parameter(after[0]))
        + (relation.columns != nil ? [] : table.key.parts(of: parameter(after[1])))
        + (relation.isStored ? ["\(after[2] == "t")"] : [])
      conditions.append("(\(order(relation))) > (\(last.joined(separator: ", ")))")
    }
    return ("FROM \(relation.edges()) WHERE \(conditions.joined(separator: " AND "))", values)
  }
}
