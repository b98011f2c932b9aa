internal import CascadeModel
internal import CascadeSQLite
package import CascadeStore

extension Reason {
  /// The reason for an error by which SQLite refuses a value for good, for instance one that is too
  /// large. Nil where the machine or the store itself is in trouble, so that trying again is right.
  package init?(refusedByStore error: any Error) {
    guard let error = error as? SQLiteError, error.isAboutTheValue else { return nil }
    self.init(.invalid, error.description)
  }
}
