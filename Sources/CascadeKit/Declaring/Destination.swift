/// What a relationship can lead to: `Album`, `Album?` or `[Album]`.
public protocol Destination: Sendable {
  /// The model at the other end.
  associatedtype DestinationModel: Identified = Self
  /// The type of the property that has the reference.
  associatedtype DestinationReference: ColumnValue = ID<DestinationModel>
  /// Whether the reference may be missing.
  static var isOptional: Bool { get }
  /// Whether there may be several.
  static var isToMany: Bool { get }
}

extension Optional: Destination where Wrapped: Model {
  /// The wrapped model.
  public typealias DestinationModel = Wrapped
  /// An identity, or nil.
  public typealias DestinationReference = ID<Wrapped>?
  /// True.
  public static var isOptional: Bool { true }
  /// False.
  public static var isToMany: Bool { false }
}

extension Array: Destination where Element: Model {
  /// The model of the elements.
  public typealias DestinationModel = Element
  /// A list of identities.
  public typealias DestinationReference = [ID<Element>]
  /// True: a list may be empty.
  public static var isOptional: Bool { true }
  /// True.
  public static var isToMany: Bool { true }
}
