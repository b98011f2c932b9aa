/// Asks the server of a store again and again whether it is there, on one thread and a connection of its
/// own.
package protocol ServerWatching: AnyObject {
  /// Blocks for about a second. What an operator has to know of the server; nil if it is as it should be.
  func beat() -> ServerTrouble?

  /// Nothing of the store is open any more.
  func close()
}

/// What an operator has to know of a server.
package struct ServerTrouble: Hashable, Sendable {
  /// Whether the store waits for the server. Otherwise the store does its work.
  package let isWaiting: Bool
  package let reason: String

  package init(isWaiting: Bool, _ reason: String) {
    (self.isWaiting, self.reason) = (isWaiting, reason)
  }
}
