internal import CascadeModel
internal import CascadeSQLite

/// Removes the records of spared nodes that are gone by now. Such a node has no reason to be
/// deleted any more: a node that has its key later is another one. This is checked whenever a sweep
/// begins, and in each transaction of the daemon that deletes.
extension Writer {
  func forgetSparedThatIsGone(_ manners: Manners) throws {
    if try isDetached || !hasSpared { return }
    try followSchema()
    if isHalfView { return }
    try eachFew(of: "SELECT s.id \(goneSpared)", manners) { few in
      try db.run(
        generated: "DELETE \(goneSpared) AND s.id > ? AND s.id <= ?", few.bound)
    }
  }

  /// Called in a transaction that deleted something.
  func forgetSparedThatWent() throws {
    if try hasSpared { try db.run(generated: "DELETE \(goneSpared)", []) }
  }

  private var hasSpared: Bool {
    get throws { try db.integer("SELECT 1 FROM cascade_spared WHERE rule LIMIT 1") != nil }
  }

  /// A file is no row, and counts as always there.
  private var goneSpared: String {
    let isThere = binding.isThere(
      "s",
      object: """
        (s.collection IN (SELECT id FROM cascade_collection WHERE name GLOB 'cascade_file/*')
          OR EXISTS (SELECT 1 FROM main.cascade_node AS n
            WHERE n.collection = s.collection AND n.key = s.key))
        """)
    return "FROM main.cascade_spared AS s WHERE s.rule AND NOT \(isThere)"
  }
}
