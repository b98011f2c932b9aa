internal import Model
internal import SQLite

/// What must hold of the nodes that a transaction touched, at its end (DESIGN 2.4).
extension Writer {
  /// Notes a node whose relationships may have changed. A model without constraints pays nothing.
  func touch(_ id: Int64) throws {
    if demands.isEmpty { return }
    try db.run("INSERT OR IGNORE INTO temp.touched VALUES(?)", .integer(id))
  }

  /// The survivors next to what goes, and both ends of what was removed.
  func touchNeighbours() throws {
    if demands.isEmpty { return }
    try db.run(
      """
      INSERT OR IGNORE INTO temp.touched
      SELECT e.source FROM temp.gone AS g CROSS JOIN cascade_edge AS e ON e.destination = g.id
      UNION ALL
      SELECT e.destination FROM temp.gone AS g CROSS JOIN cascade_edge AS e ON e.source = g.id
      UNION ALL SELECT source FROM temp.lost
      UNION ALL SELECT destination FROM temp.lost
      """)
  }

  func validate() throws {
    if demands.isEmpty { return }
    var violations: [Reason] = []
    for demand in demands {
      violations += try miscounts(demand)
      if demand.constraint.unique { violations += try sharedDestinations(demand) }
    }
    try forgetTouched()
    if !violations.isEmpty { throw Rejection(violations) }
  }

  func forgetTouched() throws {
    if demands.isEmpty { return }
    try db.run("DELETE FROM temp.touched")
  }

  private func miscounts(_ demand: Demand) throws -> [Reason] {
    let constraint = demand.constraint
    let counts = try db.all(
      """
      SELECT key, others FROM (
        SELECT n.key AS key, (
          SELECT count(*) FROM (
            SELECT o.id FROM cascade_edge AS e JOIN cascade_node AS o ON o.id = e.destination
            WHERE e.source = n.id AND e.name = ?2
            AND (o.collection IN (SELECT value FROM json_each(?4))
              OR o.collection || '/' || o.type IN (SELECT value FROM json_each(?4)))
            UNION
            SELECT o.id FROM cascade_edge AS e JOIN cascade_node AS o ON o.id = e.source
            WHERE e.destination = n.id AND e.name = ?3
            AND (o.collection IN (SELECT value FROM json_each(?4))
              OR o.collection || '/' || o.type IN (SELECT value FROM json_each(?4)))
          )
        ) AS others
        FROM temp.touched AS t CROSS JOIN cascade_node AS n ON n.id = t.id
        WHERE n.collection = ?1 AND (?7 IS NULL OR n.type = ?7)
      ) WHERE others < ?5 OR others > ?6
      """, .integer(try collectionId(demand.collection)),
      .integer(try constraint.outgoing.map(nameId)),
      .integer(try constraint.incoming.map(nameId)), .text(try listed(demand.others)),
      .integer(Int64(max(constraint.min, 1))), .integer(Int64(constraint.max ?? .max)),
      .text(demand.type)
    ) { (Node(demand.collection, .text($0.text(0))), Int($0.integer(1))) }
    return counts.compactMap { constraint.reason($0, count: $1) }
  }

  private func sharedDestinations(_ demand: Demand) throws -> [Reason] {
    let shared = try db.all(
      """
      SELECT c.name, d.key, count(DISTINCT s.id) AS sources
      FROM (
        SELECT e.destination AS id FROM temp.touched AS t
        CROSS JOIN cascade_edge AS e ON e.source = t.id AND e.name = ?2
        UNION SELECT id FROM temp.touched
      ) AS t
      CROSS JOIN cascade_node AS d ON d.id = t.id
      JOIN cascade_collection AS c ON c.id = d.collection
      JOIN cascade_edge AS e ON e.destination = d.id AND e.name = ?2
      JOIN cascade_node AS s ON s.id = e.source
      WHERE s.collection = ?1 AND (?4 IS NULL OR s.type = ?4)
      AND (d.collection IN (SELECT value FROM json_each(?3))
        OR d.collection || '/' || d.type IN (SELECT value FROM json_each(?3)))
      GROUP BY d.id HAVING sources > 1
      """, .integer(try collectionId(demand.collection)),
      .integer(try demand.constraint.outgoing.map(nameId)),
      .text(try listed(demand.others)), .text(demand.type)
    ) { (Destination(row: $0, 0, model), $0.integer(2)) }
    return shared.map { destination, sources in
      Reason(
        .notUnique,
        "\(sources) of \"\(demand.collection)\" have \(destination.json.text) as their "
          + "\"\(demand.constraint.name)\", which is unique",
        node: destination.node)
    }
  }

  /// As a JSON list: a collection by its id, a type within one by `id/type`.
  private func listed(_ others: [Demand.Other]) throws -> String {
    let words = try others.map { other -> JSON in
      let id = try collectionId(other.collection)
      return other.type.map { .string("\(id)/\($0)") } ?? .integer(id)
    }
    return JSON.array(words).text
  }
}

/// A constraint of the model and the stored nodes that it is about.
struct Demand {
  let collection: String
  /// Only the objects of this type; nil is all of the collection.
  let type: String?
  let constraint: Constraint
  /// The stored collections of `constraint.others`; files count as a collection of their own.
  let others: [Other]

  struct Other {
    let collection: String
    var type: String?
  }

  static func all(in model: StoreModel) -> [Demand] {
    let relationships = model.relationships
    let ends = relationships.flatMap { [$0.from] + $0.to.collections }
    let collections = Set(ends.map { model.collection(of: $0) }).sorted()
    return collections.flatMap { collection in
      let general = model.constraints(from: collection)
      return general.map { Demand($0, collection, nil, model) }
        + model.types(in: collection).flatMap { type in
          model.constraints(from: collection, type: type)
            .filter { !general.contains($0) }.map { Demand($0, collection, type, model) }
        }
    }
  }

  private init(
    _ constraint: Constraint, _ collection: String, _ type: String?, _ model: StoreModel
  ) {
    self.constraint = constraint
    self.collection = collection
    self.type = type
    let files = model.files.keys.map { Other(collection: Destination.fileCollection + $0) }
    others = constraint.others.isEmpty ? files : constraint.others.map(model.other)
  }
}

extension StoreModel {
  fileprivate func other(_ name: String) -> Demand.Other {
    let collection = collection(of: name)
    guard case .managed(let types) = collections[collection] else {
      return Demand.Other(collection: collection)
    }
    return Demand.Other(
      collection: collection, type: types.first { $0.value == name && name != collection }?.key)
  }

  fileprivate func types(in collection: String) -> [String] {
    guard case .managed(let types) = collections[collection] else { return [] }
    return types.keys.sorted()
  }
}

extension Constraint {
  fileprivate func reason(_ node: Node, count: Int) -> Reason? {
    switch violation(count: count) {
    case .missingMandatory:
      Reason(.missingMandatory, "\(node) has no \"\(name)\", which is not optional", node: node)
    case .tooFew:
      Reason(.tooFew, "\(node) has \(count) \"\(name)\", at least \(min) are needed", node: node)
    case .tooMany:
      Reason(.tooMany, "\(node) has \(count) \"\(name)\", at most \(max ?? 0) may be", node: node)
    case .notUnique, .denied, nil: nil
    }
  }
}
