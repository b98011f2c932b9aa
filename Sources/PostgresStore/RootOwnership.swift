internal import CascadeModel
internal import CascadeEngine
internal import CascadePostgres
package import CascadeStore
internal import PostgresTables

extension StoreConnection {
  /// A standby that was promoted is the same store. A copy in a cluster of its own is another one.
  var rootOwner: RootOwner {
    get throws {
      let row = try db.run(
        "SELECT system_identifier, current_database() FROM pg_control_system()"
      ).rows[0]
      return RootOwner(id: row[0] ?? "", place: "the PostgreSQL database \(row[1] ?? "")")
    }
  }
}

extension PostgresWriter {
  package func takeRoots(_ names: [String], _ paths: StorePaths) throws -> [TakenRoot] {
    areRootsRecorded = false
    return try FileRoots(model, StorePaths(store: paths.spool, spool: paths.spool))
      .take(names, for: store.rootOwner)
  }

  /// After a detach.
  func giveUpRoots() throws {
    if model.files.isEmpty { return }
    let owner = try store.rootOwner
    for root in FileRoots(model, StorePaths(store: "/", spool: "/")).all { try? root.giveUp(owner) }
  }
}
