internal import CascadeModel
internal import CascadeSQLite
internal import SQLiteBinding
internal import SQLiteTables

/// Edges that lose an end, and the nodes at their other ends, as SQL. Stored edges, removed edges,
/// relations of the application's tables, and staged nodes have this one form, so that each rule is
/// written once.
package struct LossQuery {
  /// What the edges' rules are: a column, or the same for all of them.
  enum EdgeRules {
    case column(String)
    case all(Rules)
  }

  /// The number and the collection of the node that loses the edge.
  let node: String
  let collection: String
  /// The node at the lost end.
  let via: String
  let name: String
  let rules: EdgeRules
  /// The number of edges of a group that the node had until now.
  var count = "count(*)"
  /// Whether an end may have been deleted before the node at the other one came.
  var hasUsedKeys = false
  /// FROM and WHERE.
  let edges: Query

  /// Stored edges that lose an end with a slice of `temp.gone`.
  static func stored(losing end: EdgeEnd, in slice: Slice) -> LossQuery {
    let (lost, other) = ("e.\(end)", "e.\(end.other)")
    return LossQuery(
      node: other,
      collection: "(SELECT collection FROM main.cascade_node AS n WHERE n.id = \(other))",
      via: lost, name: "e.name", rules: .column("e.rules"),
      edges: """
        FROM temp.gone AS g CROSS JOIN main.cascade_edge AS e ON \(lost) = g.id
        WHERE \(slice.contains())
        """)
  }

  /// The edges in `temp.lost_edges` that count as having lost this end, and have the rule. They are
  /// in no table any more.
  static func removed(_ effect: RuleEffect) -> LossQuery {
    let end = effect.lostEnd
    let node = "l.\(end.other)"
    return LossQuery(
      node: node,
      collection: """
        iif(\(node) < 0, \(NodeTable.collection(ofRow: node)),
          coalesce((SELECT collection FROM main.cascade_node AS n WHERE n.id = \(node)),
            (SELECT collection FROM temp.known AS k WHERE k.id = \(node))))
        """,
      via: "l.\(end)", name: "l.name", rules: .column("l.rules"), count: "0",
      edges: """
        FROM temp.lost_edges AS l WHERE l.removal = \(end.removal) AND l.rules & \(effect.bit)
        """)
  }

  /// Edges of a relation whose other ends have numbers of their own (`isEachByRow`).
  static func edges(
    of relation: EdgeRelation, losing end: EdgeEnd, in driver: EdgeRelation.StartingNodes,
    _ form: NumberForm, _ numbers: NumberedTables, where condition: String
  ) -> LossQuery {
    let other = relation[end.other]
    return LossQuery(
      node: other.number(end.other.alias, numbers), collection: "\(other.id)", via: "g.id",
      name: "\(relation.nameId)", rules: .all(relation.rules),
      edges: "\(relation.edges(at: end, in: driver, form, numbers)) AND \(condition)")
  }

  /// The nodes in `temp.staged` that lose an edge to which the rule may apply.
  static func staged(_ effect: RuleEffect) -> LossQuery {
    LossQuery(
      node: "f.id", collection: "f.collection", via: "f.via", name: "f.name",
      rules: .column("f.asks * f.rule"),
      edges: "FROM temp.staged AS f WHERE f.rule = \(effect.bit)")
  }

  // MARK: - What the rules make of it

  /// An edge that had lost an end when the row at the other one came is no loss of that row
  /// (`SQLiteJournal/UsedKeys.swift`).
  package static func isLoss(_ node: String, via: String) -> String {
    """
    NOT EXISTS (SELECT 1 FROM temp.used_nodes AS u CROSS JOIN temp.deleted_nodes AS o ON o.id = \(via)
      WHERE u.id = \(node) AND o.last <= u.since)
    """
  }

  private var isLoss: String { hasUsedKeys ? LossQuery.isLoss(node, via: via) : "1" }

  func amongUsedKeys(_ hasUsedKeys: Bool) -> LossQuery {
    var query = self
    query.hasUsedKeys = hasUsedKeys
    return query
  }

  func addingToGone(_ effect: RuleEffect, orderedBy order: String = "1, 2, 3") -> Query {
    var hasRule = ""
    if case .column(let rules) = rules { hasRule = "AND \(rules) & \(effect.bit)" }
    return """
      INSERT OR IGNORE INTO temp.gone(id, via, name, rule, collection)
      SELECT \(node), \(via), \(name), \(effect.bit), \(collection)
      \(edges) \(hasRule) AND \(isLoss)
      ORDER BY \(order)
      """
  }

  /// Adds up, by node and name, the edges that the nodes lose. A node may lose edges of the name in
  /// several tables.
  func addingToLosses(_ effect: RuleEffect) -> Query {
    let reason: String
    let groups: String
    switch rules {
    case .column(let rules):
      let hasRule = "\(rules) & \(effect.bit) AND \(isLoss)"
      reason =
        "coalesce(min(iif(\(hasRule), \(via), NULL)), min(\(via))), max((\(hasRule)) <> 0)"
      groups = "2, 3"
    case .all(let rules):
      let isLoss = hasUsedKeys ? "max(\(isLoss))" : "1"
      reason = "min(\(via)), \(rules.contains(effect.rule) ? isLoss : "0")"
      groups = "2"
    }
    return """
      INSERT INTO temp.level_losses
      SELECT \(effect.bit), \(node), \(name), \(count), \(reason), \(collection), NULL
      \(edges) GROUP BY \(groups) \(LossQuery.addUp)
      """
  }

  static let addUp = """
    ON CONFLICT DO UPDATE SET edges = edges + excluded.edges, asks = max(asks, excluded.asks),
      via = iif(asks < excluded.asks, excluded.via, via), stays = coalesce(stays, excluded.stays)
    """
}
