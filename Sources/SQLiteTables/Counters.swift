package import CascadeModel
package import CascadeSQLite

/// Numbers that outlive a transaction. They only grow, so a rollback at most leaves gaps.
package struct Counters {
  package var nextId: Int64
  /// The number of the flush that is being prepared. An edge stores that of the flush that added
  /// it.
  package var serial: Int64
  /// Every rule that an edge of this store ever had: a rule that is not used costs nothing.
  package var rulesSeen: Rules
  private var saved: [Int64] = []
  package var areSaved: Bool { !saved.isEmpty }

  /// Of a store that is not attached.
  package init() { (nextId, serial, rulesSeen) = (1, 1, []) }

  package init(_ db: borrowing Connection, behind batch: Int64) throws {
    nextId = try db.meta(.nextNodeId) ?? 1
    serial = max(try db.meta(.nextBatch) ?? 1, batch + 1)
    rulesSeen = Rules(rawValue: try db.meta(.rulesSeen) ?? 0)
  }

  /// Takes over the counters of the file. Returns false if they are not those that were saved
  /// there.
  package mutating func mergeStored(_ stored: Counters) -> Bool {
    let isOurs = saved.isEmpty || saved == stored.values
    nextId = max(nextId, stored.nextId)
    serial = max(serial, stored.serial)
    rulesSeen.formUnion(stored.rulesSeen)
    if !isOurs { saved = [] }
    return isOurs
  }

  private var values: [Int64] { [nextId, serial, rulesSeen.rawValue] }

  package mutating func save(_ db: borrowing Connection) throws {
    if values == saved { return }
    for (index, key) in [MetaKey.nextNodeId, .nextBatch, .rulesSeen].enumerated()
    where saved.isEmpty || saved[index] != values[index] {
      try db.setMeta(key, values[index])
    }
    saved = values
  }

  package mutating func forgetSaved() { saved = [] }
}
