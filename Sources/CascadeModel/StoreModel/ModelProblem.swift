/// What is wrong at one place of a model file. The path is empty for the file as a whole.
package struct ModelProblem: Hashable, Sendable, CustomStringConvertible {
  package let path: String
  package let message: String

  package init(path: String, message: String) {
    self.path = path
    self.message = message
  }

  package var description: String { path.isEmpty ? message : "\(path): \(message)" }
}

/// Everything that one look at a model file found wrong.
package struct ModelErrors: Error, Hashable, CustomStringConvertible {
  package let problems: [ModelProblem]

  package var description: String {
    problems.map(\.description).joined(separator: "\n")
  }
}
