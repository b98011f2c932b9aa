package import CascadeModel
package import CascadeSQLite
package import SQLiteBinding
internal import SQLiteTables

/// The unreferenced sweep: finds the nodes that a counting rule would keep, and that nothing refers
/// to: they have no edge of any name at that end. No counting rule finds a node that never had one.
///
/// 1. A reference to a missing node is an edge here. What becomes of it is decided by the sweep of
///    what dangles.
/// 2. The nodes that are found are in `temp.unreachable_nodes`: a sweep starts from them.
struct UnreferencedSearch {
  let binding: Binding
  let numbers: NumberedTables

  /// Puts all nodes that may be meant into `temp.staged`, or those of a slice of `temp.gone`.
  func stage(_ db: borrowing Connection, _ counted: CountedEnd, in slice: Slice?) throws {
    if case .mapped = binding.model.collections[counted.collection] {
      guard let table = binding.collections[counted.collection] else { return }
      if let slice { return try stagePlanned(db, "\(table.id)", slice) }
      return try db.stageRows(of: table, numbers)
    }
    let id = number(ofCollection: counted.collection)
    if let slice {
      try stagePlanned(db, id, slice)
    } else {
      try db.run(
        generated: """
          INSERT INTO temp.staged(id, collection)
          SELECT id, collection FROM main.cascade_node WHERE collection = \(id)
          """)
    }
    try dropOtherTypes(db, counted)
  }

  private func stagePlanned(
    _ db: borrowing Connection, _ collection: String, _ slice: Slice
  ) throws {
    try db.run(
      """
      INSERT INTO temp.staged(id, collection) SELECT g.id, g.collection FROM temp.gone AS g
      WHERE \(GoneRow.isFirst("g")) AND g.collection = \(collection) AND \(slice.contains())
      """)
  }

  private func dropOtherTypes(_ db: borrowing Connection, _ counted: CountedEnd) throws {
    let list = { (types: [String]) in types.map(literal).joined(separator: ", ") }
    let isOther = counted.types.map { "n.type IS NULL OR n.type NOT IN (\(list($0)))" } ?? "0"
    try db.run(
      generated: """
        DELETE FROM temp.staged WHERE id IN (
          SELECT f.id FROM temp.staged AS f CROSS JOIN main.cascade_node AS n ON n.id = f.id
          WHERE n.type IN (\(list(counted.rootTypes))) OR \(isOther))
        """)
  }

  /// Takes the nodes out of `temp.staged` that have an edge at this end.
  func dropReferenced(_ db: borrowing Connection, at end: EdgeEnd, of collection: Int64) throws {
    try db.run(
      generated: """
        DELETE FROM temp.staged WHERE EXISTS (
          SELECT 1 FROM main.cascade_edge AS e WHERE e.\(end) = staged.id)
        """)
    if end == .source {
      try db.run(
        """
        DELETE FROM temp.staged WHERE EXISTS (
          SELECT 1 FROM main.cascade_dangling_reference AS r WHERE r.source = staged.id)
        """)
    }
    for relation in binding.examinedRelations where relation[end].id == collection {
      let counts = end == .source ? relation.countsAtSource : binding.countsAtDestination(relation)
      if !counts { continue }
      for form in numbers.forms(of: relation[end]) {
        let edges =
          end == .source
          ? relation.edgesFromSources(in: .found, form, withDestinations: false)
          : relation.edgesToDestinations(in: .found, form, numbers)
        try db.run("DELETE FROM temp.staged WHERE id IN (SELECT g.id \(edges))")
      }
    }
  }
}

extension Connection {
  /// Finds the unreferenced nodes at these ends. Leased nodes are none.
  package func findUnreferenced(
    _ binding: Binding, _ ends: [CountedEnd], at now: Int64
  ) throws {
    try findLeased(binding, at: now)
    try findUnreferenced(
      UnreferencedSearch(binding: binding, numbers: try numbers(binding)), ends)
  }

  /// The same among the planned nodes of a slice. The leases are known.
  package func findUnreferenced(
    _ binding: Binding, _ numbers: NumberedTables, _ ends: [CountedEnd], in slice: Slice
  ) throws {
    try empty(.unreachableNodes)
    try findUnreferenced(UnreferencedSearch(binding: binding, numbers: numbers), ends, in: slice)
  }

  package func unreferencedCounts() throws(SQLiteError) -> [(name: String, count: Int)] {
    try all(
      """
      SELECT c.name, count(*) FROM temp.unreachable_nodes AS u
      JOIN main.cascade_collection AS c ON c.id = u.collection GROUP BY 1 ORDER BY 1
      """
    ) { (name: $0.text(0), count: Int($0.integer(1))) }
  }

  private func findUnreferenced(
    _ search: UnreferencedSearch, _ ends: [CountedEnd], in slice: Slice? = nil
  ) throws {
    for counted in ends {
      try search.stage(self, counted, in: slice)
      try numberFound()
      let collection = try integer("SELECT collection FROM temp.staged LIMIT 1")
      if let collection { try search.dropReferenced(self, at: counted.end, of: collection) }
      try run(
        """
        INSERT OR IGNORE INTO temp.unreachable_nodes SELECT id, collection FROM temp.staged
        WHERE id IS NOT NULL AND id NOT IN (SELECT id FROM temp.leased)
        AND collection NOT IN (SELECT id FROM temp.leased_collection)
        """)
      try clearFound()
    }
  }
}
