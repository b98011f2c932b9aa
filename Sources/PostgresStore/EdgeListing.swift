internal import CascadeModel
internal import CascadePostgres
internal import CascadeStore

/// Edges in columns, by relation and then by the key of their source.
struct EdgeListing {
  let store: StoreConnection
  let query: EdgeQuery

  func page(after cursor: EdgeCursor?, limit: Int) throws -> EdgePage {
    var edges: [Edge] = []
    let relations = store.binding.relations
    for index in (cursor?.listing ?? 0)..<relations.count {
      let after = index == cursor?.listing ? cursor?.position as? String : nil
      let rows = try rows(of: relations[index], after: after, limit: limit - edges.count)
      edges += rows.map { relations[index].edge($0[0]!, $0[1]!) }
      if edges.count == limit, let last = rows.last {
        return EdgePage(edges: edges, next: EdgeCursor(listing: index, position: last[0]!))
      }
    }
    return EdgePage(edges: edges, next: nil)
  }

  func count() throws -> Int {
    try store.binding.relations.reduce(0) { sum, relation in
      guard let filter = filter(relation, after: nil) else { return sum }
      let count = try store.db.run("SELECT count(*) \(filter.sql)", filter.values).integer
      return sum + Int(count ?? 0)
    }
  }

  private func rows(
    of relation: ColumnRelation, after: String?, limit: Int
  ) throws -> [[String?]] {
    guard let filter = filter(relation, after: after) else { return [] }
    return try store.db.run(
      """
      SELECT x.\(relation.source.key)::text, x.\(relation.column)::text \(filter.sql)
      ORDER BY x.\(relation.source.key) LIMIT \(limit)
      """, filter.values
    ).rows
  }

  /// Nil if the relation has no such edges.
  private func filter(
    _ relation: ColumnRelation, after: String?
  ) -> (sql: String, values: [String?])? {
    if let name = query.name, name != relation.name { return nil }
    var conditions = ["x.\(relation.column) IS NOT NULL"]
    var values: [String?] = []
    func add(_ column: String, _ sign: String, _ family: KeyFamily, _ value: String) {
      values.append(value)
      conditions.append("x.\(column) \(sign) \("$\(values.count)".cast(to: family))")
    }
    let (source, table) = (relation.source, relation.destination)
    if let from = query.from {
      guard from.collection == source.collection, let key = source.family.text(from.key) else {
        return nil
      }
      add(source.key, "=", source.family, key)
    }
    if let to = query.to {
      guard case .node(let node) = to, node.collection == table.collection,
        let key = table.family.text(node.key)
      else { return nil }
      add(relation.column, "=", table.family, key)
    }
    if let after { add(source.key, ">", source.family, after) }
    return ("FROM \(source.name) x WHERE \(conditions.joined(separator: " AND "))", values)
  }
}
