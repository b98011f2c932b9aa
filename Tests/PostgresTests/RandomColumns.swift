import CascadeModel
import CascadeStore
import PostgresStore
import PostgresSupport
import StoreDefinition
import Testing

/// Random references in columns, told to the store by SQL or change files, and to the reference.
@Suite(
  "Random graphs in columns on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct RandomColumns {
  private static let histories: UInt64 = Histories.isLong ? 400 : 10

  @Test("SQL and sweeps do what the reference does")
  func sweeps() throws { try compare(steps: nil, files: false) }

  @Test("SQL and sweeps in steps do what the reference does")
  func steps() throws { try compare(steps: 1, files: false) }

  @Test("Change files delete what the reference does, and are denied where it is")
  func files() throws { try compare(steps: nil, files: true) }

  private func compare(steps: Int?, files: Bool) throws {
    for seed in 0..<RandomColumns.histories {
      var random = Seeded(seed)
      let graph = ColumnGraph(denies: files, &random)
      let history = (0..<10).map { _ in graph.steps(&random) }
      let run = { try ColumnRun(graph: graph, steps: steps, files: files).difference($0) }
      guard let difference = try run(history) else { continue }
      let shrunk = try Histories.shrink(history, by: run)
      Issue.record(
        """
        seed \(seed): \(difference)
        shrunk to: \(try run(shrunk) ?? "")
        \(graph.model)
        \(shrunk.map { "\($0)" }.joined(separator: "\n"))
        """)
      return
    }
  }
}

/// Two tables whose columns refer to each other and to themselves.
struct ColumnGraph {
  struct Relation {
    let name: String
    let from: String
    let to: String
    let column: String
    let rules: Rules
  }

  enum Step {
    case put(Node, [String: Node?])
    case delete(Node)
  }

  let relations: [Relation]
  static let collections = ["a", "b"]
  private static let nodes = 4

  init(denies: Bool, _ random: inout Seeded) {
    var relations: [Relation] = []
    for from in ColumnGraph.collections {
      for (column, name) in [("c1", "x"), ("c2", Bool.random(using: &random) ? "x" : "y")] {
        let to = ColumnGraph.collections.randomElement(using: &random)!
        relations.append(
          Relation(
            name: name, from: from, to: to, column: column,
            rules: ColumnGraph.rules(denies: denies, &random)))
      }
    }
    // A name from one collection has one meaning for each destination.
    self.relations = relations.reduce(into: []) { kept, relation in
      let isTwin = kept.contains {
        $0.name == relation.name && $0.from == relation.from && $0.to == relation.to
      }
      if !isTwin { kept.append(relation) }
    }
  }

  private static func rules(denies: Bool, _ random: inout Seeded) -> Rules {
    var rules: Rules = [
      .deleteSourceIfDestinationDeleted, .deleteSourceIfAllDestinationsDeleted,
      .nullifySourceIfDestinationDeleted, .nullifySourceIfDestinationDeleted,
    ].randomElement(using: &random)!
    if denies && Int.random(in: 0..<4, using: &random) == 0 { rules = .denyDestinationDeletion }
    let ofSource: [Rules] = [
      [], .deleteDestinationIfSourceDeleted, .deleteDestinationIfAllSourcesDeleted,
      denies ? .denySourceDeletion : [],
    ]
    rules.formUnion(ofSource.randomElement(using: &random)!)
    for notice: Rules in [.notifyIfSourceDeleted, .notifyIfDestinationDeleted]
    where Int.random(in: 0..<3, using: &random) == 0 {
      rules.insert(notice)
    }
    return rules
  }

  /// Whether a reference to nothing may stay as it is.
  var mayDangle: Bool {
    relations.contains {
      $0.rules.isDisjoint(with: [
        .deleteSourceIfDestinationDeleted, .nullifySourceIfDestinationDeleted,
      ])
    }
  }

  var model: String {
    let list = relations.map { relation in
      let rules = relation.rules.names.map { "'\($0)'" }.joined(separator: ", ")
      return "{ name: '\(relation.name)', from: '\(relation.from)', to: '\(relation.to)', "
        + "column: '\(relation.column)', rules: [\(rules)] }"
    }
    return """
      { collections: { a: { table: 't a', key: 'id' }, b: { table: 't b', key: 'id' } },
        relationships: [\(list.joined(separator: ", "))] }
      """
  }

  static let schema = """
    CREATE TABLE "t a"(id text PRIMARY KEY, c1 text, c2 text);
    CREATE TABLE "t b"(id varchar(9) PRIMARY KEY, c1 text, c2 varchar(9));
    CREATE INDEX ON "t a"(c1); CREATE INDEX ON "t b"(c2);
    """

  func steps(_ random: inout Seeded) -> [Step] {
    var written: Set<Node> = []
    return (0..<Int.random(in: 1...6, using: &random)).compactMap { _ in
      let node = node(ColumnGraph.collections.randomElement(using: &random)!, &random)
      if Int.random(in: 0..<10, using: &random) >= 6 { return .delete(node) }
      if !written.insert(node).inserted { return nil }
      var references: [String: Node?] = [:]
      for relation in relations where relation.from == node.collection {
        references[relation.column] =
          Bool.random(using: &random) ? .some(self.node(relation.to, &random)) : .some(nil)
      }
      return .put(node, references)
    }
  }

  private func node(_ collection: String, _ random: inout Seeded) -> Node {
    Node(collection, .text("k\(Int.random(in: 0..<ColumnGraph.nodes, using: &random))"))
  }

  func change(_ step: Step) -> Change {
    switch step {
    case .delete(let node): return .delete(node)
    case .put(let node, let references):
      let edges = relations.filter { $0.from == node.collection }.compactMap { relation in
        (references[relation.column] ?? nil).map {
          DeclaredEdge(name: relation.name, destination: .node($0), rules: relation.rules)
        }
      }
      return .put(node, type: nil, value: nil, edges: edges)
    }
  }

  func sql(_ step: Step) -> String {
    switch step {
    case .delete(let node):
      return "DELETE FROM \"t \(node.collection)\" WHERE id = '\(node.key.managedText!)'"
    case .put(let node, let references):
      let values = ["c1", "c2"].map { column in
        (references[column] ?? nil).map { "'\($0.key.managedText!)'" } ?? "NULL"
      }
      return """
        INSERT INTO "t \(node.collection)"
        VALUES('\(node.key.managedText!)', \(values.joined(separator: ", ")))
        ON CONFLICT(id) DO UPDATE SET c1 = excluded.c1, c2 = excluded.c2
        """
    }
  }
}

/// One history.
struct ColumnRun {
  let graph: ColumnGraph
  let steps: Int?
  let files: Bool

  /// A scan cannot know that rule 16 has let a reference dangle, once the other ones are gone too.
  private var kinds: [SweepKind] { graph.mayDangle ? [.cascade, .refcount] : [.all] }

  func difference(_ history: [[ColumnGraph.Step]]) throws -> String? {
    let store = try PostgresFixture(graph.model, schema: ColumnGraph.schema)
    store.writer.rowsToAStep = steps
    try store.sweep([.all])
    var reference = Reference()
    reference.keepsDangling = true
    for (index, steps) in history.enumerated() {
      let isFile = files && index % 2 == 1
      let steps =
        isFile ? steps.filter(\.isDelete) : reference.withoutDangling(steps, if: graph.mayDangle)
      let told = reference.notices.count
      let before = try store.reader.notices(after: 0, limit: 10_000).count
      let expected = reference.apply(steps.map(graph.change))
      if isFile {
        let actual = try outcome(store, steps)
        if actual != expected { return "file \(index): \(actual), not \(expected)" }
      } else if expected.denied != nil {
        continue
      } else {
        try store.bySQL("BEGIN; \(steps.map(graph.sql).joined(separator: "; ")); COMMIT")
        try store.sweep(kinds)
      }
      if let state = try difference(store, reference, told, before) {
        return "after \(index): \(state)"
      }
    }
    let last = try store.sweep(kinds)
    return last.outcome == .nothing ? nil : "one more sweep: \(last)"
  }

  private func outcome(
    _ store: PostgresFixture, _ steps: [ColumnGraph.Step]
  ) throws -> Reference.Result {
    do {
      return Reference.Result(deleted: Set(try store.apply(steps.map(graph.change)).deleted))
    } catch let rejection as Rejection {
      return Reference.Result(denied: Set(rejection.reasons.compactMap(\.node)))
    }
  }

  private func difference(
    _ store: PostgresFixture, _ reference: Reference, _ told: Int, _ before: Int
  ) throws -> String? {
    var nodes: Set<Node> = []
    for collection in ColumnGraph.collections {
      nodes.formUnion(
        try store.reader.nodes(in: collection, after: nil, limit: 100).map(\.node))
    }
    let wanted = Set(reference.nodes.keys)
    if nodes != wanted {
      return "nodes \(nodes.subtracting(wanted)) too many, \(wanted.subtracting(nodes)) missing"
    }
    let edges = Set(try store.reader.edges(EdgeQuery()).edges.map(\.json.text))
    let expected = Set(reference.edges.map { Edge($0.key, $0.value).json.text })
    if edges != expected {
      return "edges \(edges.subtracting(expected)), not \(expected.subtracting(edges))"
    }
    let notices = try store.reader.notices(after: 0, limit: 10_000).dropFirst(before)
      .map(Reference.Told.init)
    let counts = Dictionary(grouping: notices, by: \.self).mapValues(\.count)
    let told = Dictionary(grouping: reference.notices.dropFirst(told), by: \.self)
      .mapValues(\.count)
    return counts == told ? nil : "notices \(counts), not \(told)"
  }
}

extension Reference {
  /// Without references to what never was, of which a rule may leave some as they are. Nothing tells
  /// them from those that lost their destination, for which there were notices.
  fileprivate func withoutDangling(
    _ steps: [ColumnGraph.Step], if isWanted: Bool
  ) -> [ColumnGraph.Step] {
    if !isWanted { return steps }
    var there = Set(nodes.keys)
    for step in steps {
      switch step {
      case .put(let node, _): there.insert(node)
      case .delete(let node): there.remove(node)
      }
    }
    return steps.map { step in
      guard case .put(let node, let references) = step else { return step }
      return .put(
        node, references.mapValues { node in node.flatMap { there.contains($0) ? $0 : nil } })
    }
  }
}

extension ColumnGraph.Step {
  var isDelete: Bool { if case .delete = self { true } else { false } }
}
