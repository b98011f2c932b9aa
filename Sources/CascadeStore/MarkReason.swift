package import CascadeModel

/// Why a row is marked as gone for others.
package struct MarkReason: Hashable, Sendable {
  /// The node because of which it is; nil if an application marked it.
  package let via: Node?
  /// The edge, and the rule by which it follows.
  package let name: String?
  package let rule: String?
  package let at: Int64
  /// The batch that marked it.
  package let batch: Int64?

  package init(via: Node?, name: String?, rule: String?, at: Int64, batch: Int64?) {
    (self.via, self.name, self.rule) = (via, name, rule)
    (self.at, self.batch) = (at, batch)
  }
}
