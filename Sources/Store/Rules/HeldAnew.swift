internal import CascadeModel
internal import CascadeSQLite

/// Checks after a deletion whether a trigger of the application wrote rows that hold a deleted
/// node: an archive, for example. What triggers do cannot be known before the deletion.
extension Writer {
  /// A node that is held in this way stays, and D is found again without it (DESIGN 2.5).
  func refuseHeldAnew(_ slice: Slice, _ ends: Ends) throws {
    if !binding.hasTriggers || !ends.has(rule: 32) { return }
    let places = binding.looked.filter {
      $0.rules.contains(.deleteDestinationIfAllSourcesDeleted)
        && $0.referringTable.map(binding.isInTrigger) ?? false
    }
    let held = try places.flatMap { try db.heldAnew(by: $0, slice) }
    if !held.isEmpty { throw Refused(nodes: held) }
  }
}

extension Connection {
  /// Where the application has triggers, all rows have their keys in `temp.known`, however they are
  /// numbered.
  fileprivate func heldAnew(by place: Place, _ slice: Slice) throws(SQLiteError) -> [Int64] {
    let destination = place.destination
    let isHeld =
      if case .json = place.form {
        // The lists are read once for all nodes.
        destination.isNamed(
          "m.key", byOneOf: place.reference,
          """
          FROM \(place.source.rows) AS s \(place.references)
          WHERE \(place.isEdge) AND \(place.source.isNode("s"))
          """)
      } else {
        "EXISTS (SELECT 1 \(place.sources(of: "m")))"
      }
    return try all(
      generated: """
        SELECT g.id FROM temp.gone AS g
        CROSS JOIN \(destination.nodes) AS m ON m.id = g.id AND m.collection = \(destination.id)
        WHERE g.seq > ?1 AND g.seq <= ?2 AND g.rule = 32 AND g.name = \(place.nameId) AND \(isHeld)
        """, slice.bound
    ) { $0.integer(0) }
  }
}
