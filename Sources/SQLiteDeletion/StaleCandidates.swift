internal import CascadeModel
internal import CascadeSQLite
package import CascadeStore
internal import SQLiteBinding
package import SQLiteTables
internal import SQLiteJournal
internal import SQLiteEdges

/// Removes the records of spared nodes that are gone by now. Such a node has no reason to be
/// deleted any more: a node that has its key later is another one. This is checked whenever a sweep
/// begins, and in each transaction of the daemon that deletes.
extension Writer {
  package func deleteStaleCandidates(_ manners: StepPolicy) throws {
    if try attachment.isDetached || !hasStoredCandidates { return }
    try adaptToSchema()
    if isPartlyBound { return }
    try forEachSlice(of: "SELECT s.id \(staleCandidates)", manners) { few in
      try db.run(
        generated: "DELETE \(staleCandidates) AND s.id > ? AND s.id <= ?", few.bound)
    }
  }

  /// Called in a transaction that deleted something.
  func deleteStaleCandidatesInTransaction() throws {
    if try hasStoredCandidates { try db.run(generated: "DELETE \(staleCandidates)", []) }
  }

  private var hasStoredCandidates: Bool {
    get throws { try db.integer("SELECT 1 FROM cascade_candidate WHERE rule LIMIT 1") != nil }
  }

  /// A file is no row, and counts as always there.
  private var staleCandidates: String {
    let isThere = binding.nodeExists(
      "s",
      object: """
        (s.collection IN (SELECT id FROM cascade_collection WHERE name GLOB 'cascade_file/*')
          OR EXISTS (SELECT 1 FROM main.cascade_node AS n
            WHERE n.collection = s.collection AND n.key = s.key))
        """)
    return "FROM main.cascade_candidate AS s WHERE s.rule AND NOT \(isThere)"
  }
}
