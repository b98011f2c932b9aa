internal import CascadeModel
internal import CascadeSQLite

/// Lists the references of restored rows to what the application deleted itself, which is not ours
/// to bring back.
extension Undo {
  mutating func findDangling() throws {
    for kept in layouts where kept.layout.kind == .row && kept.remaining > 0 {
      for place in writer.binding.looked where place.leaves(kept) {
        try findDangling(place, kept)
      }
    }
  }

  private mutating func findDangling(_ place: Place, _ kept: Numbered) throws {
    let rows = place.missing(kept)
    let room = max(0, UndoResult.mostListed - result.dangling.count)
    result.dangling += try writer.db.all(
      generated: "SELECT \(place.source.key("s")), \(place.reference) \(rows) LIMIT ?2",
      [.integer(kept.number), .integer(Int64(room))]
    ) { row in
      Edge(
        name: place.name,
        source: Node(kept.collection, row.key(0, in: kept.collection, writer.model)),
        destination: row.destination(1, in: place.destination.collection, writer.model),
        rules: place.rules, origin: .declared, kind: place.kind)
    }
    result.danglingCount += Int(
      try writer.db.integer(
        generated: "SELECT count(*) \(rows)", [.integer(kept.number)]) ?? 0)
  }
}

extension Place {
  /// Whether rows of this layout hold references in this place, and a sweep would act on those that
  /// lead to nothing.
  fileprivate func leaves(_ kept: Undo.Numbered) -> Bool {
    if case .join = form { return false }
    return minds && source.collection == kept.collection
      && source.table?.name == kept.layout.subject
  }

  /// A query: the references of restored rows that lead to nothing.
  fileprivate func missing(_ kept: Undo.Numbered) -> String {
    """
    FROM temp.restored AS r CROSS JOIN \(source.rows) AS s ON \(source.hasKey("s", "r.key"))
    \(references)
    WHERE r.layout = ?1 AND \(isEdge) AND NOT \(destination.hasRow(withKey: reference))
    """
  }
}
