/// A structure whose values are rows of a table, or objects in Cascade's own table.
///
/// `@Model` writes the requirements from the stored properties. They can also be written by hand:
///
///     extension Song: Model {
///       static let collection = Collection("songs", table: "song")
///       static let columns = Columns<Song>([.init("id", \.id), .init("title", \.title)])
///       static var relationships: [any Declared] { [] }
///       init(row: borrowing Row) throws(ReadError) {
///         id = try row.value(0)
///         title = try row.value(1)
///       }
///       func write(to row: inout RowValues) {
///         row.set(0, id)
///         row.set(1, title)
///       }
///     }
public protocol Model: Identified, Destination
where DestinationModel == Self, DestinationReference == ID<Self> {
  /// The identity. It never changes.
  var id: ID<Self> { get }
  /// Where the values are.
  static var collection: Collection { get }
  /// The stored properties.
  static var columns: Columns<Self> { get }
  /// What the model declares besides: relationships, references to files, fetched properties.
  static var relationships: [any Declared] { get }
  /// Reads a value.
  init(row: borrowing Row) throws(ReadError)
  /// Writes a value.
  func write(to row: inout RowValues)

  /// The edges that an object has besides those in its properties. They are its whole declared list
  /// after each put. A model without this property has none, and a put leaves those that are there.
  var edges: [Edge] { get }

  /// Called before a change is written. It may complete the value, or throw to refuse the change.
  mutating func willWrite(_ kind: WriteKind) throws
  /// Called after the change took effect.
  func didWrite(_ kind: WriteKind, _ receipt: Receipt)
}

/// What a change does to a value.
public enum WriteKind: Hashable, Sendable {
  /// It is inserted or replaced.
  case put
  /// Some properties are changed.
  case patch
  /// It is deleted.
  case delete
}

extension Model {
  /// None are declared: a put leaves those that are there.
  public var edges: [Edge] { Edge.undeclared }
  /// Changes and refuses nothing.
  public mutating func willWrite(_ kind: WriteKind) throws {}
  /// Does nothing.
  public func didWrite(_ kind: WriteKind, _ receipt: Receipt) {}

  /// A reference to one node is not optional.
  public static var isOptional: Bool { false }
  /// A reference to one node is not a list.
  public static var isToMany: Bool { false }
}

/// The collection of a model: its name, and where its values are.
public struct Collection: Hashable, Sendable {
  /// The name in the model file and in change files.
  public let name: String
  /// The table of a mapped collection; nil if its values are objects in Cascade's own table.
  public let table: String?
  /// The key column of the table, or the property that has the key of the object.
  public let key: String
  /// The type of the objects, if the collection has several.
  public let type: String?

  /// Describes a collection. Without a table, its values are objects in Cascade's own table.
  public init(_ name: String, table: String? = nil, key: String = "id", type: String? = nil) {
    self.name = name
    self.table = table
    self.key = key
    self.type = type
  }

  /// How the model file names the values: by their type, if they have one.
  var label: String { type ?? name }
}

extension Model {
  static func node(_ id: ID<Self>) -> NodeName { NodeName(collection.name, id.sqlValue) }

  var stored: RowValues {
    var row = RowValues()
    write(to: &row)
    return row
  }
}
