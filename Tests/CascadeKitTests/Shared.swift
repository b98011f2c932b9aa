import CascadeSystem
import Synchronization

/// Whether the tests that take long run, too.
let isLong = CascadeSystem.Process.environment("CASCADE_LONG") != nil

/// A value that several threads use.
final class Shared<Value: Sendable>: Sendable {
  private let state: Mutex<Value>

  init(_ value: Value) { state = Mutex(value) }

  var value: Value {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }

  func change(_ body: @Sendable (inout Value) -> Void) { state.withLock { body(&$0) } }
}
