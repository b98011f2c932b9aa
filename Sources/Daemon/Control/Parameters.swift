internal import Model
internal import Store
internal import Varlink

/// Parameters whose meaning the description's types do not say.
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
    if let misfit = model.misfit(node) {
      throw VarlinkError.unusable(parameter, misfit)
    }
    return node
  }

  /// A node, or `{"file": path, "root": root}`.
  func destination(_ name: String, of model: StoreModel) throws -> Destination? {
    guard let text = text(name) else { return nil }
    if text.hasPrefix("{") {
      guard let json = try? JSON.parse(text), let path = json["file"]?.string,
        let root = json["root"]?.string
      else { throw VarlinkError.unusable(name, "\"\(text)\" is no file") }
      return .file(root: root, path: path)
    }
    return .node(try Call.node(text, name, of: model))
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
