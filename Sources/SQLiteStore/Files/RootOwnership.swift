internal import CascadeModel
internal import CascadeEngine
internal import CascadeSQLite
package import CascadeStore
internal import CascadeSystem
package import SQLiteTables
internal import SQLiteDeletion

extension Writer {
  package func takeRoots(_ names: [String], _ paths: StorePaths) throws -> [TakenRoot] {
    if attachment.isDetached { throw StoreError.detached }
    let roots = FileRoots(model, paths)
    let owner = try rootOwner(roots, paths)
    files.areRootsRecorded = false
    return try roots.take(names, for: owner)
  }

  /// Before a detach, after which the store has no id any more.
  func giveUpRoots() throws {
    if model.files.isEmpty { return }
    guard let id = try db.meta(.storeId) else { return }
    let surroundings = StorePaths(store: path, spool: path)
    let owner = RootOwner(id: "\(id)", place: surroundings.realPath)
    for root in FileRoots(model, surroundings).all { try? root.giveUp(owner) }
  }
}
