import CascadeModel
import CascadePostgres
import CascadeStore
import PostgresStore
import PostgresSupport
import StoreDefinition
import Testing

/// Objects and stored edges, which change files make.
@Suite("Objects on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct ObjectTests {
  private static let model = """
    { collections: { notes: {}, songs: { table: "song", key: "id" } },
      relationships: [
        { name: "about", from: "notes", to: "songs", toMany: true,
          rules: ["deleteSourceIfAllDestinationsDeleted"] },
        { name: "next", from: "songs", to: "songs", rules: ["deleteDestinationIfSourceDeleted"] }] }
    """
  private static let schema =
    "CREATE TABLE song(id int PRIMARY KEY); INSERT INTO song VALUES(1), (2), (3), (4);"

  private static func note(_ key: String) -> Node { Node("notes", .text(key)) }
  private static func song(_ key: Int64) -> Node { Node("songs", .integer(key)) }

  private static func put(_ key: String, _ songs: Int64...) -> Change {
    .put(
      note(key), type: "text", value: JSONText(valid: #"{"a":  1.50, "b": "é"}"#),
      edges: songs.map {
        DeclaredEdge(name: "about", destination: .node(song($0)), rules: nil)
      })
  }

  @Test("Objects go with rows of the application, and an undo brings them back with their edges")
  func objects() throws {
    let store = try PostgresFixture(Self.model, schema: Self.schema)
    try store.sweep([.all])
    let receipt = try store.apply([Self.put("one", 1, 2), Self.put("two", 2)])
    #expect(receipt.edgesAdded == 3)
    #expect(try store.reader.checkSetup().isEmpty)
    try store.bySQL("DELETE FROM song WHERE id = 2")
    let result = try store.sweep()
    #expect(result.byCollection == ["notes": 1])
    #expect(
      try store.reader.nodes(in: "notes", after: nil, limit: 9).map(\.node) == [Self.note("one")])
    try store.bySQL("INSERT INTO song VALUES(2)")
    let undone = try store.writer.undo(#require(result.batch), by: "me", at: 5)
    #expect(undone.edges == 2)
    let node = try store.reader.node(Self.note("two"))
    #expect(node.type == "text")
    #expect(node.value?.text == #"{"a":  1.50, "b": "é"}"#)
    let edges = try store.reader.edges(EdgeQuery(to: .node(Self.song(2)))).edges
    #expect(edges.map(\.source) == [Self.note("one"), Self.note("two")])
    #expect(edges.allSatisfy { $0.origin == .declared && $0.kind == .stored })
  }

  @Test("A link between rows has the rules of the model, and the way it is removed matters")
  func links() throws {
    let store = try PostgresFixture(Self.model, schema: Self.schema)
    try store.sweep([.all])
    func link(_ from: Int64, _ to: Int64) -> Change {
      .link(name: "next", from: Self.song(from), to: .node(Self.song(to)), rules: nil)
    }
    func unlink(_ from: Int64, _ to: Int64, _ removal: Removal) -> Change {
      .unlink(name: "next", from: Self.song(from), to: .node(Self.song(to)), as: removal)
    }
    try store.apply([link(1, 2), link(2, 3), link(3, 4)])
    #expect(try store.reader.edges(EdgeQuery()).edges.allSatisfy { $0.origin == .manual })
    #expect(try store.apply([link(1, 3), unlink(1, 3, .sourceDeleted)]).deletedCount == 0)
    #expect(try store.apply([unlink(3, 4, .edgeDeleted)]).deletedCount == 0)
    #expect(try store.apply([unlink(3, 4, .edgeDeleted)]).skippedChanges == 1)
    #expect(try store.apply([unlink(1, 2, .sourceDeleted)]).deletedCount == 2)
    #expect(try store.texts("SELECT id FROM song ORDER BY id") == ["1", "4"])
  }

  @Test("Edges that the model does not declare, or with other rules, follow their own")
  func manual() throws {
    let store = try PostgresFixture(Self.model, schema: Self.schema)
    try store.sweep([.all])
    func link(_ name: String, _ from: Int64, _ to: Int64, _ rules: Rules?) -> Change {
      .link(name: name, from: Self.song(from), to: .node(Self.song(to)), rules: rules)
    }
    // What a rejected file made is not there.
    #expect(throws: Rejection.self) {
      try store.apply([link("b", 1, 2, .deleteDestinationIfSourceDeleted), link("d", 1, 2, nil)])
    }
    try store.apply([link("b", 1, 2, .deleteDestinationIfSourceDeleted), link("next", 3, 4, [])])
    try store.reopen()
    try store.apply([link("c", 2, 3, .denySourceDeletion)])
    #expect(throws: PostgresError.self) { try store.bySQL("DELETE FROM song WHERE id = 2") }
    let again = try store.apply([link("c", 2, 3, .deleteDestinationIfSourceDeleted)])
    #expect((again.edgesAdded, again.deletedCount) == (0, 0))
    let edges = try store.reader.edges(EdgeQuery()).edges
    #expect(edges.map(\.rules).sorted { $0.rawValue < $1.rawValue } == [[], 8, 8])
    #expect(try store.reader.checkSetup().isEmpty)
    try store.bySQL("DELETE FROM song WHERE id = 1")
    #expect(try store.sweep().deletedCount == 2)
    #expect(try store.texts("SELECT id FROM song") == ["4"])
  }

  @Test("An edge keeps the rules that it was given when the model gives others, or none")
  func otherModel() throws {
    let store = try PostgresFixture(Self.model, schema: Self.schema)
    try store.sweep([.all])
    try store.apply([
      .link(name: "next", from: Self.song(1), to: .node(Self.song(2)), rules: nil),
      .link(name: "next", from: Self.song(3), to: .node(Self.song(4)), rules: nil),
    ])
    let rule = #"["deleteDestinationIfSourceDeleted"]"#
    try store.reopen(with: Self.model.replacing(rule, with: "[]"))
    try store.bySQL("DELETE FROM song WHERE id = 1")
    #expect(try store.sweep().deletedCount == 1)
    try store.reopen(
      with: #"{ collections: { notes: {}, songs: { table: "song", key: "id" } } }"#)
    try store.bySQL("DELETE FROM song WHERE id = 3")
    #expect(try store.sweep().deletedCount == 1)
    #expect(try store.texts("SELECT id FROM song").isEmpty)
  }

  @Test("A patch changes members and leaves the others as they were written")
  func patch() throws {
    let store = try PostgresFixture(Self.model, schema: Self.schema)
    try store.apply([Self.put("one")])
    let set = [Member(name: "c", value: JSONText(valid: "[1.0]"))]
    try store.apply([.patch(Self.note("one"), set: set, unset: ["b"])])
    #expect(try store.reader.node(Self.note("one")).value?.text == #"{"a":1.50,"c":[1.0]}"#)
    #expect(throws: Rejection.self) {
      try store.apply([.patch(Self.note("two"), set: set, unset: [])])
    }
  }

  @Test(
    "A collection that the model does not list comes with its first object, unless it is strict")
  func unlisted() throws {
    let open = Self.model.replacing("{ collections", with: "{ strict: false, collections")
    let store = try PostgresFixture(open, schema: Self.schema)
    let pin = Node("pins", .text("p"))
    let changes: [Change] = [
      .put(pin, type: nil, value: JSONText(valid: "1"), edges: nil),
      .link(
        name: "of", from: pin, to: .node(Self.song(1)), rules: .deleteSourceIfDestinationDeleted),
    ]
    // What a rejected file made is not there.
    #expect(throws: Rejection.self) {
      try store.apply(changes + [.patch(Self.note("none"), set: [], unset: [])])
    }
    #expect(try store.reader.nodes(in: "pins", after: nil, limit: 9).isEmpty)
    try store.apply(changes)
    try store.reopen()
    #expect(try store.reader.nodes(in: "pins", after: nil, limit: 9).map(\.node) == [pin])
    try store.bySQL("DELETE FROM song WHERE id = 1")
    let result = try store.sweep()
    #expect(result.byCollection == ["pins": 1])
    _ = try store.writer.undo(#require(result.batch), by: "me", at: 5)
    #expect(try store.reader.node(pin).value?.text == "1")
    let strict = try PostgresFixture(
      Self.model.replacing("{ collections", with: "{ strict: true, collections"),
      schema: Self.schema)
    #expect(
      try strict.messages(changes[0]) == ["the model has no collection \"pins\" and is strict"])
  }

  @Test(
    "What the model does not declare is refused with its place, and nothing of the file is done")
  func refusals() throws {
    let store = try PostgresFixture(Self.model, schema: Self.schema)
    let refused: [(Change, String)] = [
      (
        .link(
          name: "next", from: Self.song(1), to: .file(root: "media", path: "x"),
          rules: .deleteDestinationIfSourceDeleted),
        "the model has no file root \"media\""
      ),
      (
        .link(name: "other", from: Self.song(1), to: .node(Self.song(2)), rules: nil),
        "has no rules, and the model declares no relationship \"other\" from \"songs\""
      ),
    ]
    for (change, message) in refused {
      let rejection = #expect(throws: Rejection.self) {
        try store.apply([Self.put("one"), change])
      }
      let reason = try #require(rejection?.reasons.first)
      #expect(reason.message.contains(message))
      #expect(reason.path == "changes[1]")
    }
    #expect(try store.reader.nodes(in: "notes", after: nil, limit: 9).isEmpty)
  }
}

/// Random change files, told to the store and to the reference.
@Suite("Random objects on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct RandomObjects {
  private static let histories: UInt64 = Histories.isLong ? 400 : 6

  @Test("Change files of objects do what the reference does")
  func files() throws {
    for seed in 0..<RandomObjects.histories {
      var random = Seeded(seed)
      let graph = ObjectGraph(&random)
      let history = (0..<12).map { _ in graph.changes(&random) }
      guard let difference = try graph.difference(history) else { continue }
      let shrunk = try Histories.shrink(history) { try graph.difference($0) }
      Issue.record(
        """
        seed \(seed): \(difference)
        shrunk to: \(try graph.difference(shrunk) ?? "")
        \(graph.model)
        \(shrunk.map { "\($0)" }.joined(separator: "\n"))
        """)
      return
    }
  }
}

/// Two collections of objects. Their sources declare the edges "x"; "y" is linked.
private struct ObjectGraph {
  let rules: [String: Rules]
  private static let collections = ["a", "b"]

  init(_ random: inout Seeded) {
    var rules: [String: Rules] = [:]
    for name in ["x", "y"] {
      for from in ObjectGraph.collections {
        for to in ObjectGraph.collections {
          rules["\(name) \(from) \(to)"] = ObjectGraph.rules(&random)
        }
      }
    }
    self.rules = rules
  }

  private static func rules(_ random: inout Seeded) -> Rules {
    var rules: Rules = []
    let ofDestination: [Rules] = [
      [], .deleteSourceIfDestinationDeleted, .deleteSourceIfAllDestinationsDeleted,
      .nullifySourceIfDestinationDeleted, .denyDestinationDeletion,
    ]
    let ofSource: [Rules] = [
      [], .deleteDestinationIfSourceDeleted, .deleteDestinationIfAllSourcesDeleted,
      .denySourceDeletion,
    ]
    rules.formUnion(ofDestination.randomElement(using: &random)!)
    rules.formUnion(ofSource.randomElement(using: &random)!)
    for notice: Rules in [.notifyIfSourceDeleted, .notifyIfDestinationDeleted]
    where Int.random(in: 0..<3, using: &random) == 0 {
      rules.insert(notice)
    }
    return rules
  }

  var model: String {
    let list = rules.sorted { $0.key < $1.key }.map { path, rules in
      let parts = path.split(separator: " ")
      let names = rules.names.map { "'\($0)'" }.joined(separator: ", ")
      return "{ name: '\(parts[0])', from: '\(parts[1])', to: '\(parts[2])', toMany: true, "
        + "rules: [\(names)] }"
    }
    return "{ collections: { a: {}, b: {} }, relationships: [\(list.joined(separator: ", "))] }"
  }

  func changes(_ random: inout Seeded) -> [Change] {
    (0..<Int.random(in: 1...5, using: &random)).map { _ in
      let (from, to) = (node(&random), node(&random))
      // Some have other rules than the model gives, or a name that it does not declare.
      let name = ["y", "y", "z"].randomElement(using: &random)!
      let declared = rules["y \(from.collection) \(to.collection)"]!
      let isOther = name == "z" || Int.random(in: 0..<3, using: &random) == 0
      let rules = isOther ? ObjectGraph.rules(&random) : declared
      switch Int.random(in: 0..<13, using: &random) {
      case 12: return .flush
      case ..<5:
        let edges = (0..<Int.random(in: 0...3, using: &random)).map { _ in
          let to = node(&random)
          return DeclaredEdge(
            name: "x", destination: .node(to),
            rules: self.rules["x \(from.collection) \(to.collection)"]!)
        }
        return .put(from, type: nil, value: nil, edges: Bool.random(using: &random) ? edges : nil)
      case ..<8: return .link(name: name, from: from, to: .node(to), rules: rules)
      case ..<9:
        return .unlink(
          name: name, from: from, to: .node(to), as: Removal.allCases.randomElement(using: &random)!
        )
      default: return .delete(from)
      }
    }
  }

  private func node(_ random: inout Seeded) -> Node {
    Node(
      ObjectGraph.collections.randomElement(using: &random)!,
      .text("k\(Int.random(in: 0..<4, using: &random))"))
  }

  func difference(_ history: [[Change]]) throws -> String? {
    let store = try PostgresFixture(model, schema: "")
    var reference = Reference()
    for (index, changes) in history.enumerated() {
      let told = reference.notices.count
      let before = try store.reader.notices(after: 0, limit: 10_000).count
      let expected = reference.apply(changes)
      let actual = try outcome(store, changes)
      if actual != expected { return "file \(index): \(actual), not \(expected)" }
      if let state = try difference(store, reference, told, before) {
        return "after \(index): \(state)"
      }
    }
    let last = try store.sweep([.all])
    return last.outcome == .nothing ? nil : "a sweep: \(last)"
  }

  private func outcome(_ store: PostgresFixture, _ changes: [Change]) throws -> Reference.Result {
    do {
      return Reference.Result(deleted: Set(try store.apply(changes).deleted))
    } catch let rejection as Rejection {
      return Reference.Result(denied: Set(rejection.reasons.compactMap(\.node)))
    }
  }

  private func difference(
    _ store: PostgresFixture, _ reference: Reference, _ told: Int, _ before: Int
  ) throws -> String? {
    let nodes = try ObjectGraph.collections.flatMap {
      try store.reader.nodes(in: $0, after: nil, limit: 100).map(\.node)
    }
    if Set(nodes) != Set(reference.nodes.keys) {
      return "nodes \(nodes), not \(reference.nodes.keys)"
    }
    let edges = Set(try store.reader.edges(EdgeQuery()).edges.map(\.json.text))
    let expected = Set(reference.edges.map { Edge($0.key, $0.value).json.text })
    if edges != expected {
      return "edges \(edges.subtracting(expected)), not \(expected.subtracting(edges))"
    }
    let ends = try store.reader.notices(after: 0, limit: 10_000).dropFirst(before).map {
      "\($0.node) \($0.edge.name) \($0.edge.source) \($0.edge.destination) \($0.reason)"
    }
    let wanted = reference.notices.dropFirst(told).map {
      "\($0.receiver) \($0.edge.name) \($0.edge.source) \(Destination.node($0.edge.destination)) "
        + $0.reason
    }
    return ends.sorted() == wanted.sorted()
      ? nil : "notices \(ends.sorted()), not \(wanted.sorted())"
  }
}
