internal import CascadeModel
internal import CascadeSQLite
/// Where nobody is told why a node went, the journal need not be taken apart row by row: all that a
/// counting rule wants to know of the edges that were lost is whether one remains at their end.
extension Digest {
  /// Places of which only the end of the lost edges matters, and where it is known by its row: no
  /// part of a sweep gives a name to any row of its table.
  func countedInPlace(_ db: borrowing Connection) throws -> Set<Place> {
    let watched = binding.places.filter(\.isWatched)
    let counted = watched.filter { place in
      place.onlyCounts && !binding.isOfNodes(place)
        && !watched.contains {
          $0.source == place.destination || $0.destination == place.destination && !$0.onlyCounts
        }
    }
    if counted.isEmpty { return [] }
    if try db.integer("SELECT 1 FROM cascade_spared WHERE rule LIMIT 1") != nil { return [] }
    let numbers = try db.numbers(binding)
    return Set(counted.filter { numbers.isEachByRow(in: $0.destination) })
  }

  /// Whether anything follows from the end of a node of this table, once its edges are seen to.
  func isMissed(_ table: NodeTable, _ db: borrowing Connection) throws -> Bool {
    if binding.looked.contains(where: { $0.misses(table) }) { return true }
    return try db.integer(
      """
      SELECT 1 WHERE EXISTS (SELECT 1 FROM cascade_node WHERE collection = ?1)
      OR EXISTS (SELECT 1 FROM cascade_notice WHERE receiver_collection = ?1)
      """, .integer(table.id)) != nil
  }

  /// The ends at which no edge of the place is left. As long as one is, nothing has happened that
  /// the rule asks for: when that goes too, it is counted by itself. And where none is, those in the
  /// journal are gone, whatever became of their rows.
  func findUncounted(
    _ db: borrowing Connection, _ place: Place, _ old: OldEdge, _ rows: [Value]
  ) throws {
    let destination = place.destination
    try db.run(
      generated: """
        INSERT OR IGNORE INTO temp.lost
        SELECT 0, \(place.nameId), \(destination.base ?? 0) + \(destination.row("d")), 1,
          \(place.rules.rawValue), 0, 0
        FROM (
          SELECT \(old.reference) AS key FROM main.cascade_journal AS o \(old.values)
          WHERE o.what = ?1 AND o.seq > ?2 AND o.seq <= ?3 AND o.key IS NOT NULL AND \(old.isEdge)
          GROUP BY 1
        ) AS m CROSS JOIN \(destination.rows) AS d ON \(destination.hasKey("d", "m.key"))
        \(place.isLastOfItsEnd)
        """, rows)
  }
}

extension Place {
  /// Whether the loss of an edge means something for the count of those that remain, and nothing
  /// beside that.
  fileprivate var onlyCounts: Bool {
    let others: Rules = [
      .notifyIfSourceDeleted, .notifyIfDestinationDeleted, .deleteSourceIfDestinationDeleted,
      .deleteDestinationIfSourceDeleted, .deleteSourceIfAllDestinationsDeleted,
    ]
    return rules.contains(.deleteDestinationIfAllSourcesDeleted) && rules.isDisjoint(with: others)
      && destination.base != nil && !isTakenByForeignKey
  }

  /// Whether something follows when a destination goes, or a join row outlives one of its ends.
  fileprivate func misses(_ table: NodeTable) -> Bool {
    let ofDestination: Rules = [
      .notifyIfDestinationDeleted, .deleteSourceIfDestinationDeleted,
      .deleteSourceIfAllDestinationsDeleted, .nullifySourceIfDestinationDeleted,
    ]
    if isInJoinTable { return source == table || destination == table }
    return destination == table && (!rules.isDisjoint(with: ofDestination) || isTakenByForeignKey)
  }

  /// No index leads to what is in a list: there the count will tell.
  fileprivate var isLastOfItsEnd: String {
    if case .json = form { return "" }
    return "WHERE NOT EXISTS (SELECT 1 \(sources(of: "m")))"
  }
}
