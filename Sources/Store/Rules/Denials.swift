internal import Model
internal import SQLite

/// What must not go although the rules say so.
extension Writer {
  private static let denying: Rules = [.denyDestinationDeletion, .denySourceDeletion]

  /// DESIGN 2.3, 5. What goes itself cannot deny, and what never was there cannot be denied.
  func refuseDenied() throws {
    if counters.rulesSeen.isDisjoint(with: Writer.denying) { return }
    let denials = try db.denials(firstNewId: current.firstNewId)
    if !denials.isEmpty { throw Rejection(denials.map(\.reason)) }
  }
}

/// A node that must stay, and why.
struct Denial {
  let denied: Int64
  let reason: Reason
}

extension Connection {
  func denials(firstNewId: Int64) throws(SQLiteError) -> [Denial] {
    try all(
      """
      WITH deniable AS (
        SELECT id FROM temp.gone WHERE id < ?1 OR id NOT IN (SELECT id FROM temp.dead)
      ), denial(source, name, destination, origin, rules, denies_source) AS (
        SELECT e.source, e.name, e.destination, e.origin, e.rules, 0
        FROM deniable AS g CROSS JOIN cascade_edge AS e ON e.destination = g.id
        WHERE e.rules & 128 AND e.source NOT IN (SELECT id FROM temp.gone)
        UNION ALL
        SELECT e.source, e.name, e.destination, e.origin, e.rules, 1
        FROM deniable AS g CROSS JOIN cascade_edge AS e ON e.source = g.id
        WHERE e.rules & 256 AND e.destination NOT IN (SELECT id FROM temp.gone)
      )
      SELECT m.name, sc.name, s.key, dc.name, d.key, x.rules, x.origin, x.denies_source,
        iif(x.denies_source, x.source, x.destination)
      FROM denial AS x
      JOIN cascade_name AS m ON m.id = x.name
      JOIN cascade_node AS s ON s.id = x.source
      JOIN cascade_collection AS sc ON sc.id = s.collection
      JOIN cascade_node AS d ON d.id = x.destination
      JOIN cascade_collection AS dc ON dc.id = d.collection
      ORDER BY 2, 3, 1, 4, 5
      """, .integer(firstNewId)
    ) { Denial(row: $0) }
  }
}

extension Denial {
  fileprivate init(row: Row) {
    let edge = Edge(row: row)
    let deniesSource = row.integer(7) != 0
    let denied: Node? = deniesSource ? edge.source : edge.destination.node
    let holder: Node? = deniesSource ? edge.destination.node : edge.source
    self.denied = row.integer(8)
    reason = Reason(
      .denied,
      "\(denied?.description ?? "") must stay: \(holder?.description ?? "") holds it by "
        + "\"\(edge.name)\" (\(deniesSource ? "denySourceDeletion" : "denyDestinationDeletion"))",
      node: denied, edge: edge)
  }
}

extension Edge {
  /// From the columns: name, source's collection and key, destination's collection and key,
  /// rules, origin.
  init(row: Row) {
    let origin = Origin(rawValue: row.integer(6)) ?? .manual
    self.init(
      name: row.text(0), source: Node(row.text(1), .text(row.text(2))),
      destination: Destination(collection: row.text(3), key: row.text(4)),
      rules: Rules(rawValue: row.integer(5)), origin: origin, kind: origin.kind)
  }
}

extension Destination {
  static let fileCollection = "cascade_file/"

  init(collection: String, key: String) {
    if collection.hasPrefix(Destination.fileCollection) {
      let root = collection.dropFirst(Destination.fileCollection.count)
      self = .file(root: String(root), path: key)
    } else {
      self = .node(Node(collection, .text(key)))
    }
  }

  var node: Node? {
    if case .node(let node) = self { node } else { nil }
  }
}
