package import Model
internal import Store
internal import System

/// What a store is served with: its paths and its model.
package struct StoreConfiguration: Sendable {
  package let path: String
  package let spoolPath: String
  package let model: StoreModel

  /// Everything of Cascade's outside of the database lies beside it, in `STORE.cascade/`.
  package static func directory(of store: String) -> String { "\(store).cascade" }

  package static func socket(of store: String) -> String { "\(directory(of: store))/control" }

  package static func modelFile(of store: String) -> String {
    "\(directory(of: store))/model.json"
  }

  package init(path: String, model: StoreModel) {
    self.path = path
    self.model = model
    spoolPath = model.spool ?? StoreConfiguration.directory(of: path)
  }

  /// What no sweep of files may touch.
  var surroundings: Surroundings { Surroundings(store: path, spool: spoolPath) }
}

/// A model file that cannot be used, with every reason.
package struct ConfigurationError: Error, CustomStringConvertible {
  package let file: String
  package let problems: [ModelProblem]

  package var description: String {
    problems.map { problem in
      problem.path.isEmpty
        ? "\(file): \(problem.message)" : "\(file): \(problem.path): \(problem.message)"
    }.joined(separator: "\n")
  }
}

extension StoreModel {
  /// Reads and judges a model file.
  package static func read(_ file: String) throws -> StoreModel {
    let descriptor = try FileDescriptor.open(file)
    guard let bytes = try descriptor.readWhole(limit: 16 << 20) else {
      throw ConfigurationError(
        file: file, problems: [ModelProblem(path: "", message: "larger than 16 MiB")])
    }
    do {
      return try StoreModel(json5: bytes)
    } catch {
      throw ConfigurationError(file: file, problems: error.problems)
    }
  }
}
