internal import CascadeModel
package import CascadeSQLite
package import CascadePlanning
package import SQLiteBinding
internal import SQLiteTables

/// Finds out which of some files are named by an edge, wherever the edges are stored.
extension Connection {
  /// The ids of those that are named. Runs in the caller's transaction.
  package func named(_ files: [FileQuery], _ binding: Binding) throws(SQLiteError) -> Set<Int64> {
    try ask(files)
    var named = Set(
      try all(
        """
        SELECT a.id FROM temp.queried_files AS a
        JOIN cascade_node AS n ON n.collection = a.collection AND n.key = a.key
        WHERE EXISTS (SELECT 1 FROM cascade_edge WHERE destination = n.id)
        """
      ) { $0.integer(0) })
    let collections = Set(files.map(\.collection))
    for relation in binding.edgeRelations where collections.contains(relation.destination.id) {
      named.formUnion(try all(generated: relation.naming) { $0.integer(0) })
    }
    return named
  }

  private func ask(_ files: [FileQuery]) throws(SQLiteError) {
    try empty(.queriedFiles)
    for file in files {
      try run(
        "INSERT INTO temp.queried_files VALUES(?, ?, ?)", .integer(file.collection),
        .text(file.path), .integer(file.id))
    }
  }
}

extension EdgeRelation {
  /// The ids of the files that a row refers to, found by the column's index or by one scan of the
  /// table.
  fileprivate var naming: String {
    let asked = "temp.queried_files AS a"
    let isOfRoot = "a.collection = \(destination.id)"
    switch form {
    case .column where isIndexed, .typed where isIndexed:
      return """
        SELECT DISTINCT a.id FROM \(asked) CROSS JOIN \(source.rows) AS s
          ON \(isOfRoot) AND \(destination.referenceHasKey("a.key", of: reference))
        WHERE \(isEdge) AND \(source.isNode("s"))
        """
    default:
      return """
        SELECT DISTINCT a.id FROM \(source.rows) AS s \(references) CROSS JOIN \(asked)
          ON \(isOfRoot) AND \(destination.keyEqualsReference("a.key", by: reference.value))
        WHERE \(isEdge) AND \(source.isNode("s"))
        """
    }
  }
}
