internal import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
internal import SQLiteTables

extension SweepResult {
  mutating func add(_ receipt: Receipt, _ state: TransactionState) {
    deleted += receipt.deleted.prefix(Receipt.mostListed - deleted.count)
    deletedCount += receipt.deletedCount
    edgesRemoved += receipt.edgesRemoved
    notices += receipt.notices
    files += receipt.files
    if state.done > 0 { batch = receipt.batch }
    let known = Set(blocked.map(\.message))
    blocked += receipt.reasons.filter { !known.contains($0.message) }
    if !receipt.reasons.isEmpty { outcome = .blocked }
    byCollection.merge(state.counts.deletedByCollection, uniquingKeysWith: +)
    byRule.merge(state.counts.deletedByRule, uniquingKeysWith: +)
  }
}
