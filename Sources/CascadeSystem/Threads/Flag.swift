internal import Synchronization

/// A flag that one thread sets and other threads read.
package final class Flag: Sendable {
  private let value = Atomic(false)

  package init() {}

  package var isSet: Bool { value.load(ordering: .relaxed) }
  package func set() { value.store(true, ordering: .relaxed) }
  package func clear() { value.store(false, ordering: .relaxed) }
}
