/// An operator's request to do nothing for a while. Kept in the store, so that it outlives the
/// daemon.
package struct OperatorPause: Hashable, Sendable {
  /// In milliseconds since 1970.
  package let at: Int64
  package let user: Int64

  package init(at: Int64, user: Int64) {
    self.at = at
    self.user = user
  }
}
