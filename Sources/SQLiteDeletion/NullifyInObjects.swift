internal import CascadeModel
internal import CascadeSQLite
internal import CascadeEngine
internal import SQLiteBinding
package import SQLiteTables
internal import SQLiteRules
internal import SQLiteEdges

/// Rule 64 in managed objects: an object that survives the destination of its reference loses the
/// reference.
///
/// Stored edges need no more than to go with their destination.
extension Writer {
  /// To be called before these edges are deleted.
  func nullifyReferences(_ edges: LosingEdges) throws {
    if !nullifiesObjects { return }
    let objects = try db.all(
      """
      \(edges.objectsToNullify) AND e.source NOT IN (SELECT id FROM temp.gone) ORDER BY 1
      """
    ) { $0.integer(0) }
    for id in objects { try nullify(id, edges.slice) }
  }

  package var nullifiesObjects: Bool {
    !facts.references.collections.isEmpty
      && identities.counters.rulesSeen.contains(.nullifySourceIfDestinationDeleted)
  }

  /// Rewrites an object once, however many of its references are removed.
  private func nullify(_ id: Int64, _ slice: Slice) throws {
    guard let object = try object(id), var members = object.members else { return }
    let gone = try goneEnds(of: id, slice)
    var isChanged = false
    for place in facts.references.of(object.collection, type: object.type)
    where place.rules.contains(.nullifySourceIfDestinationDeleted) {
      let isNullified = try place.nullify(&members) { destination in
        if let end = try existingId(destination) { return gone.contains(end) }
        // A destination that is not found has been gone for longer, or never existed.
        if case .node(let node) = destination {
          try deleteDanglingReferences(place, of: id, to: node)
        }
        return true
      }
      if isNullified { isChanged = true }
    }
    if !isChanged { return }
    let value = JSONText(object: members).text
    try trashValue(of: id, becoming: value)
    try db.run("UPDATE cascade_node SET value = ? WHERE id = ?", .text(value), .integer(id))
  }

  private func goneEnds(of id: Int64, _ slice: Slice) throws -> Set<Int64> {
    let ends = try db.all(
      """
      SELECT g.id FROM cascade_edge AS e CROSS JOIN temp.gone AS g ON g.id = e.destination
      WHERE e.source = ? AND e.origin >= ? AND g.seq <= ?
      """, .integer(id), .integer(Origin.firstOfValues.rawValue), .integer(slice.high)
    ) { $0.integer(0) }
    return Set(ends)
  }
}

extension LosingEdges {
  /// The objects whose values lose a reference.
  var objectsToNullify: Query {
    """
    SELECT DISTINCT e.source FROM \(rows) AND e.origin >= \(Origin.firstOfValues.rawValue)
    AND e.rules & \(Rules.nullifySourceIfDestinationDeleted.rawValue)
    """
  }
}
