internal import Model
internal import Store
internal import Varlink

/// Parameters whose meaning the description's types do not say.
extension Call {
  func text(_ name: String) -> String? { parameters[name]?.string }

  func node(_ name: String) throws -> Node? {
    guard let text = text(name) else { return nil }
    return try Call.node(text, name)
  }

  static func node(_ text: String, _ parameter: String) throws -> Node {
    guard let node = Node(commandLine: text) else {
      throw VarlinkError.unusable(
        parameter, "\"\(text)\" is no node: write collection/key or [\"collection\", \"key\"]")
    }
    return node
  }

  /// A node, or `{"file": path, "root": root}`.
  func destination(_ name: String) throws -> Destination? {
    guard let text = text(name) else { return nil }
    if text.hasPrefix("{") {
      guard let json = try? JSON.parse(text), let path = json["file"]?.string,
        let root = json["root"]?.string
      else { throw VarlinkError.unusable(name, "\"\(text)\" is no file") }
      return .file(root: root, path: path)
    }
    return .node(try Call.node(text, name))
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
