package import CascadeModel
internal import Store
internal import CascadeSystem
/// What a store is served with: its paths and its model.
package struct StoreConfiguration: Sendable, Hashable {
  package let path: String
  package let spoolPath: String
  package let model: StoreModel
  /// Whether a database that is not there is made.
  package let creates: Bool

  /// Everything of Cascade's outside of the database lies beside it, in `STORE.cascade/`.
  package static func directory(of store: String) -> String { "\(store).cascade" }

  package static func socket(of store: String) -> String { "\(directory(of: store))/control" }

  package static func modelFile(of store: String) -> String {
    "\(directory(of: store))/model.json"
  }

  package init(path: String, model: StoreModel, creates: Bool = true) {
    self.path = path
    self.model = model
    self.creates = creates
    spoolPath = model.spool ?? StoreConfiguration.directory(of: path)
  }

  /// Beside the database itself, by whatever name it is served.
  var home: String { StoreConfiguration.directory(of: FileStatus.realPath(path) ?? path) }

  /// What no sweep of files may touch.
  var surroundings: Surroundings { Surroundings(store: path, spool: spoolPath) }
}
