internal import CascadeModel

/// A node that is kept from every deletion, with all that its deletion would take along.
public struct Protection: Hashable, Sendable {
  /// The node that was named.
  public let node: NodeName
  /// Why.
  public let reason: String
  /// The user who asked for it.
  public let author: String
  /// Since when, in milliseconds since 1970.
  public let since: Int
  /// When it ends, in milliseconds since 1970; nil if it does not end by itself.
  public let until: Int?

  init(_ json: JSON?) throws(AskError) {
    guard let json, let node = NodeName(json["node"]) else {
      throw .unreadable("a protection without a node: \(json?.text ?? "none")")
    }
    self.node = node
    reason = json["reason"]?.string ?? ""
    author = json["by"]?.string ?? ""
    since = json["since"]?.int ?? 0
    until = json["until"]?.int
  }
}

extension Store {
  /// Keeps a node, and all that its deletion would take along, from every deletion, also by applications.
  ///
  /// - Parameters:
  ///   - id: The node.
  ///   - reason: Why: what a program is told whose deletion is refused.
  ///   - end: When it ends, in milliseconds since 1970; nil if it does not end by itself.
  @discardableResult
  public func protect<M: Model>(
    _ id: ID<M>, reason: String, until end: Int? = nil
  ) async throws(AskError) -> Protection {
    var fields = [JSON.Field("node", .string(NodeName(id).json.text))]
    fields.append(JSON.Field("reason", .string(reason)))
    if let end { fields.append(JSON.Field("until", .integer(Int64(end)))) }
    return try Protection(await ask("Protect", .object(fields))["protection"])
  }

  /// Ends the protection of a node.
  @discardableResult
  public func unprotect<M: Model>(_ id: ID<M>) async throws(AskError) -> Protection {
    let reply = try await ask("Unprotect", ["node": .string(NodeName(id).json.text)])
    return try Protection(reply["protection"])
  }

  /// The nodes that are protected themselves, in the order in which they were.
  public func protections() async throws(AskError) -> [Protection] {
    var protections: [Protection] = []
    for json in try await ask("Protections", [:])["protections"]?.array ?? [] {
      protections.append(try Protection(json))
    }
    return protections
  }
}
