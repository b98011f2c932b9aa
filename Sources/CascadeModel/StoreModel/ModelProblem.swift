/// A problem at one path of a model file (`collections.songs`, `relationships[2]`): of the model
/// itself, or why the existing tables cannot serve that part. The path is empty for the whole file.
package struct ModelProblem: Hashable, Sendable, CustomStringConvertible {
  package let path: String
  package let message: String

  package init(path: String, message: String) {
    self.path = path
    self.message = message
  }

  package var description: String { path.isEmpty ? message : "\(path): \(message)" }
}

/// All problems that were found in a model file.
package struct ModelErrors: Error, Hashable, CustomStringConvertible {
  package let problems: [ModelProblem]

  package var description: String {
    problems.map(\.description).joined(separator: "\n")
  }
}
