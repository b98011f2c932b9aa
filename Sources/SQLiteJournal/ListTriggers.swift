internal import CascadeModel
package import CascadeSQLite
internal import SQLiteBinding
package import SQLiteTables

/// Triggers that record which rows may have had their lists of references written. They exist only
/// while a sweep needs that (`SQLiteRules/JSONLists.swift`).
extension WatchTriggers {
  var listTriggers: [Trigger] {
    Set(binding.holdingLists.map(\.source)).sorted { $0.id < $1.id }
      .flatMap { source in subject(source)?.listWriteTriggers(source.id) ?? [] }
  }
}

extension WatchedTable {
  fileprivate func listWriteTriggers(_ collection: Int64) -> [Trigger] {
    let note =
      "INSERT INTO cascade_list_write(collection, key) VALUES(\(collection), \(key("NEW")))"
    return [
      Trigger(Trigger.list + name, "AFTER INSERT", on: table, when: nil, [note]),
      Trigger(Trigger.listUpdate + name, "AFTER UPDATE", on: table, when: nil, [note]),
    ]
  }
}

extension Connection {
  package var isTrackingLists: Bool {
    get throws(SQLiteError) { try integer("SELECT 1 FROM cascade_list_write LIMIT 1") != nil }
  }
}

extension Writer {
  package func stopListTracking() throws {
    if try !db.isTrackingLists { return }
    try db.run("DELETE FROM cascade_list_write")
    try rebind()
  }
}
