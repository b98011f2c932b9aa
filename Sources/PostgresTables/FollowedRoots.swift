internal import CascadeModel
internal import CascadeEngine
internal import CascadePostgres

/// Roots of files keep what is remembered of their files, whatever the model calls them. Runs before
/// `FollowedRelations`, so the ends of relationships have the names of the model.
struct FollowedRoots {
  private let store: StoreConnection
  private var db: Session { _read { yield store.db } }

  init(_ store: StoreConnection) { self.store = store }

  func follow() throws {
    if store.model.files.isEmpty { return }
    try RenamedRoots(store.model, known: known()).apply(rename)
  }

  private func known() throws -> [KnownRoot] {
    let start = FileRows.collection.count + 1
    return try db.run(
      """
      SELECT k.name, substr(m.key, length(k.name) + 7), m.value, bool_or(k.is_used)
      FROM (SELECT DISTINCT root, true FROM cascade.file
        UNION SELECT substr(destination, \(start)), part LIKE 'stored: %' FROM cascade.relation
        WHERE starts_with(destination, $1)) k(name, is_used)
      LEFT JOIN cascade.meta m ON starts_with(m.key, 'root.' || k.name || ':')
      GROUP BY 1, 2, 3
      """, [FileRows.collection]
    ).rows.map {
      KnownRoot(
        name: $0[0]!, path: $0[1], inode: $0[2].flatMap { Int64($0) }, isUsed: $0[3] == "t")
    }
  }

  private func rename(_ old: String, to new: String) throws {
    let (name, taken) = (FileRows.collection + old, FileRows.collection + new)
    try db.run(
      """
      UPDATE cascade.relation SET destination = 'cascade_was/' || number || '/' || destination
      WHERE destination = $1
      """, [taken])
    try db.run(
      "UPDATE cascade.relation SET destination = $2 WHERE destination = $1", [name, taken])
    try db.run("UPDATE cascade.file SET root = $2 WHERE root = $1", [old, new])
    try db.run("DELETE FROM cascade.meta WHERE starts_with(key, $1)", ["root.\(new):"])
    try db.run(
      """
      UPDATE cascade.meta SET key = $2 || substr(key, length($1) + 1) WHERE starts_with(key, $1)
      """, ["root.\(old):", "root.\(new):"])
  }
}
