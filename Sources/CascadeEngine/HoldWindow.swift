package import CascadeModel

/// What sweeps deleted lately without an approval. A mass deletion that an application commits row by
/// row is many small sweeps: it is their sum that is over the limit.
///
/// 1. What was deleted `within` ago or longer is forgotten. Deletions that are close together are one
///    slot, which is as old as the last of them.
/// 2. The answer to the plan that is held for the sum empties the window.
/// 3. An engine stores the slots, each in the transaction that deletes.
package struct HoldWindow {
  /// In milliseconds; nil where nothing is remembered.
  package let within: Int64?
  package private(set) var slots: [Slot]

  package struct Slot: Hashable, Sendable {
    /// Slots of the same number and collection are one.
    package let number: Int64
    package let collection: String
    /// When the last of these nodes was deleted, in milliseconds since 1970.
    package var at: Int64
    package var count: Int

    package init(number: Int64, collection: String, at: Int64, count: Int) {
      (self.number, self.collection, self.at, self.count) = (number, collection, at, count)
    }
  }

  private static let slotsWithin: Int64 = 20

  package init(_ model: StoreModel, _ slots: [Slot] = []) {
    let time = model.limits.hold.within
    within = time > .zero ? max(1, Int64(time / .milliseconds(1))) : nil
    self.slots = within == nil ? [] : slots
  }

  package var isOn: Bool { within != nil }

  /// Adds what was deleted now. Returns the slots that are to be stored.
  package mutating func add(_ nodes: [String: Int], at now: Int64) -> [Slot] {
    guard let within else { return [] }
    let number = now / max(1, within / HoldWindow.slotsWithin)
    return nodes.filter { $0.value > 0 }.map { collection, count in
      let known = slots.firstIndex { $0.number == number && $0.collection == collection }
      guard let known else {
        slots.append(Slot(number: number, collection: collection, at: now, count: count))
        return slots[slots.count - 1]
      }
      slots[known].at = max(slots[known].at, now)
      slots[known].count += count
      return slots[known]
    }
  }

  /// Forgets what is too old. A slot that is far ahead of the clock was written by a clock that has
  /// been set back since. Returns whether anything was forgotten.
  package mutating func forget(at now: Int64) -> Bool {
    guard let within else { return false }
    let before = slots.count
    slots.removeAll { now - $0.at >= within || $0.at - now >= within }
    return slots.count < before
  }

  package mutating func empty() { slots = [] }

  /// The nodes that still count, by collection.
  package func sums(at now: Int64) -> [String: Int] {
    var current = self
    _ = current.forget(at: now)
    return Dictionary(current.slots.map { ($0.collection, $0.count) }, uniquingKeysWith: +)
  }
}
