internal import CascadeModel
internal import CascadeSQLite

/// A file that several rows shared was trashed with the last of them. An undo that brings back
/// another of these rows finds the file in the trash of that batch.
extension Undo {
  func wantSharedFiles() throws {
    if writer.model.files.isEmpty { return }
    let others = """
      FROM (SELECT DISTINCT batch FROM cascade_trash_file WHERE batch <> ?1) AS b
      """
    for place in writer.binding.places where place.leadsToFiles {
      let kept = layouts.filter {
        $0.layout.kind == .row && $0.collection == place.source.collection
      }
      for layout in kept {
        try want(
          """
          SELECT b.batch, \(place.destination.id), CAST(\(place.reference) AS TEXT) \(others)
          CROSS JOIN temp.restored AS r
          CROSS JOIN \(place.source.rows) AS s ON \(place.source.hasKey("s", "r.key"))
          \(place.references) WHERE r.layout = \(layout.number) AND \(place.isEdge)
          """)
      }
    }
    try want(
      """
      SELECT b.batch, f.collection, f.key \(others) CROSS JOIN temp.restored AS r
      CROSS JOIN cascade_edge AS e ON e.source = r.id
      CROSS JOIN cascade_node AS f ON f.id = e.destination
      WHERE f.collection IN (\(Writer.files))
      """)
  }

  /// Marks files to be moved back after the commit.
  private func want(_ files: String) throws {
    try writer.db.run(
      generated: """
        UPDATE cascade_trash_file SET fate = 2
        WHERE fate = 0 AND (batch, collection, path) IN (\(files))
        """, [.integer(batch)])
  }
}
