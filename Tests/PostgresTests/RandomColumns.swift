import CascadeModel
import CascadePostgres
import CascadeStore
import PostgresStore
import PostgresSupport
import StoreDefinition
import Testing

/// Random references in columns, told to the store by SQL or change files, and to the reference.
@Suite(
  "Random graphs in columns on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct RandomColumns {
  private static let seeds = Histories.seeds(quick: 6, long: 400)

  @Test("SQL and sweeps do what the reference does")
  func sweeps() throws { try compare(steps: nil, files: false) }

  @Test("SQL and sweeps in steps do what the reference does")
  func steps() throws { try compare(steps: 1, files: false) }

  @Test("Sweeps that look through no table do what the reference does")
  func small() throws { try compare(steps: nil, files: false, sweeps: [[.cascade, .refcount]]) }

  @Test("Sweeps of one kind after the other do what the reference does", arguments: [false, true])
  func kinds(countsFirst: Bool) throws {
    try compare(
      steps: nil, files: false,
      sweeps: countsFirst ? [[.refcount], [.cascade]] : [[.cascade], [.refcount]])
  }

  @Test(
    "What is denied waits, and goes when its denial ends",
    arguments: [[[.all]], [[.cascade, .refcount]]] as [[[SweepKind]]], [nil, 1])
  func denied(sweeps: [[SweepKind]], steps: Int?) throws {
    try compare(steps: steps, files: false, denies: true, sweeps: sweeps)
  }

  @Test("So it does by sweeps of one kind after the other", arguments: [false, true])
  func deniedByKinds(countsFirst: Bool) throws {
    let kinds: [[SweepKind]] = countsFirst ? [[.refcount], [.cascade]] : [[.cascade], [.refcount]]
    try compare(steps: nil, files: false, denies: true, sweeps: kinds)
  }

  @Test("So it does where change files write, too")
  func deniedAndPut() throws {
    try compare(steps: nil, files: true, denies: true, sweeps: [[.cascade, .refcount]])
  }

  @Test("Change files delete what the reference does, and are denied where it is")
  func files() throws { try compare(steps: nil, files: true) }

  func compare(
    steps: Int?, files: Bool, denies: Bool = false, sweeps: [[SweepKind]] = [[.all]],
    seeds: Range<UInt64> = Self.seeds
  ) throws {
    for seed in seeds {
      var random = Seeded(seed)
      let graph = ColumnGraph(denies: files || denies, either: !denies, &random)
      let history = (0..<10).map { _ in graph.steps(&random) }
      let run = {
        try ColumnRun(graph: graph, steps: steps, files: files, sweeps: sweeps).difference($0)
      }
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

/// One history.
struct ColumnRun {
  let graph: ColumnGraph
  let steps: Int?
  let files: Bool
  /// The sweeps after each transaction.
  private let sweeps: [[SweepKind]]

  init(graph: ColumnGraph, steps: Int?, files: Bool, sweeps: [[SweepKind]]) {
    (self.graph, self.steps, self.files) = (graph, steps, files)
    // A scan cannot know that rule 16 has let a reference dangle, once the other ones are gone too.
    self.sweeps = sweeps == [[.all]] && !graph.dangling.isEmpty ? [[.cascade, .refcount]] : sweeps
  }

  /// Nothing looks for references to what never was.
  private var leavesDangling: Bool { sweeps != [[.all]] }

  private var areSeparate: Bool { sweeps.count > 1 }

  func difference(_ history: [[ColumnGraph.Step]]) throws -> String? {
    let store = try PostgresFixture(graph.model, schema: graph.schema)
    store.writer.rowsToAStep = steps
    try store.sweep([.all])
    var reference = Reference()
    reference.columns = Set(graph.dangling.flatMap(\.paths))
    reference.alternatives = graph.alternatives
    reference.joined = graph.joined
    reference.inRows = Set(graph.inRows.flatMap(\.paths))
    for (index, steps) in history.enumerated() {
      let isFile = files && index % 2 == 1
      let steps = comparable(isFile ? steps.filter(graph.isOfFile) : steps, reference)
      let told = reference.notices.count
      let before = try store.reader.notices(after: 0, limit: 10_000).count
      let saved = reference
      if isFile {
        let expected = reference.apply(steps.map(graph.change))
        let actual = try outcome(store, steps)
        if actual != expected { return "file \(index): \(actual), not \(expected)" }
      } else {
        let denied = reference.sweep(steps.map(graph.change))
        if try isRefused(store, steps) {
          reference = saved
        } else if let blocked = try sweep(store), blocked != denied {
          return "sweep \(index): \(blocked) stay, not \(denied)"
        }
      }
      if let state = try difference(store, reference, told, before) {
        return "after \(index): \(state)"
      }
    }
    // A file may have ended a denial.
    if reference.holdsBack { _ = (reference.sweep([]), try sweep(store)) }
    let last = try store.sweep(sweeps[0])
    let isNothing = last.outcome == .nothing || last.outcome == .blocked && reference.holdsBack
    return isNothing && last.batch == nil ? nil : "one more sweep: \(last)"
  }

  /// Returns what had to stay, if one sweep knows.
  private func sweep(_ store: PostgresFixture) throws -> Set<Node>? {
    if !areSeparate { return Set(try store.sweep(sweeps[0]).blocked.compactMap(\.node)) }
    var stops = Stops(store, 0)
    try stops.sweep(byKinds: sweeps.map { $0[0] })
    return nil
  }

  /// What only the application could tell is left out.
  private func comparable(_ steps: [ColumnGraph.Step], _ reference: Reference) -> [ColumnGraph.Step]
  {
    var (steps, last) = (steps, "")
    // One omission may call for another.
    while last != "\(steps)" {
      last = "\(steps)"
      steps = reference.withoutDangling(steps, if: leavesDangling)
      steps = reference.withoutNewcomers(steps, in: graph)
    }
    return steps
  }

  /// A trigger judges each statement, and not what the transaction makes of it.
  private func isRefused(_ store: PostgresFixture, _ steps: [ColumnGraph.Step]) throws -> Bool {
    let sql = "BEGIN; \(steps.flatMap(graph.sql).joined(separator: "; ")); COMMIT"
    do {
      try store.bySQL(sql)
    } catch let error where store.isDenial(error) {
      return true
    }
    return false
  }

  private func outcome(
    _ store: PostgresFixture, _ steps: [ColumnGraph.Step]
  ) throws -> Reference.Result {
    do {
      return Reference.Result(deleted: Set(try store.apply(steps.map(graph.changeOfRow)).deleted))
    } catch let rejection as Rejection {
      return Reference.Result(denied: Set(rejection.reasons.compactMap(\.node)))
    }
  }

  private func difference(
    _ store: PostgresFixture, _ reference: Reference, _ told: Int, _ before: Int
  ) throws -> String? {
    var nodes: Set<Node> = []
    for collection in graph.allCollections {
      nodes.formUnion(
        try store.reader.nodes(in: collection, after: nil, limit: 100).map(\.node))
    }
    let wanted = Set(reference.nodes.keys)
    if nodes != wanted {
      return "nodes \(nodes.subtracting(wanted)) too many, \(wanted.subtracting(nodes)) missing"
    }
    let edges = Set(
      try store.reader.edges(EdgeQuery()).edges.filter { edge in
        // A reference that may stay is no edge until its destination is there again.
        guard case .node(let node) = edge.destination else { return true }
        return graph.dangling.isEmpty && !reference.holdsBack || wanted.contains(node)
      }.map(\.json.text))
    let expected = Set(
      reference.existingEdges.map { Edge($0.key, $0.value).json.text })
    if edges != expected {
      return "edges \(edges.subtracting(expected)), not \(expected.subtracting(edges))"
    }
    let notices = try store.reader.notices(after: 0, limit: 10_000).dropFirst(before)
      .filter { !areSeparate || !$0.receiverDeleted }.map(Reference.Told.init)
    let counts = reference.counts(notices)
    let told = reference.counts(reference.notices.dropFirst(told))
    return counts == told ? nil : "notices \(counts), not \(told)"
  }
}

extension Reference {
  /// Without nodes that come when a reference to either table, of which they have the key, changes:
  /// whether they came before or afterwards, only the application knows.
  fileprivate func withoutNewcomers(
    _ steps: [ColumnGraph.Step], in graph: ColumnGraph
  ) -> [ColumnGraph.Step] {
    if graph.alternatives.isEmpty { return steps }
    let written = Set(steps.map(\.node))
    let deleted = Set(steps.filter { $0.put == nil }.map(\.node))
    var named = Set(
      edges.keys.filter { alternatives(of: $0) != nil && written.contains($0.source) }
        .map(\.destination))
    for step in steps where step.put != nil && deleted.contains(step.node) {
      named.formUnion(graph.destinationsOfEither(step))
    }
    return steps.filter { $0.put == nil || nodes[$0.node] != nil || !named.contains($0.node) }
  }

  /// Without references to what never was, of which a rule may leave some as they are. Nothing tells
  /// them from those that lost their destination, for which there were notices.
  fileprivate func withoutDangling(
    _ steps: [ColumnGraph.Step], if isWanted: Bool
  ) -> [ColumnGraph.Step] {
    if !isWanted { return steps }
    let awaited = awaited
    // Whether an edge came back before its source went only the application knows.
    let revival = steps.first {
      if case .put(let node, _) = $0 { awaited.contains(node) } else { false }
    }
    let steps = revival.map { [$0] } ?? steps
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
        node, references.mapValues { $0.filter(there.contains) })
    }
  }
}
