import Model
import Store

/// A random model whose relationships live in random places, and the tables for it.
struct PlacedGraph {
  /// What is linked is stored too, but by changes of its own: its source does not declare it.
  enum Place: CaseIterable { case stored, column, join, json, property, linked }

  struct Relation {
    let name: String
    let from: String
    let to: String
    let place: Place
    let rules: Rules
    /// Of a column; none keeps what it is given.
    var type: String { ["", "TEXT", "INTEGER", "VARCHAR(9)"][Int(rules.rawValue % 13 % 4)] }

    var table: String { "\(name)_\(from)" }
  }

  /// How the keys of a collection look; nil is a managed one.
  enum Keys: CaseIterable { case text, integer, withoutRowid, nocase }

  let keys: [String: Keys?]
  /// Of a collection.
  var nodes = 4
  let relations: [Relation]
  static let collections = ["a", "b"]

  func relations(of collection: String) -> [Relation] { relations.filter { $0.from == collection } }

  func isMapped(_ collection: String) -> Bool { keys[collection]! != nil }

  func node(_ collection: String, _ number: Int) -> Node {
    let isInteger = keys[collection]! == .integer
    return Node(collection, isInteger ? .integer(Int64(number)) : .text("k\(number)"))
  }

  // MARK: - As the store is told

  var model: String { model(trash: "1d") }

  func model(trash: String) -> String {
    let collections = PlacedGraph.collections.map {
      isMapped($0) ? "\($0): { table: 't \($0)', key: 'id' }" : "\($0): {}"
    }
    return """
      { collections: { \(collections.joined(separator: ", ")) },
        relationships: [\(relations.map(describe).joined(separator: ", "))],
        trash: '\(trash)' }
      """
  }

  private func describe(_ relation: Relation) -> String {
    let rules = relation.rules.names.map { "'\($0)'" }.joined(separator: ", ")
    let place =
      switch relation.place {
      case .stored, .linked: "toMany: true,"
      case .column: "column: '\(relation.name)',"
      case .join: "join: { table: '\(relation.table)', source: 's', destination: 'd' },"
      case .json: "property: 'doc.\(relation.name)', toMany: true,"
      case .property: "property: '\(relation.name)', toMany: true,"
      }
    return """
      { name: '\(relation.name)', from: '\(relation.from)', to: '\(relation.to)', \(place)
        rules: [\(rules)] }
      """
  }

  var schema: String {
    var statements = PlacedGraph.collections.filter(isMapped).map { collection in
      let columns = relations(of: collection).filter { $0.place == .column }.map {
        ", \"\($0.name)\" \($0.type)"
      }
      return "CREATE TABLE \"t \(collection)\"(\(keyColumn(collection))\(columns.joined()), doc)"
        + (keys[collection]! == .withoutRowid ? " WITHOUT ROWID" : "")
    }
    for relation in relations where relation.place == .join {
      statements.append("CREATE TABLE \(relation.table)(s, d, PRIMARY KEY(s, d))")
    }
    // Half of them: who has an index is looked up another way.
    for relation in relations where relation.place == .column && relation.name == "x" {
      statements.append("CREATE INDEX \(relation.table) ON \"t \(relation.from)\"(x)")
    }
    return statements.joined(separator: ";\n")
  }

  /// Some applications hear of all that goes or changes; this changes nothing that is compared.
  func schema(_ seed: UInt64) -> String {
    PlacedGraph.isHeard(seed) ? "\(schema);\n\(triggers)" : schema
  }

  static func isHeard(_ seed: UInt64) -> Bool { seed % 5 < 2 }

  private var triggers: String {
    let tables =
      PlacedGraph.collections.filter(isMapped).map { "t \($0)" }
      + relations.filter { $0.place == .join }.map(\.table)
    return tables.map { table in
      """
      CREATE TRIGGER "\(table) goes" AFTER DELETE ON "\(table)" BEGIN INSERT INTO heard VALUES(1); END;
      CREATE TRIGGER "\(table) changes" AFTER UPDATE ON "\(table)" BEGIN
        INSERT INTO heard VALUES(2);
      END;
      """
    }.joined(separator: "\n") + "CREATE TABLE heard(v);"
  }

  private func keyColumn(_ collection: String) -> String {
    switch keys[collection]! {
    case .integer: "id INTEGER PRIMARY KEY"
    case .nocase: "id TEXT COLLATE NOCASE PRIMARY KEY"
    default: "id TEXT PRIMARY KEY"
    }
  }

  // MARK: - Random

  /// `bySQL` has no places that only Cascade can write, and no rule that a trigger would judge
  /// statement by statement.
  init(bySQL: Bool, _ random: inout Seeded) {
    var keys: [String: Keys?] = [:]
    for collection in PlacedGraph.collections {
      let isManaged = !bySQL && Int.random(in: 0..<3, using: &random) == 0
      keys[collection] = .some(isManaged ? nil : Keys.allCases.randomElement(using: &random)!)
    }
    self.keys = keys
    var relations: [Relation] = []
    for name in ["x", "y"] {
      for from in PlacedGraph.collections {
        let isManaged = keys[from]! == nil
        var places: [Place] = isManaged ? [.stored, .property] : [.stored, .column, .json]
        if bySQL { places = [.column, .join, .json, .linked] }
        let place = places.randomElement(using: &random)!
        relations.append(
          Relation(
            name: name, from: from, to: PlacedGraph.collections.randomElement(using: &random)!,
            place: place, rules: PlacedGraph.rules(place, bySQL: bySQL, &random)))
      }
    }
    self.relations = relations
  }

  /// Where a lost reference would be left as it is, the graph would not be the same: it could come
  /// back with its destination.
  private static func rules(_ place: Place, bySQL: Bool, _ random: inout Seeded) -> Rules {
    var rules: Rules = []
    var ofDestination: [Rules] = [
      .deleteSourceIfDestinationDeleted, .nullifySourceIfDestinationDeleted,
    ]
    if place != .json && place != .property {
      ofDestination.append(.deleteSourceIfAllDestinationsDeleted)
    }
    if [.stored, .linked, .join].contains(place) { ofDestination.append([]) }
    rules.formUnion(ofDestination.randomElement(using: &random)!)
    let ofSource: [Rules] = [
      [], .deleteDestinationIfSourceDeleted, .deleteDestinationIfAllSourcesDeleted,
    ]
    rules.formUnion(ofSource.randomElement(using: &random)!)
    for notice: Rules in [.notifyIfSourceDeleted, .notifyIfDestinationDeleted]
    where Int.random(in: 0..<3, using: &random) == 0 {
      rules.insert(notice)
    }
    if place == .stored && Int.random(in: 0..<12, using: &random) == 0 {
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
}

/// One step: what every place can say.
enum PlacedStep: CustomStringConvertible {
  /// The node, and all of its references by the names of its relationships.
  case put(Node, [String: [Node]])
  case delete(Node)
  case deleteAll(collection: String)
  case flush
  case link(PlacedGraph.Relation, Node, Node)
  case unlink(PlacedGraph.Relation, Node, Node)

  var description: String {
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
  func steps(bySQL: Bool, _ random: inout Seeded) -> [PlacedStep] {
    let linked = relations.filter { $0.place == .linked }
    if !linked.isEmpty && Int.random(in: 0..<3, using: &random) == 0 {
      return (0..<4).map { _ in link(linked.randomElement(using: &random)!, &random) }
    }
    let steps = (0..<Int.random(in: 1...6, using: &random)).map { _ in step(bySQL, &random) }
    // Who writes a row once has no edge come and go within a transaction, which nobody but the
    // application could know.
    guard bySQL else { return steps }
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
        let most = relation.place == .column ? 1 : 3
        let count = Int.random(in: 0...most, using: &random)
        references[relation.name] = (0..<count).map { _ in
          self.node(relation.to, Int.random(in: 0..<nodes, using: &random))
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
  var put: Node? { if case .put(let node, _) = self { node } else { nil } }

  /// Of what only a change file can say.
  var isOfFiles: Bool {
    switch self {
    case .link, .unlink, .deleteAll: true
    case .put, .delete, .flush: false
    }
  }
}
