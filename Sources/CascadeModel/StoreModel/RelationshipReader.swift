/// Reads one relationship, as far as it can be checked without the others.
struct RelationshipReader {
  private static let keys = [
    "name", "from", "to", "column", "typeColumn", "join", "property", "toMany", "optional", "min",
    "max", "unique", "none", "rules", "deleteRule", "inverse", "was",
  ]

  let names: DeclaredNames

  func read(_ entry: ModelValue) -> RelationshipDraft? {
    guard let fields = Fields(entry, Self.keys) else { return nil }
    let name = fields.required("name")?.name()
    let from = fields.required("from").flatMap(names.collection)
    let to = fields.required("to").flatMap { target($0, polymorphic: fields["typeColumn"] != nil) }
    let bounds = Bounds(fields)
    let unique = fields["unique"]?.bool() ?? false
    let rules = fields["rules"].map(readRules) ?? []
    let deleteRule: DeleteRule? = fields["deleteRule"]?.word("delete rule")
    let inverse = fields["inverse"].flatMap(readInverse)
    guard let name, let from, let to else { return nil }
    let place = EdgeStorageReader(fields: fields, names: names, from: from, to: to).read()
    var value = Relationship(
      name: name, from: from, to: to, edgeStorage: place, toMany: toMany(bounds, place, fields),
      optional: bounds.optional ?? true, min: bounds.min, max: bounds.max, unique: unique,
      none: fields["none"].map { readNone($0, place) } ?? [], rules: [])
    value.was = fields["was"].flatMap { former($0, name) }
    return RelationshipDraft(
      fields: fields, value: value, rules: rules, deleteRule: deleteRule, inverse: inverse)
  }

  private func former(_ entry: ModelValue, _ name: String) -> String? {
    let was = entry.name()
    if was == name { entry.addProblem("\"\(name)\" is what it is called now") }
    return was
  }

  /// Whether it is to-many. A join table implies it.
  private func toMany(
    _ bounds: Bounds, _ place: Relationship.EdgeStorage, _ fields: Fields
  ) -> Bool {
    var toMany = bounds.toMany ?? false
    if case .join = place, bounds.toMany == nil { toMany = true }
    if !toMany { bounds.checkToOne(fields) }
    return toMany
  }

  private func target(_ entry: ModelValue, polymorphic: Bool) -> Relationship.Target? {
    switch entry.json {
    case .string: names.collection(entry).map { .collection($0) }
    case .object where polymorphic: types(entry)
    case .object: files(entry)
    case .array: either(entry)
    default:
      entry.wrongType(
        "a collection, a list of them, { files: ROOT } or a map from types to collections")
    }
  }

  private func either(_ entry: ModelValue) -> Relationship.Target? {
    var collections: [String] = []
    for entry in entry.elements() ?? [] {
      if case .object = entry.json {
        entry.addProblem("files cannot be one of several destinations")
        continue
      }
      guard let name = names.collection(entry) else { continue }
      if collections.contains(name) { entry.addProblem("is listed twice") }
      collections.append(name)
    }
    if entry.elements()?.count ?? 0 < 2 { entry.addProblem("a list has at least two collections") }
    return .either(collections)
  }

  private func types(_ entry: ModelValue) -> Relationship.Target? {
    var map: [String: String] = [:]
    for (type, entry) in entry.objectMembers { map[type] = names.collection(entry) }
    if entry.objectMembers.isEmpty { entry.addProblem("has no types") }
    return .types(map)
  }

  private func files(_ entry: ModelValue) -> Relationship.Target? {
    let keys = entry.objectMembers.map(\.name)
    if !keys.contains("files"), !keys.contains(where: { nearest($0, in: ["files"]) != nil }) {
      entry.addProblem("a map from types to collections needs \"typeColumn\"")
      return nil
    }
    return Fields(entry, ["files"])?.required("files").flatMap(names.root).map { .files(root: $0) }
  }

  private func readNone(_ entry: ModelValue, _ place: Relationship.EdgeStorage) -> [Key] {
    if place == .stored {
      entry.addProblem("Cascade stores these edges itself: an edge that is not there has no value")
    }
    var values: [Key] = []
    for entry in entry.elements("a list of values") ?? [] {
      guard let value = entry.noneValue else { continue }
      if values.contains(value) { entry.addProblem("is listed twice") }
      values.append(value)
    }
    return values
  }

  private func readRules(_ entry: ModelValue) -> Rules {
    var rules: Rules = []
    for entry in entry.elements("a list of rules") ?? [] {
      guard let name = entry.string("a rule's name") else { continue }
      if let rule = Rules(name: name) {
        rules.insert(rule)
      } else if DeleteRule(rawValue: name) != nil {
        entry.addProblem("\"\(name)\" is a value of deleteRule, not a rule")
      } else {
        entry.addProblem(unknown("rule", name, among: Rules.allNames))
      }
    }
    return rules
  }

  private func readInverse(_ entry: ModelValue) -> InverseDraft? {
    if case .string = entry.json {
      return entry.name().map { InverseDraft(entry: entry, name: $0) }
    }
    let keys = ["name", "deleteRule", "toMany", "optional", "min", "max"]
    guard let fields = Fields(entry, keys, "a name or an object") else { return nil }
    let bounds = Bounds(fields)
    if bounds.toMany == false { bounds.checkToOne(fields) }
    let deleteRule: DeleteRule? = fields["deleteRule"]?.word("delete rule")
    guard let name = fields.required("name")?.name() else { return nil }
    return InverseDraft(entry: entry, name: name, deleteRule: deleteRule, bounds: bounds)
  }
}

extension ModelValue {
  /// A value that may stand for "no reference".
  fileprivate var noneValue: Key? {
    switch json {
    case .integer(let number): return .integer(number)
    case .string(let text): return .text(text)
    case .null:
      addProblem("null never refers to anything: leave it out")
      return nil
    default: return wrongType("a string or a whole number")
    }
  }
}
