internal import CascadeModel
internal import CascadeSQLite
internal import SQLiteBinding
internal import SQLiteTables
internal import SQLiteRules

/// A node that lost an edge of rule 8 and was held back stays once it is given an edge of that name.
///
/// It was given those that it did not have when it was held back. So the sources of the edges that it
/// had then are written down with it, in the column `edges` of `cascade_candidate`.
extension Writer {
  /// Called before anything is removed, with the plan's own view of the tables.
  func noteEdgesOfCandidates() throws {
    try db.findEdges(ofNodesIn: "temp.new_candidates", by: "id", binding, current.numbers)
    try db.run(
      """
      UPDATE temp.new_candidates SET edges = (SELECT json_group_array(e.source)
        FROM temp.candidate_edges AS e
        WHERE e.node = new_candidates.id AND e.name = new_candidates.name)
      WHERE rule = \(bind: Rules.deleteDestinationIfSourceDeleted.rawValue)
      """)
    try db.empty(.candidateEdges)
  }
}

extension Connection {
  /// Marks the candidates whose node has an edge now that it did not have then.
  func findGivenEdges(_ binding: Binding) throws {
    try findEdges(ofNodesIn: "temp.due_candidates", by: "node", binding, numbers(binding))
    try run(
      """
      UPDATE temp.due_candidates SET is_over = 1
      WHERE rule = \(bind: Rules.deleteDestinationIfSourceDeleted.rawValue) AND EXISTS (
        SELECT e.source FROM temp.candidate_edges AS e
        WHERE e.node = due_candidates.node AND e.name = due_candidates.name
        EXCEPT SELECT value FROM json_each(due_candidates.edges))
      """)
    try empty(.candidateEdges)
  }

  /// Finds the edges of the same name that lead to candidates of rule 8, from nodes that stay.
  fileprivate func findEdges(
    ofNodesIn table: Query, by id: String, _ binding: Binding, _ numbers: NumberedTables
  ) throws {
    let rule = Rules.deleteDestinationIfSourceDeleted.rawValue
    let names = try all("SELECT DISTINCT name FROM \(table) WHERE rule = \(bind: rule)") {
      $0.integer(0)
    }
    if names.isEmpty { return }
    try run(
      """
      INSERT OR IGNORE INTO temp.candidate_edges
      SELECT g.\(id), g.name, \(source("n.collection", "n.key"))
      FROM \(table) AS g
      CROSS JOIN main.cascade_edge AS e ON e.destination = g.\(id) AND e.name = g.name
      CROSS JOIN main.cascade_node AS n ON n.id = e.source
      WHERE g.rule = \(bind: rule) AND e.source NOT IN (SELECT id FROM temp.still_to_go)
      """)
    for relation in binding.edgeRelations
    where names.contains(relation.nameId) && !relation.leadsToFiles {
      let nodes = EdgeRelation.StartingNodes(rows: "\(table) AS g", id: "g.\(id)").limited(
        to: "g.rule = \(bind: rule) AND g.name = \(bind: relation.nameId)")
      for form in numbers.forms(of: relation.destination) {
        try run(
          """
          INSERT OR IGNORE INTO temp.candidate_edges
          SELECT g.\(id), g.name, \(source("\(relation.source.id)", relation.source.key("s")))
          \(relation.edges(at: .destination, in: nodes, form, numbers))
          AND \(relation.stays(.source, numbers))
          """)
      }
    }
  }

  /// A text for the source of an edge: the same for the same node.
  private func source(_ collection: String, _ key: String) -> String {
    "\(collection) || ' ' || typeof(\(key)) || ' ' || hex(\(key))"
  }
}
