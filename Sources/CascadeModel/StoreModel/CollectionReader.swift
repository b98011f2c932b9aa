/// Reads `collections`.
struct CollectionReader {
  private static let keys = ["table", "key", "types", "replace", "fetched"]

  private let entry: Entry

  init(_ entry: Entry) { self.entry = entry }

  func read(into model: inout StoreModel) {
    for (name, entry) in entry.members() ?? [] {
      entry.judge(name: name, of: "collection")
      guard let fields = Fields(entry, Self.keys) else { continue }
      let collection = fields["table"].map { mapped($0, fields) } ?? managed(fields)
      model.collections[name] = collection
      if case .managed(let types) = collection {
        for type in types.values { model.typeNames[type] = name }
      }
      let fetched = fields["fetched"].map(FetchedReader.read) ?? [:]
      if !fetched.isEmpty { model.fetched[name] = fetched }
    }
    judgeTables()
    judgeTypes()
  }

  private func mapped(_ table: Entry, _ fields: Fields) -> StoreModel.Collection {
    let name = table.name("a table") ?? ""
    table.judge(table: name)
    fields["types"]?.refuse("only a managed collection has types")
    let key = fields.required("key").map(columns) ?? []
    return .mapped(table: name, key: key, replace: fields["replace"]?.word() ?? .watch)
  }

  private func managed(_ fields: Fields) -> StoreModel.Collection {
    for key in ["key", "replace"] {
      fields[key]?.refuse("\"\(key)\" is for a table, and \"table\" is missing")
    }
    return .managed(types: fields["types"].map(types) ?? [:])
  }

  private func columns(_ entry: Entry) -> [String] {
    if case .string = entry.json { return entry.name("a column").map { [$0] } ?? [] }
    let entries = entry.elements("a column or a list of columns") ?? []
    if case .array(let list) = entry.json, list.isEmpty { entry.refuse("a key has a column") }
    var columns: [String] = []
    for entry in entries {
      guard let column = entry.name("a column") else { continue }
      // SQLite's names do not depend on case.
      if columns.contains(where: { $0.folded == column.folded }) {
        entry.refuse("column \"\(column)\" is there twice")
      }
      columns.append(column)
    }
    return columns
  }

  private func types(_ entry: Entry) -> [String: String] {
    var types: [String: String] = [:]
    for (type, entry) in entry.members() ?? [] {
      guard let name = entry.string("a name"), entry.judge(name: name, of: "type") else { continue }
      types[type] = name
    }
    return types
  }

  /// A row is one node. If two collections had the same table, it would be two.
  private func judgeTables() {
    var owners: [String: String] = [:]
    for (name, collection) in entry.objectMembers {
      guard let table = collection.member("table"), case .string(let text) = table.json
      else { continue }
      if let owner = owners[text.folded] {
        table.refuse("table \"\(text)\" is collection \"\(owner)\" already")
      }
      owners[text.folded] = name
    }
  }

  /// A type's name may be used in place of a collection's name, so each name must mean one thing.
  private func judgeTypes() {
    var places: [String: String] = [:]
    for (name, _) in entry.objectMembers { places[name] = "a collection" }
    for (_, collection) in entry.objectMembers {
      for (_, type) in collection.member("types")?.objectMembers ?? [] {
        guard case .string(let name) = type.json else { continue }
        if let place = places[name] { type.refuse("\"\(name)\" is \(place) already") }
        places[name] = type.path
      }
    }
  }
}

extension Entry {
  /// The members of an object; empty for other values, without a complaint.
  var objectMembers: [(name: String, entry: Entry)] {
    if case .object = json { members() ?? [] } else { [] }
  }

  func member(_ name: String) -> Entry? { objectMembers.first { $0.name == name }?.entry }

  /// Refuses Cascade's own tables and SQLite's: they hold no rows of the application.
  func judge(table: String) {
    if ["cascade_", "sqlite_"].contains(where: { table.folded.hasPrefix($0) }) {
      refuse("\"\(table)\" is no table of the application")
    }
  }
}
