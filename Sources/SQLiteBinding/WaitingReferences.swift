internal import CascadeModel

/// References by which rows should have gone in an earlier sweep, and that lead to nothing. A denial
/// or a lease held the rows back (`cascade_candidate`), or a held plan owns the deletion
/// (`temp.waiting_dead`). They wait for a sweep, so a change file that names the missing node too
/// neither deletes them nor is rejected for them.
extension EdgeRelation {
  /// Whether the reference of the row `s` to the node `g` of `temp.gone` is no waiting one. It waits
  /// no longer where a node of the key was there again, or the transaction has written the reference.
  package func isNotWaiting(_ numbers: NumberedTables) -> String {
    if !numbers.leavesWaiting || isInJoinTable || leadsToFiles { return "1" }
    let destinations = alternatives.isEmpty ? [destination] : alternatives
    return """
      (NOT EXISTS (SELECT 1 FROM main.cascade_candidate AS w
        WHERE w.collection = \(source.id) AND w.key = +\(source.key("s")) AND w.name = \(nameId)
        AND w.rule & \(Rules.ofLostDestination.rawValue)
        AND w.via_collection IN (\(destinations.map { "\($0.id)" }.joined(separator: ", ")))
        AND \(destination.referenceHasKey("w.via_key", of: reference))
        UNION ALL SELECT 1 FROM temp.waiting_dead AS y WHERE y.id = g.id)
      OR (SELECT x.counts FROM temp.gone AS x WHERE x.id = g.id) OR \(isNew))
      """
  }

  /// Whether the edge from the row `s` to the node `g` was added since the last flush.
  private var isNew: String {
    """
    EXISTS (SELECT 1 FROM temp.new_edges AS e CROSS JOIN temp.known AS k ON k.id = e.source
      WHERE e.name = \(nameId) AND e.destination = g.id AND k.id > 0
      AND k.collection = \(source.id) AND k.key = +\(source.key("s")))
    """
  }
}
