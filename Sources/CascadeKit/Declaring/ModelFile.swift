package import CascadeModel

/// The model of a store, made from types. ``text`` is what `cascaded --model` reads.
///
///     let model = ModelFile(files: ["media": "/srv/media"]) {
///       Artist.self
///       Album.self
///     }
public struct ModelFile: Sendable {
  var collections: [DeclaredCollection] = []
  private(set) var relationships: [JSON] = []
  /// By collection.
  var fetched: [String: [JSON.Field]] = [:]
  private let files: [String: String]
  private let roots: [String]
  private let settings: String

  /// Makes a model.
  ///
  /// - Parameters:
  ///   - files: The directories of files that values refer to, by their names.
  ///   - roots: The collections from which the sweep `unreachable` starts.
  ///   - settings: Further members of the model file, in JSON5: `"trash: '7d', strict: true"`.
  ///   - content: The models, and the relationships that are declared outside of them.
  public init(
    files: [String: String] = [:], roots: [String] = [], settings: String = "",
    @ModelFileBuilder _ content: () -> [ModelFileBuilder.Element]
  ) {
    self.files = files
    self.roots = roots
    self.settings = settings
    for element in content() { add(element) }
  }

  private mutating func add(_ element: ModelFileBuilder.Element) {
    switch element {
    case .declared(let declared): declared.declare(in: &self)
    case .model(let model):
      add(model.collection)
      for declared in model.relationships { declared.declare(in: &self) }
    }
  }

  /// One that a model declares and that is named in the file, too, is there once.
  mutating func add(_ relationship: JSON) {
    if !relationships.contains(relationship) { relationships.append(relationship) }
  }

  private mutating func add(_ collection: Collection) {
    let index = collections.firstIndex { $0.name == collection.name }
    guard let index else { return collections.append(DeclaredCollection(collection)) }
    if let type = collection.type { collections[index].types.append(type) }
  }
}

/// A collection as the model file has it.
struct DeclaredCollection: Sendable {
  let name: String
  private let table: String?
  private let key: String
  /// The types of its objects.
  var types: [String]

  init(_ collection: Collection) {
    name = collection.name
    table = collection.table
    key = collection.key
    types = collection.type.map { [$0] } ?? []
  }

  func json(_ fetched: [JSON.Field]) -> JSON {
    var fields: [JSON.Field] = []
    if let table {
      fields = [JSON.Field("table", .string(table)), JSON.Field("key", .string(key))]
    }
    if !types.isEmpty {
      fields.append(JSON.Field("types", .object(types.map { JSON.Field($0, .string($0)) })))
    }
    if !fetched.isEmpty { fields.append(JSON.Field("fetched", .object(fetched))) }
    return .object(fields)
  }
}

/// Collects what a ``ModelFile`` is made of.
@resultBuilder
public enum ModelFileBuilder {
  /// A part of a model file.
  public enum Element: Sendable {
    /// A model.
    case model(any Model.Type)
    /// A relationship that is declared outside of the models.
    case declared(any Declared)
  }

  /// A model.
  public static func buildExpression(_ model: any Model.Type) -> [Element] { [.model(model)] }
  /// A relationship that is declared outside of the models.
  public static func buildExpression(_ declared: any Declared) -> [Element] {
    [.declared(declared)]
  }
  /// Several parts.
  public static func buildBlock(_ parts: [Element]...) -> [Element] { parts.flatMap(\.self) }
  /// Parts that are left out if a condition is false.
  public static func buildOptional(_ part: [Element]?) -> [Element] { part ?? [] }
  /// Parts of a loop.
  public static func buildArray(_ parts: [[Element]]) -> [Element] { parts.flatMap(\.self) }
}

// MARK: - As text

extension ModelFile {
  /// The model file, as `cascaded --model` reads it.
  public var text: String {
    let members = members.map { "  \(JSON.string($0.name).text): \($0.value.text)" }
    let more = settings.isEmpty ? [] : ["  \(settings)"]
    return "{\n\((members + more).joined(separator: ",\n"))\n}\n"
  }

  /// The members that are declared here.
  var members: [JSON.Field] {
    let collections = collections.map { JSON.Field($0.name, $0.json(fetched[$0.name] ?? [])) }
    var fields = [
      JSON.Field("collections", .object(collections)),
      JSON.Field("relationships", .array(relationships)),
    ]
    if !files.isEmpty {
      let files = files.sorted { $0.key < $1.key }.map { JSON.Field($0.key, .string($0.value)) }
      fields.append(JSON.Field("files", .object(files)))
    }
    if !roots.isEmpty { fields.append(JSON.Field("roots", .array(roots.map(JSON.string)))) }
    return fields
  }
}

// MARK: - Compared with another

extension ModelFile {
  /// What differs from the model that is served, one text for each difference. What only the served
  /// model says, such as its schedules, is no difference.
  package func differences(from served: JSON) throws(ModelErrors) -> [String] {
    var own = try StoreModel(json5: Array(text.utf8)).source.json.object ?? []
    for field in served.object ?? [] where !own.contains(where: { $0.name == field.name }) {
      own.append(field)
    }
    let model = try StoreModel(json5: JSON.object(own).utf8)
    return model.changes(since: try StoreModel(json5: served.utf8))
  }
}
