package import CascadeModel

/// A relationship whose edges are references within the values of managed objects.
package struct PropertyReference {
  package let name: String
  /// A collection, or a type within one.
  let from: String
  package let origin: Origin
  package let rules: Rules
  private let toMany: Bool
  /// Values that refer to nothing, as text: 0 and "0" are the same key.
  private let none: [String]
  /// Names stored collections, never types.
  private let target: Relationship.Target
  private let path: PropertyPath
  /// The member that names the destination's collection.
  private let typePath: PropertyPath?

  /// Nil if the edges are not references in values.
  init?(_ relationship: Relationship, in model: StoreModel) {
    guard model.isManaged(relationship.from) else { return nil }
    switch relationship.edgeStorage {
    case .property(let text): (origin, path, typePath) = (.property, PropertyPath(text), nil)
    case .polymorphic(let column, let typeColumn):
      (origin, path) = (.polymorphic, PropertyPath(column.first ?? ""))
      typePath = PropertyPath(typeColumn)
    case .stored, .column, .join: return nil
    }
    (name, from) = (relationship.name, relationship.from)
    (rules, toMany) = (relationship.rules, relationship.toMany)
    none = relationship.none.compactMap(\.managedText)
    target = relationship.to.inStore(of: model)
  }

  /// Whether members of these names decide what the references are.
  package func isDecided(by names: [String]) -> Bool {
    [path, typePath].compactMap { $0 }.contains { path in
      names.contains { $0.hasBytes(of: path.first) }
    }
  }

  /// Everything that decides which edges a value gives, for a fingerprint.
  func description(in model: StoreModel) -> JSON {
    let types = target.words.map { word in
      JSON.array(
        [word.key, word.value, model.collections[word.value]?.recordedMeaning ?? ""].map {
          .string($0)
        })
    }
    let words: [JSON] = [
      .string(name), .string(from), .integer(origin.rawValue), .integer(rules.rawValue),
      .bool(toMany), .array(types), .string(path.description),
      .string(typePath?.description ?? ""),
    ]
    return .array(words + none.map { .string($0) })
  }
}

// MARK: - Reading a value

/// Why something in a value cannot be a reference.
package struct InvalidReference: Error, CustomStringConvertible {
  package let message: String
  package var description: String { message }
}

extension PropertyReference {
  /// What an object refers to. References that cannot be read are handed to `misfit`, and the
  /// others are returned.
  package func destinations(
    in members: [Member], misfit: (InvalidReference) throws -> Void = { _ in }
  ) throws -> [Destination] {
    do {
      guard let collection = try collection(in: members) else { return [] }
      var destinations: [Destination] = []
      for reference in try references(in: members) where !isNone(reference) {
        do {
          destinations.append(try destination(reference, in: collection))
        } catch {
          try misfit(error)
        }
      }
      return destinations
    } catch let error as InvalidReference {
      try misfit(error)
      return []
    }
  }

  /// Takes out every reference for which `isGone` is true. Returns false if there is none.
  package func nullify(
    _ members: inout [Member], where isGone: (Destination) throws -> Bool
  ) throws -> Bool {
    guard let collection = try? collection(in: members),
      let references = try? references(in: members)
    else { return false }
    let kept = try references.filter { reference in
      if isNone(reference) { return true }
      guard let destination = try? destination(reference, in: collection) else { return true }
      return try !isGone(destination)
    }
    if kept.count == references.count { return false }
    let isList = try members.value(at: path).elements() != nil
    members.replace(at: path, with: isList ? JSONText(list: kept) : .null)
    if let typePath { members.replace(at: typePath, with: .null) }
    return true
  }

  private func isNone(_ reference: JSONText) -> Bool {
    if none.isEmpty { return false }
    let json = reference.json
    guard let text = json.string ?? json.integer.map({ String($0) }) else { return false }
    return none.contains { $0.hasBytes(of: text) }
  }

  /// The references as they are written: none for null, one for a single value.
  private func references(in members: [Member]) throws(InvalidReference) -> [JSONText] {
    let value = try value(in: members, at: path)
    if value.isNull { return [] }
    guard let elements = value.elements() else { return [value] }
    if toMany { return elements }
    throw misfit("\"\(path)\" is a list, but the relationship \"\(name)\" is to-one")
  }

  /// The collection or the file root that the references lead to; nil where there are no
  /// references.
  private func collection(in members: [Member]) throws(InvalidReference) -> String? {
    guard let typePath else { return target.words.first?.value }
    let word = try value(in: members, at: typePath)
    if word.isNull { return nil }
    let reference = try value(in: members, at: path)
    if reference.isNull || isNone(reference) { return nil }
    guard let text = word.json.string else {
      throw misfit("\"\(typePath)\" must be the name of a type, but it is \(word.json.found)")
    }
    if let collection = target.words.first(where: { $0.key.hasBytes(of: text) })?.value {
      return collection
    }
    let hint = nearest(text, in: target.words.map(\.key)).map { ", did you mean \"\($0)\"?" }
    throw misfit("\"\(typePath)\" is \(word.text), which is not a type of \"\(name)\"\(hint ?? "")")
  }

  private func destination(
    _ reference: JSONText, in collection: String
  ) throws(InvalidReference) -> Destination {
    let json = reference.json
    if case .files(let root) = target {
      guard let file = json.string else {
        throw misfit("\"\(path)\" must be the path of a file, but it is \(json.found)")
      }
      if let objection = Destination.objection(toPath: file) {
        throw misfit("\"\(path)\": \(objection)")
      }
      return .file(root: root, path: file)
    }
    guard let key = Key(json: json), key.managedText != nil else {
      throw misfit("a reference must be a string or an integer, but \"\(path)\" has \(json.found)")
    }
    return .node(Node(collection, key))
  }

  private func value(
    in members: [Member], at path: PropertyPath
  ) throws(InvalidReference) -> JSONText {
    do throws(NoObject) {
      return try members.value(at: path)
    } catch {
      throw misfit("\"\(error.path)\" of \"\(path)\" is \(error.kind), not an object")
    }
  }

  private func misfit(_ message: String) -> InvalidReference { InvalidReference(message: message) }
}

extension Relationship.Target {
  /// The same target, with each type replaced by the collection it belongs to.
  fileprivate func inStore(of model: StoreModel) -> Relationship.Target {
    switch self {
    case .collection(let name): .collection(model.collection(of: name))
    case .types(let map): .types(map.mapValues { model.collection(of: $0) })
    case .either, .files: self
    }
  }

  /// Each type word and the collection it leads to, sorted. The word is empty where the target is a
  /// single one.
  fileprivate var words: [(key: String, value: String)] {
    switch self {
    case .collection(let name): [("", name)]
    case .types(let map): map.sorted { $0.key < $1.key }
    // Only columns lead to one of several collections.
    case .either: []
    case .files(let root): [("", Destination.fileCollection + root)]
    }
  }
}

extension JSON {
  /// For messages: a number that is not a key is shown, other values by their kind.
  fileprivate var found: String {
    return number == nil ? kind : text
  }
}

/// The relationships whose edges managed objects hold in their values.
package struct PropertyReferences {
  private let places: [String: [PropertyReference]]
  private let model: StoreModel

  package init(_ model: StoreModel) {
    self.model = model
    let all = model.relationships.compactMap { PropertyReference($0, in: model) }
    places = Dictionary(grouping: all) { model.collection(of: $0.from) }
  }

  package var collections: [String] { places.keys.sorted() }

  /// Whether objects of any type in the collection may hold edges.
  package func hasReferences(_ collection: String) -> Bool { places[collection] != nil }

  /// The places that an object of this type has. Of two that name the same edge, the last gives its
  /// rules.
  package func of(_ collection: String, type: String?) -> [PropertyReference] {
    guard let places = places[collection] else { return [] }
    let names = model.names(of: collection, type: type)
    return places.filter { names.contains($0.from) }
  }

  /// A fingerprint of everything that decides which edges the values give; 0 where they give none.
  package var fingerprint: Int64 {
    if places.isEmpty { return 0 }
    let description = collections.map { collection -> JSON in
      [
        .string(collection), .array(typeNames(in: collection)),
        .array(places[collection, default: []].map { $0.description(in: model) }),
      ]
    }
    return Fingerprint(JSON.array(description).text).signed
  }

  private func typeNames(in collection: String) -> [JSON] {
    guard case .managed(let types) = model.collections[collection] else { return [] }
    return types.sorted { $0.key < $1.key }.map { [.string($0.key), .string($0.value)] }
  }
}
