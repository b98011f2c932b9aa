package import CascadeModel
internal import CascadeStore

/// A random model whose relationships live in random places, and the tables for it.
package struct PlacedGraph {
  /// What is linked is stored too, but by changes of its own: its source does not declare it.
  package enum Place: CaseIterable { case stored, column, join, json, property, linked }

  package struct Relation {
    package let name: String
    package let from: String
    package let to: String
    package let place: Place
    package let rules: Rules
    /// A value that refers to nothing, and that is written for nothing; nil: only null is.
    package let none: Key?
    /// Whether nothing may say to which collection it leads.
    package let mayBeEither: Bool
    /// A name may have edges in two places, where references are told apart.
    package var key: String { "\(name) in \(place)" }
    /// Decides what is done in one of several ways.
    package var variant: Int { Int(rules.rawValue % 13) }
    /// Whether a second column says which collection it is.
    package var isTyped: Bool { place == .column && rules.rawValue % 3 == 0 }
    /// Whether it may be either collection, and nothing says which.
    package var isEither: Bool { place == .column && mayBeEither && rules.rawValue % 3 == 1 }
    package var leadsToBoth: Bool { isTyped || isEither }
    /// The collections that a reference of this key leads to, if they have it.
    package func collections(of node: Node) -> [String] {
      isEither ? [to] + PlacedGraph.collections.filter { $0 != to } : [node.collection]
    }
    /// A property without a list around it.
    package var isScalar: Bool { [.json, .property].contains(place) && rules.rawValue % 3 == 0 }
    package var most: Int { place == .column || isScalar ? 1 : 3 }
    package var typeColumn: String { "\(name)_type" }

    /// Whether the value of this reference refers to nothing.
    package func isNone(_ node: Node) -> Bool { none.map { $0 == node.key } ?? false }

    package func leads(to collection: String) -> Bool { leadsToBoth || to == collection }

    package var table: String { "\(name)_\(from)" }
  }

  /// How the keys of a collection look; nil is a managed one. A pair is a key of two columns.
  package enum Keys {
    case text, integer, withoutRowid, nocase, pair, uuid, bytes

    /// Whether only columns refer to such keys.
    var isOfColumns: Bool { self == .pair || self == .bytes }
  }

  package let tables: any TableSQL
  package private(set) var keys: [String: Keys?]
  /// Of a collection.
  package var nodes = 4
  package let relations: [Relation]
  /// Whether some rules deny what applications delete.
  package let denies: Bool
  package static let collections = ["a", "b"]

  package func relations(of collection: String) -> [Relation] {
    relations.filter { $0.from == collection }
  }

  package func isMapped(_ collection: String) -> Bool { keys[collection]! != nil }

  package func isPair(_ collection: String) -> Bool { keys[collection]! == .pair }

  /// The columns of a reference, or of a key, that begins with this one.
  package func columns(_ first: String, to collection: String) -> [String] {
    isPair(collection) ? [first, "\(first)_of"] : [first]
  }

  /// No key looks like a value for nothing: a scan would hold references to it.
  package func node(_ collection: String, _ number: Int) -> Node {
    Node(collection, PlacedGraph.key(keys[collection]!, number))
  }

  private static func key(_ keys: Keys?, _ number: Int) -> Key {
    switch keys {
    case .pair: .composite([.text("k\(number)"), .integer(Int64(number % 2))])
    case .integer: .integer(Int64(number) + 1)
    case .uuid: .text("00000000-0000-4000-8000-00000000000\(number)")
    case .bytes: .text("\\x6b3\(number)")
    case .text, .withoutRowid, .nocase, nil: .text("k\(number)")
    }
  }

  /// What a relation refers to by a number.
  package func destination(_ relation: Relation, _ number: Int) -> Node {
    let other = PlacedGraph.collections.first { $0 != relation.to }!
    return node(relation.leadsToBoth && number % 2 == 1 ? other : relation.to, number)
  }

  // MARK: - Random

  /// `bySQL` has no places that only Cascade can write, and no rule that a trigger would judge
  /// statement by statement, unless it `denies`.
  package init(
    _ tables: any TableSQL, bySQL: Bool, denies: Bool = false, _ random: inout Seeded
  ) {
    self.tables = tables
    var keys: [String: Keys?] = [:]
    for collection in PlacedGraph.collections {
      let isManaged = !bySQL && Int.random(in: 0..<3, using: &random) == 0
      keys[collection] = .some(isManaged ? nil : tables.keys.randomElement(using: &random)!)
    }
    self.keys = keys
    var relations: [Relation] = []
    for name in ["x", "y"] {
      for from in PlacedGraph.collections {
        let to = PlacedGraph.collections.randomElement(using: &random)!
        var places = PlacedGraph.places(isManaged: keys[from]! == nil, bySQL: bySQL)
        places.shuffle(using: &random)
        // What a name from a collection to another leaves dangling is told apart by its place.
        let isInTwo = !denies && Int.random(in: 0..<4, using: &random) == 0
        places = Array(places.prefix(isInTwo ? 2 : 1))
        var rules = PlacedGraph.rules(places, bySQL: bySQL, &random)
        if denies { rules = rules.denyingSome(&random) }
        let none = PlacedGraph.none(keys[to]!, rules)
        relations += places.map { place in
          let isStored = place == .stored || place == .linked
          return Relation(
            name: name, from: from, to: to, place: place, rules: rules,
            none: isStored ? nil : none, mayBeEither: places.count == 1 && !denies)
        }
      }
    }
    self.relations = relations
    self.denies = denies
    makePairsSingle()
  }

  /// Lists name no keys that only columns can name, and a reference that leads to both collections needs
  /// keys that are alike.
  private mutating func makePairsSingle() {
    for relation in relations {
      let isInList = relation.place == .json || relation.place == .property
      if isInList && keys[relation.to]!?.isOfColumns == true { keys[relation.to] = .text }
    }
    if relations.contains(where: \.leadsToBoth),
      !PlacedGraph.collections.allSatisfy(isPair)
    {
      for collection in PlacedGraph.collections where isPair(collection) {
        keys[collection] = .text
      }
    }
  }

  /// The key of a node may be a value for nothing too: then nothing refers to that node.
  private static func none(_ keys: Keys?, _ rules: Rules) -> Key? {
    if keys == .pair { return nil }
    var random = Seeded(UInt64(rules.rawValue))
    return [nil, nil, .integer(0), .integer(-1), .text(""), key(keys, 3)]
      .randomElement(using: &random)!
  }

  private static func places(isManaged: Bool, bySQL: Bool) -> [Place] {
    if bySQL { return [.column, .join, .json, .linked] }
    return isManaged ? [.stored, .property] : [.stored, .column, .json]
  }

  /// Where a lost reference would be left as it is, the graph would not be the same: it could come
  /// back with its destination.
  private static func rules(_ places: [Place], bySQL: Bool, _ random: inout Seeded) -> Rules {
    var rules: Rules = []
    var ofDestination: [Rules] = [
      .deleteSourceIfDestinationDeleted, .nullifySourceIfDestinationDeleted,
    ]
    let isOwn = places.allSatisfy { [.stored, .linked, .join].contains($0) }
    if isOwn || places == [.column] { ofDestination.append(.deleteSourceIfAllDestinationsDeleted) }
    if isOwn { ofDestination.append([]) }
    rules.formUnion(ofDestination.randomElement(using: &random)!)
    let ofSource: [Rules] = [
      [], .deleteDestinationIfSourceDeleted, .deleteDestinationIfAllSourcesDeleted,
    ]
    rules.formUnion(ofSource.randomElement(using: &random)!)
    for notice: Rules in [.notifyIfSourceDeleted, .notifyIfDestinationDeleted]
    where Int.random(in: 0..<3, using: &random) == 0 {
      rules.insert(notice)
    }
    if places == [.stored] && Int.random(in: 0..<12, using: &random) == 0 {
      return .denyDestinationDeletion
    }
    if !bySQL && Int.random(in: 0..<12, using: &random) == 0 { rules = rules.denyingSource }
    return rules
  }
}

extension Rules {
  fileprivate var denyingSource: Rules {
    subtracting([.deleteDestinationIfSourceDeleted, .deleteDestinationIfAllSourcesDeleted])
      .union(.denySourceDeletion)
  }

  fileprivate func denyingSome(_ random: inout Seeded) -> Rules {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: denyingSource
    case 1, 2:
      subtracting([
        .deleteSourceIfDestinationDeleted, .deleteSourceIfAllDestinationsDeleted,
        .nullifySourceIfDestinationDeleted,
      ]).union(.denyDestinationDeletion)
    default: self
    }
  }
}

/// One step: what every place can say.
package enum PlacedStep: CustomStringConvertible {
  /// The node, and all of its references by the names of its relationships.
  case put(Node, [String: [Node]])
  case delete(Node)
  case deleteAll(collection: String)
  case flush
  case link(PlacedGraph.Relation, Node, Node)
  case unlink(PlacedGraph.Relation, Node, Node)

  package var description: String {
    switch self {
    case .put(let node, let references):
      "put \(node) "
        + references.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        .joined(separator: "; ")
    case .delete(let node): "delete \(node)"
    case .deleteAll(let collection): "delete all of \(collection)"
    case .flush: "flush"
    case .link(let relation, let from, let to): "link \(relation.name) \(from) \(to)"
    case .unlink(let relation, let from, let to): "unlink \(relation.name) \(from) \(to)"
    }
  }
}

extension PlacedGraph {
  package func steps(bySQL: Bool, _ random: inout Seeded) -> [PlacedStep] {
    let linked = relations.filter { $0.place == .linked }
    if !linked.isEmpty && Int.random(in: 0..<3, using: &random) == 0 {
      return (0..<4).map { _ in link(linked.randomElement(using: &random)!, &random) }
    }
    let steps = (0..<Int.random(in: 1...6, using: &random)).map { _ in step(bySQL, &random) }
    // Who writes a row once has no edge come and go within a transaction, which nobody but the
    // application could know; nor go from one place to another.
    let isInTwoPlaces = Set(relations.map { [$0.name, $0.from] }).count < relations.count
    guard bySQL || isInTwoPlaces else { return steps }
    var written: Set<Node> = []
    return steps.filter { $0.put.map { written.insert($0).inserted } ?? true }
  }

  private func link(_ relation: Relation, _ random: inout Seeded) -> PlacedStep {
    let from = node(relation.from, Int.random(in: 0..<nodes, using: &random))
    let to = node(relation.to, Int.random(in: 0..<nodes, using: &random))
    return Int.random(in: 0..<6, using: &random) == 0
      ? .unlink(relation, from, to) : .link(relation, from, to)
  }

  private func step(_ bySQL: Bool, _ random: inout Seeded) -> PlacedStep {
    let collection = PlacedGraph.collections.randomElement(using: &random)!
    let node = node(collection, Int.random(in: 0..<nodes, using: &random))
    switch Int.random(in: 0..<10, using: &random) {
    case ..<6:
      var references: [String: [Node]] = [:]
      for relation in relations(of: collection) where relation.place != .linked {
        let count = Int.random(in: 0...relation.most, using: &random)
        references[relation.key] = (0..<count).map { _ in
          destination(relation, Int.random(in: 0..<nodes, using: &random))
        }
      }
      return .put(node, references)
    case ..<9: return .delete(node)
    default:
      if bySQL { return .delete(node) }
      return Int.random(in: 0..<4, using: &random) == 0
        ? .deleteAll(collection: collection) : .flush
    }
  }
}

extension PlacedStep {
  package var deleted: Node? { if case .delete(let node) = self { node } else { nil } }
  package var put: Node? { if case .put(let node, _) = self { node } else { nil } }

  /// The ends of an edge that it adds.
  package var linked: Set<Node> {
    if case .link(_, let from, let to) = self { [from, to] } else { [] }
  }

  /// Of what only a change file can say.
  package var isOfFiles: Bool {
    switch self {
    case .link, .unlink, .deleteAll: true
    case .put, .delete, .flush: false
    }
  }
}
