import CascadeModel
import CascadePostgres
import StoreDefinition

/// The tables of a column graph, and beside them objects and stored edges, which change files make:
/// `o` has objects that refer to rows of `a` in a list, and to which rows of `a` refer in a column;
/// edges are stored from rows to objects, from objects to rows, and between rows.
struct WrittenGraph {
  /// Where edges are found, and what follows from them.
  struct Place {
    let name: String
    let from: String
    let destinations: [String]
    let rules: Rules
    /// The table, as the log calls it, or nothing for stored edges.
    let table: String
    /// Whether the table has rows for edges, which outlive their ends.
    var isJoin = false
    /// Whether a reference leads to all of its destinations that have the key.
    var isEither = false
    var tie: String?
    /// Whether they are edges to nothing that the model knows of, which only join rows need.
    let edges: @Sendable (JSON) -> [(from: Node, to: Node)]
  }

  let columns: ColumnGraph
  let denies: Bool
  private let rules: [Rules]
  private static let extras: [(name: String, from: String, to: String, place: String)] = [
    ("p", "o", "a", "property: 'p', toMany: true"), ("q", "a", "o", "column: 'q'"),
    ("s", "a", "o", "toMany: true"), ("u", "o", "b", "toMany: true"),
    ("v", "a", "b", "toMany: true"),
  ]

  init(_ random: inout Seeded) {
    denies = Int.random(in: 0..<3, using: &random) == 0
    let denies = denies
    columns = ColumnGraph(denies: denies, &random)
    rules = WrittenGraph.extras.map { _ in ColumnGraph.rules(denies: denies, &random) }
  }

  var model: String {
    let relationships = zip(WrittenGraph.extras, rules).map { extra, rules in
      "{ name: '\(extra.name)', from: '\(extra.from)', to: '\(extra.to)', \(extra.place), "
        + "rules: [\(rules.names.map { "'\($0)'" }.joined(separator: ", "))] }, "
    }
    return columns.model.replacing("{ collections: { ", with: "{ collections: { o: {}, ")
      .replacing("relationships: [", with: "relationships: [\(relationships.joined())")
  }

  var schema: String { columns.schema + "; ALTER TABLE \"t a\" ADD q text" }

  // MARK: - What rows say

  /// The node that a row is.
  func node(_ table: String, _ row: JSON) -> Node? {
    if table.hasPrefix("objects_") { return Node("o", .text(row["key"]!.string!)) }
    guard table.hasPrefix("t ") else { return nil }
    let collection = String(table.dropFirst(2))
    return node(row, columns.columns("id", to: collection), of: collection)
  }

  private func node(_ row: JSON, _ names: [String], of collection: String) -> Node? {
    let parts = names.compactMap { row[$0].flatMap { key($0, of: collection, $0) } }
    if parts.count < names.count { return nil }
    return Node(collection, parts.count == 1 ? parts[0] : .composite(parts))
  }

  private func isNumber(_ collection: String) -> Bool {
    columns.keys == .numbers && collection == "b"
      || !(ColumnGraph.collections + ["o"]).contains(collection)
  }

  /// A text may name a number.
  private func key(_ value: JSON, of collection: String, _ part: JSON) -> Key? {
    if let number = value.integer { return .integer(number) }
    guard let text = value.string else { return nil }
    return isNumber(collection) ? Int64(text).map(Key.integer) : .text(text)
  }

  /// The node that the engine's text of a key names.
  func node(_ collection: String, _ text: String) -> Node {
    if columns.keys == .pairs && collection == "b",
      let parts = (try? JSON.parse(text))?.array
    {
      let number = parts[1].string.flatMap { Int64($0) } ?? 0
      return Node(collection, .composite([.text(parts[0].string ?? ""), .integer(number)]))
    }
    let number = isNumber(collection) ? Int64(text) : nil
    return Node(collection, number.map(Key.integer) ?? .text(text))
  }

  /// The collections and their relationships.
  func places() -> [Place] {
    columns.relations.flatMap(places)
      + zip(WrittenGraph.extras, rules).map { extra, rules in
        place(extra.name, extra.from, extra.to, rules)
      }
  }

  private func place(_ name: String, _ from: String, _ to: String, _ rules: Rules) -> Place {
    let graph = self
    return switch name {
    case "p":
      Place(name: name, from: from, destinations: [to], rules: rules, table: "objects") { row in
        let value = row["value"]?.string.flatMap { try? JSON.parse($0) }
        return (value?["p"]?.array ?? []).compactMap(\.string).map {
          (graph.node("objects_1", row)!, Node(to, .text($0)))
        }
      }
    case "q":
      Place(name: name, from: from, destinations: [to], rules: rules, table: "t \(from)") { row in
        row["q"]?.string.map { [(graph.node("t a", row)!, Node(to, .text($0)))] } ?? []
      }
    default:
      Place(name: name, from: from, destinations: [to], rules: rules, table: "", isJoin: true) {
        row in
        func end(_ letter: String, _ collection: String) -> Node? {
          let names = graph.columns.columns("id", to: collection).indices.map { "\(letter)\($0)" }
          return graph.node(row, names, of: collection)
        }
        return [(end("s", from)!, end("d", to)!)]
      }
    }
  }

  private func places(_ relation: ColumnGraph.Relation) -> [Place] {
    let graph = self
    let isJoin = relation.place == .join || relation.place == .node
    let own = Place(
      name: relation.isTie ? String(relation.name.dropLast(2)) : relation.name,
      from: relation.from, destinations: relation.destinations, rules: relation.rules,
      table: isJoin
        ? "\(relation.place == .node ? "t " : "")\(relation.table)" : "t \(relation.from)",
      isJoin: isJoin, isEither: relation.place == .either,
      tie: relation.isTie ? relation.column : nil
    ) { row in
      if isJoin {
        let ends = [("s", relation.from), ("d", relation.to)].compactMap {
          graph.node(row, graph.columns.columns($0, to: $1), of: $1)
        }
        return ends.count == 2 && !relation.isNone(ends[1]) ? [(ends[0], ends[1])] : []
      }
      guard let source = graph.node("t \(relation.from)", row) else { return [] }
      return graph.destinations(of: relation, row).filter { !relation.isNone($0) }
        .map { (source, $0) }
    }
    return [own]
  }

  private func destinations(of relation: ColumnGraph.Relation, _ row: JSON) -> [Node] {
    let value = row[relation.column] ?? .null
    switch relation.place {
    case .column:
      let names = columns.columns(relation.column, to: relation.to)
      return node(row, names, of: relation.to).map { [$0] } ?? []
    case .typed:
      guard let type = row["\(relation.column)_type"]?.string else { return [] }
      let collection = String(type.dropFirst(3))
      return key(value, of: collection, value).map { [Node(collection, $0)] } ?? []
    case .either:
      // The value for nothing is one of the first collection's keys.
      if let none = relation.none, none.managedText == value.string { return [] }
      return relation.destinations.compactMap { collection in
        key(value, of: collection, value).map { Node(collection, $0) }
      }
    case .document, .single: return list(value["in"]?["list"] ?? .null, relation.to)
    case .text:
      let text = value.string.map { (try? JSON.parse($0)) ?? .null }
      return list(text ?? value, relation.to)
    case .array, .json: return list(value, relation.to)
    case .join, .node: return []
    }
  }

  private func list(_ value: JSON, _ collection: String) -> [Node] {
    (value.array ?? [value]).filter {
      isNumber(collection) ? $0.integer != nil : $0.string != nil
    }.compactMap { key($0, of: collection, $0).map { Node(collection, $0) } }
  }

  // MARK: - What sessions and files write

  /// The statements of a transaction.
  func statements(_ random: inout Seeded) -> [String] {
    columns.steps(&random).prefix(4).flatMap { step in
      var sql = columns.sql(step)
      if let node = step.put, node.collection == "a", case .text(let key) = node.key {
        let object = Bool.random(using: &random) ? "NULL" : "'k\(random.next() % 4)'"
        sql.append("UPDATE \"t a\" SET q = \(object) WHERE id = '\(key)'")
      }
      return sql
    }
  }

  func changes(_ random: inout Seeded) -> [Change] {
    var written: Set<Node> = []
    return (0..<Int.random(in: 1...4, using: &random)).compactMap { _ in
      let object = node("o", &random)
      switch Int.random(in: 0..<10, using: &random) {
      case ..<4:
        if !written.insert(object).inserted { return nil }
        let list = (0..<Int.random(in: 0...2, using: &random)).map { _ in
          node("a", &random).key.json
        }
        return .put(
          object, type: nil, value: JSONText(.object([JSON.Field("p", .array(list))])), edges: nil)
      case ..<8:
        let extra = WrittenGraph.extras[Int.random(in: 2..<5, using: &random)]
        let (from, to) = (node(extra.from, &random), Destination.node(node(extra.to, &random)))
        return Int.random(in: 0..<4, using: &random) == 0
          ? .unlink(
            name: extra.name, from: from, to: to,
            as: Removal.allCases.randomElement(using: &random)!)
          : .link(name: extra.name, from: from, to: to, rules: nil)
      default:
        let node = Bool.random(using: &random) ? object : node("b", &random)
        return written.insert(node).inserted ? .delete(node) : nil
      }
    }
  }

  private func node(_ collection: String, _ random: inout Seeded) -> Node {
    columns.node(collection, &random)
  }
}
