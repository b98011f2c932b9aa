internal import CascadeModel
internal import CascadeSQLite

/// Triggers that record which rows may have had their lists of references written. They exist only
/// while a sweep needs that (`Sweep/Lists.swift`).
extension WatchTriggers {
  var ofLists: [Trigger] {
    Set(binding.holdingLists.map(\.source)).sorted { $0.id < $1.id }
      .flatMap { source in subject(source)?.notes(source.id) ?? [] }
  }
}

extension WatchedTable {
  fileprivate func notes(_ collection: Int64) -> [Trigger] {
    let note = "INSERT INTO cascade_written(collection, key) VALUES(\(collection), \(key("NEW")))"
    return [
      Trigger(Trigger.list + name, "AFTER INSERT", on: table, when: nil, [note]),
      Trigger(Trigger.relist + name, "AFTER UPDATE", on: table, when: nil, [note]),
    ]
  }
}

extension Trigger {
  static let list = "cascade_list_"
  static let relist = "cascade_relist_"
}
