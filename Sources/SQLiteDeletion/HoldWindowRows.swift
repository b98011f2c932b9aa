package import CascadeEngine
internal import CascadeModel
package import CascadeSQLite
internal import CascadeStore
package import SQLiteTables

/// What sweeps deleted lately (`HoldWindow`), in the store.
extension Writer {
  /// What counts with a sweep. Where no window is kept, that is what its earlier parts deleted.
  package func recentDeletions() throws -> [String: Int] {
    if HoldWindow(model).isOn { return try holdWindow().sums(at: clock.now) }
    return sweepRun.result.batch == nil ? [:] : sweepRun.deletedByEarlierParts
  }

  private func holdWindow() throws -> HoldWindow {
    HoldWindow(model, try db.holdSlots())
  }

  /// Called in the transaction that deletes, with what was deleted before it.
  package func noteDeleted(since before: [String: Int]) throws {
    var nodes = current.counts.deletedByCollection.merging(before) { $0 - $1 }
    if sweepRun.job != nil { return try noteDeletedByJob(nodes) }
    nodes = nodes.filter { $0.value > 0 && !model.withoutHold.contains($0.key) }
    if nodes.isEmpty { return }
    if let plan = sweepRun.plan { return try spend(nodes, of: plan) }
    if current.hold.wasApproved || !model.limits.hold.isReachable { return }
    try addToWindow(nodes)
  }

  private func addToWindow(_ nodes: [String: Int]) throws {
    var window = try holdWindow()
    if window.forget(at: clock.now) {
      let kept = window.slots.map(\.number).min() ?? .max
      try db.run("DELETE FROM cascade_hold_window WHERE slot < ?", .integer(kept))
    }
    for slot in window.add(nodes, at: clock.now) {
      try db.run(
        "INSERT OR REPLACE INTO cascade_hold_window(slot, collection, at, count) VALUES(?, ?, ?, ?)",
        .integer(slot.number), .text(slot.collection), .integer(slot.at),
        .integer(Int64(slot.count)))
    }
  }

  /// The answer to the plan that is open covers all that led to it.
  package func emptyWindow(ofOpen plan: Int64) throws {
    let isOpen = try db.integer(
      "SELECT 1 FROM cascade_plan WHERE plan = ? AND is_open", .integer(plan))
    if isOpen != nil { try db.run("DELETE FROM cascade_hold_window") }
  }
}

extension Connection {
  package func holdSlots() throws(SQLiteError) -> [HoldWindow.Slot] {
    try all("SELECT slot, collection, at, count FROM cascade_hold_window") {
      HoldWindow.Slot(
        number: $0.integer(0), collection: $0.text(1), at: $0.integer(2), count: Int($0.integer(3)))
    }
  }
}
