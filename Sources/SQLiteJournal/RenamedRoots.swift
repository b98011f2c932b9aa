internal import CascadeModel
internal import CascadeEngine
internal import CascadeSQLite
internal import CascadeSystem
internal import SQLiteTables

/// A root of files that only has another name in the model is the same directory, and keeps what is known of
/// its files. It is recognized by its path, or by its inode (`MetaKey.fileRoot`).
extension Writer {
  /// Runs before the model is bound, which gives numbers to names.
  func followRoots() throws {
    if model.files.isEmpty { return }
    let old = try db.recordedRoots().filter { model.files[$0.name] == nil }
    for root in old {
      let names = model.files.filter { root.isDirectory($0.value) }.keys.sorted()
      if names.count == 1, try db.isUnusedRoot(names[0]) { try rename(root.name, to: names[0]) }
    }
  }

  private func rename(_ root: String, to new: String) throws {
    let names = [root, new].map { Value.text(Destination.fileCollection + $0) }
    try db.run(
      "UPDATE cascade_collection SET name = 'cascade_was/' || id || '/' || name WHERE name = ?",
      names[1])
    try db.run("UPDATE cascade_collection SET name = ? WHERE name = ?", names[1], names[0])
    identities.clearCaches()
  }
}

/// A root that had files once.
private struct RecordedRoot {
  let name: String
  let path: String
  let inode: Int64

  func isDirectory(_ other: String) -> Bool {
    if other == path { return true }
    guard let status = try? FileStatus.of(other) else { return false }
    return Int64(bitPattern: status.inode) == inode
  }
}

extension Connection {
  /// Of those that something is known of.
  fileprivate func recordedRoots() throws -> [RecordedRoot] {
    try all(
      """
      SELECT substr(c.name, 14), substr(m.name, 7 + length(substr(c.name, 14))), m.value
      FROM cascade_collection AS c JOIN cascade_meta AS m
        ON substr(m.name, 1, 6 + length(substr(c.name, 14))) = 'root.' || substr(c.name, 14) || ':'
      WHERE c.name GLOB 'cascade_file/*'
      """
    ) { RecordedRoot(name: $0.text(0), path: $0.text(1), inode: $0.integer(2)) }
  }

  /// Whether nothing is known of a root of this name.
  fileprivate func isUnusedRoot(_ name: String) throws -> Bool {
    try integer(
      """
      SELECT 1 FROM cascade_collection AS c WHERE c.name = ? AND (
        EXISTS (SELECT 1 FROM cascade_node AS n WHERE n.collection = c.id)
        OR EXISTS (SELECT 1 FROM cascade_trash_file AS t WHERE t.collection = c.id)
        OR EXISTS (SELECT 1 FROM cascade_released_file AS r WHERE r.collection = c.id))
      """, .text(Destination.fileCollection + name)) == nil
  }
}
