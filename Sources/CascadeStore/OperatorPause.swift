/// An operator's request to do nothing for a while. Kept in the store, so that it outlives the
/// daemon.
package struct OperatorPause: Hashable, Sendable {
  /// In milliseconds since 1970.
  package let at: Int64
  package let user: Int64
  /// The application changes its tables meanwhile: triggers that would refuse are off.
  package let isForMigration: Bool

  package init(at: Int64, user: Int64, isForMigration: Bool = false) {
    self.at = at
    self.user = user
    self.isForMigration = isForMigration
  }
}
