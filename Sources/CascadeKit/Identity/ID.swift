/// A type whose values have an identity: a ``Model``, or a ``Union`` of models.
public protocol Identified: Sendable {
  /// The type of the key, ``UUIDv7`` if the model does not say otherwise (`typealias Key = Int`).
  associatedtype Key: CascadeKit.Key = UUIDv7
}

/// A type whose values can be the key of a row or an object.
public protocol Key: Hashable, Comparable, Sendable, LosslessStringConvertible, ColumnValue {}

extension UUIDv7: Key {}
extension String: Key {}
extension Int: Key {}

/// The identity of a row or an object. A property that has one is a reference, and a
/// ``RelationshipFrom`` can be declared for it.
public struct ID<Node: Identified>: Hashable, Sendable {
  /// The value in the key column, or the key of the object.
  public let key: Node.Key

  /// Names the row or object with this key.
  @inlinable
  public init(_ key: Node.Key) { self.key = key }
}

extension ID where Node.Key == UUIDv7 {
  /// A new identity, which nothing has yet.
  public init() { self.init(UUIDv7()) }

  /// A new identity, which nothing has yet.
  public static func new() -> ID { ID() }
}

extension ID: Comparable {
  /// Orders by the keys.
  public static func < (one: ID, other: ID) -> Bool { one.key < other.key }
}

extension ID: CustomStringConvertible {
  /// Reads a key; nil if it is not one of this type.
  public init?(text: String) {
    guard let key = Node.Key(text) else { return nil }
    self.init(key)
  }

  /// The key alone.
  public var description: String { key.description }
}

extension ID: ExpressibleByUnicodeScalarLiteral, ExpressibleByExtendedGraphemeClusterLiteral,
  ExpressibleByStringLiteral
where Node.Key == String {
  /// Names the row or object with this key.
  public init(stringLiteral value: String) { self.init(value) }
}

extension ID: ExpressibleByIntegerLiteral where Node.Key == Int {
  /// Names the row or object with this key.
  public init(integerLiteral value: Int) { self.init(value) }
}
