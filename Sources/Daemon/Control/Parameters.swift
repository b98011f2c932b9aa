internal import CascadeModel
internal import CascadeVarlink
internal import VarlinkServer

/// Parameters with a meaning beyond the types of the interface description.
extension Call {
  func text(_ name: String) -> String? { parameters[name]?.string }

  func node(_ name: String, of model: StoreModel) throws -> Node? {
    try text(name).map { try Call.node($0, name, of: model) }
  }

  static func node(
    _ text: String, _ parameter: String, of model: StoreModel
  ) throws -> Node {
    guard let node = Node(commandLine: text) else {
      throw VarlinkError.unusable(
        parameter, "\"\(text)\" is no node: write collection/key or [\"collection\", \"key\"]")
    }
    if let misfit = model.keyProblem(node) {
      throw VarlinkError.unusable(parameter, misfit)
    }
    return node
  }

  /// A node, or a file as `{"file": path, "root": root}`, ROOT:PATH or a path on the disk.
  func destination(_ name: String, of model: StoreModel) throws -> Destination? {
    guard let text = text(name) else { return nil }
    if text.hasPrefix("{") {
      guard let json = try? JSON.parse(text), let path = json["file"]?.string,
        let root = json["root"]?.string
      else { throw VarlinkError.unusable(name, "\"\(text)\" is no file") }
      return .file(root: root, path: path)
    }
    return try model.file(text) ?? .node(Call.node(text, name, of: model))
  }

  func sweepKinds() throws -> [SweepKind] {
    let names = parameters["kinds"]?.array?.compactMap(\.string) ?? []
    if names.isEmpty { return [.all] }
    return try names.map { name in
      guard let kind = SweepKind(rawValue: name) else {
        let hint =
          nearest(name, in: SweepKind.allCases.map(\.rawValue)).map { ", did you mean \($0)?" }
          ?? ""
        throw VarlinkError.unusable("kinds", "\"\(name)\" is no kind of sweep here\(hint)")
      }
      return kind
    }
  }
}

extension StoreModel {
  /// Reads a file as listings print it, or as a shell completes it. If roots are nested, the file
  /// belongs to the innermost one.
  fileprivate func file(_ text: String) -> Destination? {
    for (root, directory) in files.sorted(by: { $0.value.utf8.count > $1.value.utf8.count }) {
      for prefix in ["\(root):", directory.hasSuffix("/") ? directory : "\(directory)/"]
      where text.utf8.starts(with: prefix.utf8) {
        return .file(
          root: root, path: String(decoding: text.utf8.dropFirst(prefix.utf8.count), as: UTF8.self))
      }
    }
    return nil
  }
}
