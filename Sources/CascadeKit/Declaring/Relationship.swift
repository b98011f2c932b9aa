internal import CascadeModel

extension Model {
  /// A relationship from this model to another one: `Relationship<Album>`, `Relationship<Artist?>`
  /// or `Relationship<[Tag]>`.
  public typealias Relationship<Target: Destination> = RelationshipFrom<Self, Target>
}

/// What a model declares: a relationship, a reference to files, or a fetched property.
public protocol Declared: Sendable {
  /// The name in the model file.
  var name: String { get }
  /// Adds the declaration to a model file.
  func declare(in model: inout ModelFile)
}

/// A relationship between two models: where its edges are, and what they mean.
///
/// Inside of a model it is written as ``Model/Relationship``. Declared outside of both models, as a
/// mapping between them, it is added to the ``ModelFile`` by itself.
public struct RelationshipFrom<Source: Model, Target: Destination>: Declared {
  /// The name of the edges.
  public let name: String
  /// What happens to one end when the other goes.
  public let rules: Rules
  let storage: EdgeStorage<Source>
  private let isUnique: Bool
  private let bounds: (min: Int?, max: Int?)
  private let inverseName: String?

  /// A relationship by a property that has the key of the other end, or a list of keys.
  ///
  /// - Parameters:
  ///   - path: The property that has the reference.
  ///   - name: The name of the edges.
  ///   - rules: What happens to one end when the other goes.
  ///   - unique: Whether no two sources may have the same destination.
  ///   - min: The least number of destinations of a list that is not empty.
  ///   - max: The greatest number of destinations.
  ///   - inverse: The name of the relationship, seen from the other end.
  ///   - place: Where it is declared; left out.
  public init(
    _ path: any KeyPath<Source, Target.DestinationReference> & Sendable, _ name: String,
    rules: Rules = [],
    unique: Bool = false, min: Int? = nil, max: Int? = nil, inverse: String? = nil,
    place: DeclaredPlace = #declaredPlace
  ) {
    self.init(name, .property(path), rules, unique, (min, max), inverse)
  }

  /// A relationship by the rows of a join table.
  ///
  /// - Parameters:
  ///   - name: The name of the edges.
  ///   - join: The table, and its two columns.
  ///   - rules: What happens to one end when the other goes.
  ///   - max: The greatest number of destinations.
  ///   - inverse: The name of the relationship, seen from the other end.
  ///   - place: Where it is declared; left out.
  public init(
    _ name: String, join: Join, rules: Rules = [], max: Int? = nil, inverse: String? = nil,
    place: DeclaredPlace = #declaredPlace
  ) where Target.DestinationReference == [ID<Target.DestinationModel>] {
    self.init(name, .join(join), rules, false, (nil, max), inverse)
  }

  /// A relationship by edges in Cascade's own table: those that ``Transaction/link(_:from:to:rules:)``
  /// makes, and those of ``Model/edges``.
  ///
  /// - Parameters:
  ///   - name: The name of the edges.
  ///   - rules: What happens to one end when the other goes.
  ///   - max: The greatest number of destinations.
  ///   - inverse: The name of the relationship, seen from the other end.
  ///   - place: Where it is declared; left out.
  public init(
    _ name: String, rules: Rules = [], max: Int? = nil, inverse: String? = nil,
    place: DeclaredPlace = #declaredPlace
  ) where Target.DestinationReference == [ID<Target.DestinationModel>] {
    self.init(name, .stored, rules, false, (nil, max), inverse)
  }

  private init(
    _ name: String, _ storage: EdgeStorage<Source>, _ rules: Rules, _ isUnique: Bool,
    _ bounds: (min: Int?, max: Int?), _ inverse: String?
  ) {
    self.name = name
    self.storage = storage
    self.rules = rules
    self.isUnique = isUnique
    self.bounds = bounds
    inverseName = inverse
  }
}

extension RelationshipFrom where Target.DestinationModel: Model {
  /// The same edges, seen from their destination. It is stored nowhere, so it is always true.
  public var inverse: Inverse<Target.DestinationModel, Source> {
    Inverse(name: inverseName ?? "inverse of \(name)", of: name, storage: storage)
  }
}

/// Where the edges of a relationship are.
enum EdgeStorage<Source: Model>: Sendable {
  case property(any PartialKeyPath<Source> & Sendable)
  case join(Join)
  case stored
}

/// A table whose rows are the edges of a relationship.
public struct Join: Hashable, Sendable {
  /// The name of the table.
  public let table: String
  /// The column that has the key of the source.
  public let source: String
  /// The column that has the key of the destination.
  public let destination: String

  /// Names a table, and its two columns.
  public init(_ table: String, source: String, destination: String) {
    self.table = table
    self.source = source
    self.destination = destination
  }
}

/// A relationship, seen from its other end: from an album to the songs whose reference leads to it.
public struct Inverse<Node: Model, Origin: Model>: Sendable {
  /// The name that the model gives this end.
  public let name: String
  let of: String
  let storage: EdgeStorage<Origin>
}

// MARK: - The model file

extension RelationshipFrom {
  /// Adds the relationship to a model file.
  public func declare(in model: inout ModelFile) {
    var fields = [JSON.Field("name", .string(name)), JSON.Field("from", .string(Source.label))]
    fields.append(JSON.Field("to", .string(label(of: Target.DestinationModel.self))))
    if let place = storage.field { fields.append(place) }
    if Target.isToMany { fields.append(JSON.Field("toMany", true)) }
    if !Target.isOptional { fields.append(JSON.Field("optional", false)) }
    if isUnique { fields.append(JSON.Field("unique", true)) }
    if let min = bounds.min { fields.append(JSON.Field("min", .integer(Int64(min)))) }
    if let max = bounds.max { fields.append(JSON.Field("max", .integer(Int64(max)))) }
    if rules != [] { fields.append(JSON.Field("rules", rules.json)) }
    if let inverseName {
      fields.append(JSON.Field("inverse", ["name": .string(inverseName)]))
    }
    model.add(.object(fields))
  }
}

extension EdgeStorage {
  fileprivate var field: JSON.Field? {
    switch self {
    case .property(let path): Source.field(of: path)
    case .join(let join):
      JSON.Field(
        "join",
        [
          "table": .string(join.table), "source": .string(join.source),
          "destination": .string(join.destination),
        ])
    case .stored: nil
    }
  }
}

extension Model {
  static var label: String { collection.label }

  /// Where a reference is: in a column, or in a property of an object or of a column with JSON.
  static func field(of path: PartialKeyPath<Self>) -> JSON.Field {
    let isList = type(of: path).valueType is any ListOfReferences.Type
    let isColumn = collection.table != nil && !isList
    return JSON.Field(isColumn ? "column" : "property", .string(columns.property(path).column))
  }
}

/// For a list in a column, the model file needs another word than for a single reference.
protocol ListOfReferences {}
extension Array: ListOfReferences {}

func label(of type: any Identified.Type) -> String {
  if let model = type as? any Model.Type { return model.collection.label }
  preconditionFailure("a relationship leads to a model, and \(type) is none")
}
