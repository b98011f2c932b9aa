package import CascadeEngine
internal import CascadeModel
internal import CascadeSQLite
package import CascadeStore
internal import CascadeSystem
package import SQLiteTables
internal import SQLiteJournal

extension Writer {
  /// What this store is called in the roots of its files, and in its archive. A copy of it has the same id, at another place.
  package func rootOwner(_ roots: FileRoots, _ surroundings: StorePaths) throws -> RootOwner {
    let place = surroundings.realPath
    let id = try db.meta(.storeId) ?? makeId(roots, at: place)
    return RootOwner(id: id.map { "\($0)" } ?? "", place: place, inode: inode(of: place))
  }

  /// Nil as long as a root cannot be used that may know an earlier one.
  private func makeId(_ roots: FileRoots, at place: String) throws -> Int64? {
    let earlier = try earlierId(roots, at: place)
    if earlier == nil && roots.all.count < model.files.count { return nil }
    return try group {
      let id = try earlier ?? randomId()
      try db.setMeta(.storeId, id)
      return id
    }
  }

  private func inode(of place: String) -> Int64? {
    (try? FileStatus.of(place)).map { Int64(bitPattern: $0.inode) }
  }

  /// The store at this place had an id before: it is a backup that is older than the id, or the very
  /// database, which was detached. A new one that has done nothing yet is neither.
  private func earlierId(_ roots: FileRoots, at place: String) throws -> Int64? {
    let isUsed = try db.integer("SELECT 1 FROM cascade_ledger LIMIT 1") != nil
    let inode = inode(of: place)
    let earlier = roots.owners.first { $0.place == place && (isUsed || $0.inode == inode) }
    return earlier.flatMap { Int64($0.id) }
  }

  private func randomId() throws -> Int64 {
    try Process.randomBytes(7).reduce(0) { $0 << 8 | Int64($1) }
  }
}
