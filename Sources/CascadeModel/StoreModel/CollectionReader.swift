/// Reads `collections`.
struct CollectionReader {
  private static let keys = [
    "table", "key", "types", "replace", "undo", "unreferenced", "hold", "fetched", "was",
    "expires", "keepDeleted", "softDelete",
  ]

  private let entry: ModelValue

  init(_ entry: ModelValue) { self.entry = entry }

  func read(into model: inout StoreModel) {
    for (name, entry) in entry.members() ?? [] {
      entry.checkName(name: name, of: "collection")
      guard let fields = Fields(entry, Self.keys) else { continue }
      let collection = fields["table"].map { mapped($0, fields) } ?? managed(fields)
      model.collections[name] = collection
      if case .managed(let types) = collection {
        for type in types.values { model.typeNames[type] = name }
      }
      if fields["undo"]?.bool() == false { model.irrevocable.insert(name) }
      if fields["unreferenced"]?.bool() == true { model.freelyUnreferenced.insert(name) }
      if fields["hold"]?.bool() == false { model.withoutHold.insert(name) }
      fields["was"].map { FormerNamesReader(collection: name).read($0, into: &model.formerNames) }
      model.keptDeleted[name] = fields["keepDeleted"]?.bool()
      fields["expires"].map { model.expiries[name] = ExpiryReader.read($0) }
      fields["softDelete"].map { model.softDeletions[name] = SoftDeletionReader.read($0) }
      let fetched = fields["fetched"].map(FetchedReader.read) ?? [:]
      if !fetched.isEmpty { model.fetched[name] = fetched }
    }
    checkTables()
    checkTypes()
  }

  private func mapped(_ table: ModelValue, _ fields: Fields) -> StoreModel.Collection {
    let name = table.name("a table") ?? ""
    table.judge(table: name)
    fields["types"]?.addProblem("only a managed collection has types")
    let key = fields.required("key").map { $0.columns(of: "a key") } ?? []
    return .mapped(table: name, key: key, replace: fields["replace"]?.word() ?? .watch)
  }

  private func managed(_ fields: Fields) -> StoreModel.Collection {
    for key in ["key", "replace", "undo", "expires", "keepDeleted", "softDelete"] {
      fields[key]?.addProblem("\"\(key)\" applies to a table, but \"table\" is missing")
    }
    return .managed(types: fields["types"].map(types) ?? [:])
  }

  private func types(_ entry: ModelValue) -> [String: String] {
    var types: [String: String] = [:]
    for (type, entry) in entry.members() ?? [] {
      guard let name = entry.string("a name"), entry.checkName(name: name, of: "type") else {
        continue
      }
      types[type] = name
    }
    return types
  }

  /// A row is one node. If two collections had the same table, it would be two.
  private func checkTables() {
    var owners: [String: String] = [:]
    for (name, collection) in entry.objectMembers {
      guard let table = collection.member("table"), case .string(let text) = table.json
      else { continue }
      if let owner = owners[text.folded] {
        table.addProblem("table \"\(text)\" is already collection \"\(owner)\"")
      }
      owners[text.folded] = name
    }
  }

  /// A type's name may be used in place of a collection's name, so each name must mean one thing.
  private func checkTypes() {
    var places: [String: String] = [:]
    for (name, _) in entry.objectMembers { places[name] = "a collection" }
    for (_, collection) in entry.objectMembers {
      for (_, type) in collection.member("types")?.objectMembers ?? [] {
        guard case .string(let name) = type.json else { continue }
        if let place = places[name] { type.addProblem("\"\(name)\" is already \(place)") }
        places[name] = type.path
      }
    }
  }
}

extension ModelValue {
  /// The members of an object; empty for other values, without a complaint.
  var objectMembers: [(name: String, entry: ModelValue)] {
    if case .object = json { members() ?? [] } else { [] }
  }

  func member(_ name: String) -> ModelValue? { objectMembers.first { $0.name == name }?.entry }

  /// Refuses Cascade's own tables and SQLite's: they hold no rows of the application.
  func judge(table: String) {
    if ["cascade_", "sqlite_"].contains(where: { table.folded.hasPrefix($0) }) {
      addProblem("\"\(table)\" is not a table of the application")
    }
  }
}
