internal import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
internal import SQLiteBinding
internal import SQLiteRules

/// The edges that hold a node, wherever they are stored.
extension Reader {
  /// Rules by which a node's own edges hold it: it may not be deleted, or may not stay, alone.
  private static let holding: Rules = [.deleteSourceIfAllDestinationsDeleted, .denySourceDeletion]

  func holders(of node: Node, at now: Int64?) throws -> Why {
    var (holders, total): ([Edge], Int) = ([], 0)
    if let id = try storedId(of: node) { (holders, total) = try storedHolders(of: id) }
    for listing in try holdingRelations(node) {
      let room = Receipt.mostListed - holders.count
      holders += try listing.page(db, model, behind: [], limit: max(room, 0)).compactMap(\.edge)
      total += Int(try db.integer(listing.count) ?? 0)
    }
    return .alive(holders: holders, total: total, leases: try leases(of: node, at: now))
  }

  private func holdingRelations(_ node: Node) throws -> [RelationEdges] {
    let relations = try binding().edgeRelations
    let arriving = try relations.map { try edges(of: $0, EdgeQuery(to: .node(node))) }
    let leaving = try relations.filter { !$0.rules.isDisjoint(with: Reader.holding) }.map {
      relation in
      var listing = try edges(of: relation, EdgeQuery(from: node))
      // An edge to itself is already among the arriving ones.
      listing?.excluded = relation.source == relation.destination ? try keyInTable(of: node) : nil
      return listing
    }
    return (arriving + leaving).compactMap { $0 }
  }

  /// By these rules, a node holds itself as long as it has an edge.
  private static let bySource = Rules([
    .deleteSourceIfAllDestinationsDeleted, .denySourceDeletion,
  ]).bits

  private func storedHolders(of id: Int64) throws -> (edges: [Edge], total: Int) {
    let binding = try binding()
    let edges = try db.all(
      generated: """
        SELECT \(Edge.columns) FROM (
          SELECT * FROM cascade_edge WHERE destination = ?1
          UNION
          SELECT * FROM cascade_edge WHERE source = ?1 AND rules & \(Reader.bySource)
          LIMIT ?2
        ) AS e \(Edge.names)
        WHERE \(binding.nodeExists("s")) AND \(binding.nodeExists("d"))
        ORDER BY 1, 2, 3, 4, 5
        """, [.integer(id), .integer(Int64(Receipt.mostListed))]
    ) { Edge(row: $0, model) }
    let count = try db.integer(
      generated: """
        SELECT count(*) FROM (
          SELECT source AS id FROM cascade_edge WHERE destination = ?1
          UNION ALL
          SELECT destination FROM cascade_edge
          WHERE source = ?1 AND destination <> ?1 AND rules & \(Reader.bySource)
        ) AS e CROSS JOIN cascade_node AS o ON o.id = e.id WHERE \(binding.nodeExists("o"))
        """, [.integer(id)])
    return (edges, Int(count ?? 0))
  }
}
