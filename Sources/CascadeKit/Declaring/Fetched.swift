internal import CascadeModel

extension Model {
  /// A fetched property of this model: `Fetched<Song>`.
  public typealias Fetched<Target: Model> = FetchedFrom<Self, Target>
}

/// A query that belongs to each value of a model. It holds nothing, and is run when it is asked for.
///
/// In the condition, `$source.since` stands for the column `since` of the value that has the
/// property, `$source.key` for its key, and `$property.after` for one of the settings.
public struct FetchedFrom<Source: Model, Target: Model>: Declared {
  /// The name of the property.
  public let name: String
  /// The condition in SQL.
  public let condition: String
  /// What the values are sorted by, in SQL.
  public let order: String?
  /// The greatest number of values.
  public let limit: Int?
  /// What `$property` stands for.
  public let settings: [String: SQLValue]
  /// The file of another store that is searched; nil for the same one.
  public let store: String?

  /// Describes a fetched property.
  ///
  /// - Parameters:
  ///   - name: The name of the property.
  ///   - condition: The condition in SQL.
  ///   - order: What the values are sorted by, in SQL.
  ///   - limit: The greatest number of values.
  ///   - settings: What `$property` stands for.
  ///   - store: The file of another store to search.
  ///   - place: Where it is declared; left out.
  public init(
    _ name: String, where condition: String, order: String? = nil, limit: Int? = nil,
    settings: [String: SQLValue] = [:], store: String? = nil,
    place: DeclaredPlace = #declaredPlace
  ) {
    self.name = name
    self.condition = condition
    self.order = order
    self.limit = limit
    self.settings = settings
    self.store = store
  }

  /// Adds the property to a model file.
  public func declare(in model: inout ModelFile) {
    var fields = [
      JSON.Field("from", .string(Target.label)), JSON.Field("where", .string(condition)),
    ]
    if let order { fields.append(JSON.Field("order", .string(order))) }
    if let limit { fields.append(JSON.Field("limit", .integer(Int64(limit)))) }
    if let store { fields.append(JSON.Field("store", .string(store))) }
    if !settings.isEmpty {
      let settings = settings.sorted { $0.key < $1.key }
        .map { JSON.Field($0.key, $0.value.json) }
      fields.append(JSON.Field("settings", .object(settings)))
    }
    model.fetched[Source.collection.name, default: []].append(
      JSON.Field(name, .object(fields)))
  }
}
