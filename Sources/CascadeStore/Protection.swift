package import CascadeModel

/// A node that is kept from every deletion, with all that its deletion would take along.
package struct Protection: Hashable, Sendable {
  package let number: Int64
  package let node: Node
  package let reason: String
  package let author: String
  /// In milliseconds since 1970; it does not end by itself where `until` is nil.
  package let since: Int64
  package let until: Int64?

  package struct Request: Hashable, Sendable {
    package let node: Node
    package let reason: String
    package let author: String
    package let until: Int64?

    package init(_ node: Node, because reason: String, by author: String, until: Int64? = nil) {
      (self.node, self.reason, self.author, self.until) = (node, reason, author, until)
    }
  }

  package init(number: Int64, _ request: Request, since: Int64) {
    (self.number, node, reason) = (number, request.node, request.reason)
    (author, self.since, until) = (request.author, since, request.until)
  }

  package func hasEnded(at now: Int64) -> Bool { until.map { $0 <= now } ?? false }

  /// How often what is protected is found again, in milliseconds.
  package static let interval: Int64 = 50_000
}

/// There is no such node to protect.
package struct NoNodeToProtect: Error, CustomStringConvertible {
  package let node: Node
  package init(_ node: Node) { self.node = node }
  package var description: String { "there is no node \(node)" }
}
