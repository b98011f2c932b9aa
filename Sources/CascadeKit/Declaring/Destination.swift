/// What a relationship can lead to: `Album`, `Album?` or `[Album]`.
public protocol Destination: Sendable {
  /// The model at the other end.
  associatedtype Node: Identified
  /// The type of the property that has the reference.
  associatedtype Reference: ColumnValue
  /// Whether the reference may be missing.
  static var isOptional: Bool { get }
  /// Whether there may be several.
  static var isToMany: Bool { get }
}

extension Optional: Destination where Wrapped: Model {
  /// The wrapped model.
  public typealias Node = Wrapped
  /// An identity, or nil.
  public typealias Reference = ID<Wrapped>?
  /// True.
  public static var isOptional: Bool { true }
  /// False.
  public static var isToMany: Bool { false }
}

extension Array: Destination where Element: Model {
  /// The model of the elements.
  public typealias Node = Element
  /// A list of identities.
  public typealias Reference = [ID<Element>]
  /// True: a list may be empty.
  public static var isOptional: Bool { true }
  /// True.
  public static var isToMany: Bool { true }
}
