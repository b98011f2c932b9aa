internal import CascadeStore
package import CascadeModel
internal import CascadeEngine
internal import CascadeSystem

/// The paths and the model with which a store is served.
package struct StoreConfiguration: Sendable, Hashable {
  package let path: String
  package let spoolPath: String
  package let model: StoreModel
  /// Whether a file says what the model is.
  let hasModel: Bool
  /// Whether a missing database is created.
  package let creates: Bool
  /// The model file of which it is one of many stores, if it is.
  package let template: String?

  /// The directory of all other files of a store, `STORE.cascade/` beside the database.
  package static func directory(of store: String) -> String { "\(store).cascade" }

  package static func socket(of store: String) -> String { "\(directory(of: store))/control" }

  package static func modelFile(of store: String) -> String {
    "\(directory(of: store))/model.json"
  }

  package init(
    path: String, model: StoreModel, hasModel: Bool = true, creates: Bool = true,
    template: String? = nil
  ) {
    self.path = path
    self.model = model
    self.hasModel = hasModel
    self.creates = creates
    self.template = template
    spoolPath = model.spool ?? StoreConfiguration.directory(of: path)
  }

  /// A server's database has no file, so its other files are in the spool, which its model names.
  var isFile: Bool { !path.isDatabaseURI }

  /// Whether its application wants the file for itself. A server shares its databases.
  var isExclusive: Bool { isFile && model.exclusive }

  /// The directory of the default socket.
  var directory: String { isFile ? StoreConfiguration.directory(of: path) : spoolPath }
  var socket: String { "\(directory)/control" }

  /// That directory beside the actual database file, whatever path it is served by.
  var home: String {
    isFile ? StoreConfiguration.directory(of: FileStatus.realPath(path) ?? path) : spoolPath
  }

  /// Whether the file is there. A server says that by itself.
  var isThere: Bool {
    get throws { try !isFile || FileStatus.of(path) != nil }
  }

  /// Files belong to the group of this one.
  var groupFile: String { isFile ? path : spoolPath }

  /// Throws if another user could replace the database, or what is beside it.
  func safePaths() throws -> SafePaths { try SafePaths(store: groupFile) }

  /// A root that is away is no danger: its files wait.
  func refuseUnsafeRoots(_ paths: SafePaths) throws {
    for (_, root) in model.files.sorted(by: { $0.key < $1.key }) {
      do {
        _ = try paths.directory(root)
      } catch is SystemError {}
    }
  }

  /// The paths that no sweep of files may touch.
  var surroundings: StorePaths { StorePaths(store: path, spool: spoolPath) }
}
