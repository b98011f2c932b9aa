/// The stored properties of a model, in the order in which they are read and written.
public struct Columns<Owner: Model>: Sendable {
  /// The properties in their order.
  public let all: [StoredProperty<Owner>]
  private let indexes: PropertyIndexes<Owner>

  /// Describes the properties. Their paths must differ.
  public init(_ all: [StoredProperty<Owner>]) {
    self.all = all
    indexes = PropertyIndexes(all)
  }

  /// The names of the properties.
  @usableFromInline var names: [String] { all.map(\.name) }

  /// The property of a path. A computed property is no column, and asking for it is a programming
  /// error.
  func property(_ path: PartialKeyPath<Owner>) -> StoredProperty<Owner> {
    guard let index = indexes[path] else {
      preconditionFailure("\(path) is no stored property of \(Owner.self)")
    }
    return all[index]
  }
}

/// A property of a model that is stored.
public struct StoredProperty<Owner: Model>: Sendable {
  /// The name of the property.
  public let name: String
  /// The name of the column or of the object's member.
  public let column: String
  let path: any PartialKeyPath<Owner> & Sendable
  /// Whether the type writes what it has read.
  let isExact: Bool

  /// Describes a property. The column of a table is by default the name in small letters, with an
  /// underscore between words; the member of an object has the same name as the property.
  public init(
    _ name: String, _ path: any PartialKeyPath<Owner> & Sendable, column: String? = nil
  ) {
    self.name = name
    self.path = path
    let isMapped = Owner.collection.table != nil
    self.column = column ?? (isMapped ? StoredProperty.columnName(name) : name)
    isExact = (type(of: path as AnyKeyPath).valueType as? any ColumnValue.Type)?.isExact ?? false
  }

  /// `coverPath` is `cover_path`, and `albumID` is `album_id`.
  private static func columnName(_ name: String) -> String {
    var result = ""
    var previous: Character = "_"
    for (character, next) in zip(name, name.dropFirst() + " ") {
      let beginsWord =
        character.isUppercase && previous != "_" && (!previous.isUppercase || next.isLowercase)
      result += (beginsWord ? "_" : "") + character.lowercased()
      previous = character
    }
    return result
  }
}

/// The places of properties, by their paths.
// Unchecked, because the type of a dictionary's key does not say that paths are Sendable. They are
// those of `StoredProperty`, and nothing changes the dictionary.
private struct PropertyIndexes<Owner: Model>: @unchecked Sendable {
  private let indexes: [PartialKeyPath<Owner>: Int]

  init(_ all: [StoredProperty<Owner>]) {
    indexes = Dictionary(uniqueKeysWithValues: all.enumerated().map { ($1.path, $0) })
  }

  subscript(path: PartialKeyPath<Owner>) -> Int? { indexes[path] }
}
