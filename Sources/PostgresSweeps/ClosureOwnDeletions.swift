package import CascadeModel
internal import CascadePostgres
package import PostgresBinding
internal import PostgresTables

/// Nodes that go because an edge that the change file itself added leads nowhere.
extension Closure {
  package struct OwnDeletion {
    package let table: MappedTable
    package let key: String
    package let edge: Edge
  }

  /// `written` are the keys of rows that the file wrote, by the number of their table; `joined` the
  /// edges, by the number of their relation, of join rows that it added.
  package func ownDeletions(
    written: [Int64: Set<String>], joined: [Int64: [[String]]], in batch: Int64
  ) throws -> [OwnDeletion] {
    var found: [OwnDeletion] = []
    for relation in binding.relations where !relation.rules.isDisjoint(with: .ofLostDestination) {
      guard let isOwn = isOwn(relation, written, joined, batch) else { continue }
      let (condition, values) = isOwn
      let inSet = """
        SELECT g.key, g.other, g.rule FROM \(scratch[.gone]) g
        WHERE g.via = \(relation.number) AND g.collection = \(relation.source.number)
        AND g.rule IN (\(Rules.deleteSourceIfDestinationDeleted.rawValue),
          \(Rules.deleteSourceIfAllDestinationsDeleted.rawValue))
        """
      let all = ([inSet] + leafRows(of: relation)).joined(separator: " UNION ALL ")
      let rows = try db.run(
        "SELECT g.key, g.other, g.rule FROM (\(all)) g WHERE \(condition)", values
      )
      .rows
      found += rows.compactMap { row in
        store.edge("\(relation.number)", row[0]!, row[1]!, row[2]!).map {
          OwnDeletion(table: relation.source, key: row[0]!, edge: $0)
        }
      }
    }
    return found
  }

  private func leafRows(of relation: EdgeRelation) -> [String] {
    if !leaves.contains(where: { $0.relation.number == relation.number }) { return [] }
    return [
      """
      SELECT \(relation.source.key.text("s")), \(relation.destination.key.text("g")),
        \(Rules.deleteSourceIfDestinationDeleted.rawValue) \(leaves(of: relation))
      """
    ]
  }

  /// Whether the file added the edge from `g.key` to `g.other`; nil if it added none like it.
  private func isOwn(
    _ relation: EdgeRelation, _ written: [Int64: Set<String>], _ joined: [Int64: [[String]]],
    _ batch: Int64
  ) -> (condition: String, values: [String?])? {
    let isRow = relation.join.map {
      "\($0.source.equal("e", text: "g.key")) AND \($0.destination.equal("e", text: "g.other"))"
    }
    if let join = relation.join, let isRow, join.isStored {
      return ("EXISTS (SELECT FROM \(join.name) e WHERE \(isRow) AND e.added = \(batch))", [])
    }
    if relation.looseJoin != nil {
      guard let ends = joined[relation.number] else { return nil }
      return (
        "(g.key, g.other) IN (SELECT * FROM unnest($1::text[], $2::text[]))",
        [0, 1].map { end in arrayText(ends.map { $0[end] }) }
      )
    }
    guard let keys = written[relation.lostWith.number] else { return nil }
    let wasThere = """
      EXISTS (SELECT FROM cascade.work j WHERE j.id = ANY($2::bigint[])
        AND j.subject = \(relation.number) AND j.key = g.key AND j.other = g.other)
      """
    var isWritten = "g.key = ANY($1::text[])"
    if let join = relation.join, let isRow, let nodes = join.nodes {
      isWritten =
        "EXISTS (SELECT FROM \(join.name) e WHERE \(isRow) AND \(nodes.key.isAny("e", "$1")))"
    }
    return (
      "\(isWritten) AND NOT \(wasThere)",
      [arrayText(keys.sorted()), arrayText(writtenBefore.map(String.init))]
    )
  }
}
