/// Rings all subscribed bells. It does not keep them alive.
@EventLoopActor
package final class Broadcast {
  private struct Listener { weak var bell: Bell? }
  private var listeners: [Listener] = []

  package init() {}

  @discardableResult
  package func subscribe(_ bell: Bell = Bell()) -> Bell {
    listeners.append(Listener(bell: bell))
    return bell
  }

  package func ring() {
    listeners.removeAll { $0.bell == nil }
    for listener in listeners { listener.bell?.ring() }
  }
}
