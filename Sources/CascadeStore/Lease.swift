package import CascadeModel

/// A lease of a node or of a whole collection: one row of `cascade_lease`.
package struct Lease: Hashable, Sendable {
  package let collection: String
  /// Nil where the whole collection is leased.
  package let key: Key?
  package let owner: String?
  /// In seconds since 1970.
  package let expires: Int64
  /// Whether it ends with a client's connection.
  package let isOfConnection: Bool

  package init(
    collection: String, key: Key?, owner: String?, expires: Int64, isOfConnection: Bool
  ) {
    self.collection = collection
    self.key = key
    self.owner = owner
    self.expires = expires
    self.isOfConnection = isOfConnection
  }

  /// What a lease is for.
  package enum Subject: Hashable, Sendable {
    case node(Node)
    case collection(String)
  }

  package static let standard: Int64 = 900
}
