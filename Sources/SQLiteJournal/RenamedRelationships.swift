internal import CascadeSQLite
internal import SQLiteBinding
internal import SQLiteTables

/// A relationship that only has another name in the model is the same: it is known by its ends and its
/// place. What was journaled, or held back, under its former name is about it.
extension Writer {
  /// Runs after the model is bound.
  func followRelationshipNames() throws {
    for watch in try db.watches() {
      var meaning = watch.meaning
      meaning.edges = try meaning.edges.map { edge in
        guard let relation = binding.renamedRelation(of: edge, in: watch.meaning) else {
          return edge
        }
        try renameCandidates(of: edge, to: relation.nameId)
        return relation.edge(in: watch.meaning.values) ?? edge
      }
      if meaning == watch.meaning { continue }
      try db.run(
        "UPDATE cascade_watch SET meaning = json_set(?, '$.was', what) WHERE what = ?",
        .text(meaning.text), .integer(watch.number))
    }
  }

  private func renameCandidates(of edge: WatchedEdge, to name: Int64) throws {
    try db.run(
      """
      UPDATE OR IGNORE cascade_candidate SET name = ?1 WHERE name = ?2
      AND (collection = ?3 AND via_collection = ?4 OR collection = ?4 AND via_collection = ?3)
      """, .integer(name), .integer(edge.name), .integer(edge.source), .integer(edge.destination))
  }
}

extension Binding {
  /// The relation in the place of an edge whose name no relation has there now; nil if there are several.
  fileprivate func renamedRelation(
    of edge: WatchedEdge, in meaning: Watch.Meaning
  ) -> EdgeRelation? {
    let there = edgeRelations.filter { relation in
      relation.watchSubject == meaning.watchSubject
        && relation.edge(in: meaning.values)?.isInPlace(of: edge) == true
    }
    if there.contains(where: { $0.nameId == edge.name }) { return nil }
    return there.count == 1 ? there[0] : nil
  }
}

extension WatchedEdge {
  fileprivate func isInPlace(of other: WatchedEdge) -> Bool {
    source == other.source && destination == other.destination && values == other.values
      && type == other.type
  }
}
