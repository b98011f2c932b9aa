import CascadeModel
import CascadePostgres
import CascadeStore
import PostgresStore
import PostgresSupport
import StoreDefinition
import Testing

/// What no chain of edges reaches from the roots goes, cycles too.
@Suite(
  "Unreachable nodes on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct UnreachableTests {
  // MARK: - Objects

  private func objects(_ more: String = "", roots: String = "roots: ['r'],") throws
    -> PostgresFixture
  {
    try PostgresFixture("{ \(roots) \(more) }", schema: "")
  }

  private func swept(_ store: PostgresFixture) throws -> String {
    try store.sweep([.unreachable]).deleted.letters
  }

  @Test("What the roots lead to stays, and cycles go")
  func cycles() throws {
    let store = try objects()
    try store.run("r/1 A B C D E r/1-0>A A-0>B C-0>D D-0>C E-0>A")
    #expect(try store.reader.planSweep([.unreachable]).steps.map(\.node).letters == "C D E")
    #expect(try store.reader.planSweep([.all]).steps.map(\.node).letters == "C D E")
    #expect(try swept(store) == "C D E")
    #expect(try store.alive() == "A B")
    #expect(try store.sweep([.all]).outcome == .nothing)
    #expect(try store.texts("SELECT key FROM cascade.unreached").isEmpty && !store.hasWork)
  }

  @Test(
    "Who lives by what is reached is reached; who only refers to it is not", arguments: [4, 16])
  func backwards(rule: Int) throws {
    let store = try objects()
    try store.run("r/1 A B C A-\(rule)>r/1 B-\(rule)>A C-0>A")
    #expect(try swept(store) == "C")
  }

  /// A draft that no tag refers to denies the deletion of a cover.
  @Test("What it denied goes in the same sweep, and what a search of tables found keeps its plan")
  func deniedByUnreachable() throws {
    let store = try PostgresFixture(
      """
      { collections: { albums: { table: 'album', key: 'id' }, songs: { table: 'song', key: 'id' },
          covers: { table: 'cover', key: 'id' }, tags: { table: 'tag', key: 'id' },
          drafts: { table: 'draft', key: 'id' } },
        roots: ['albums', 'songs', 'covers', 'tags'], limits: { hold: { deletes: 3, share: 0.1 } },
        relationships: [
          { name: 'album', from: 'songs', to: 'albums', column: 'album',
            rules: ['deleteSourceIfDestinationDeleted'] },
          { name: 'album', from: 'covers', to: 'albums', column: 'album',
            rules: ['deleteSourceIfDestinationDeleted'] },
          { name: 'cover', from: 'drafts', to: 'covers', column: 'cover',
            rules: ['denyDestinationDeletion'] },
          { name: 'draft', from: 'tags', to: 'drafts', column: 'draft' } ] }
      """,
      schema: """
        CREATE TABLE album(id int PRIMARY KEY); CREATE TABLE song(id int PRIMARY KEY, album int);
        CREATE TABLE cover(id int PRIMARY KEY, album int);
        CREATE TABLE tag(id int PRIMARY KEY, draft int);
        CREATE TABLE draft(id int PRIMARY KEY, cover int);
        INSERT INTO album VALUES(1); INSERT INTO cover VALUES(1, 1);
        """)
    try store.sweep([.all])
    try store.bySQL(
      """
      INSERT INTO song SELECT n, 90 + n FROM generate_series(1, 6) n; INSERT INTO draft VALUES(1, 1);
      DELETE FROM album
      """)
    let result = try store.sweep([.all])
    #expect(result.outcome == .held && result.byCollection == ["drafts": 1, "covers": 1])
    let plan = try #require(result.plan)
    #expect(try store.texts("SELECT number FROM cascade.plan") == ["\(plan)"])
  }

  @Test("Without roots nothing happens")
  func noRoots() throws {
    let store = try objects(roots: "")
    try store.run("A B A-0>B")
    #expect(try store.sweep([.unreachable]).outcome == .nothing)
    #expect(try store.reader.planSweep([.all, .unreachable]).deletedCount == 0)
  }

  @Test(
    "What rules take along is no way to others: all of it is one plan, and one batch",
    arguments: [0, 1])
  func gates(rowsToAStep: Int64) throws {
    let store = try objects("limits: { hold: { deletes: 5, share: 0.1 } },")
    if rowsToAStep > 0 { store.sweepsInSteps(of: rowsToAStep) }
    // A is not reached, and takes B along, which alone led to C and D; D takes E, the way to F.
    try store.run("r/1 A B C D E F G r/1-0>B r/1-0>E r/1-0>G A-8>B B-0>C B-0>D D-8>E E-0>F")
    #expect(try store.reader.planSweep([.unreachable]).steps.map(\.node).letters == "A B C D E F")
    let held = try store.sweep([.unreachable])
    #expect(held.outcome == .held && held.deletedCount == 6)
    #expect(try store.alive() == "A B C D E F G")
    _ = try store.writer.approve(plan: #require(held.plan))
    let result = try store.sweep([.unreachable])
    #expect(result.outcome == .done && result.deletedCount == 6)
    #expect(try store.alive() == "G")
    #expect(try store.writer.undo(#require(result.batch), by: "", at: 4).restored == 6)
    #expect(try store.alive() == "A B C D E F G")
  }

  @Test("Over the limit it waits for approval, as a sweep of its own")
  func held() throws {
    let store = try objects("limits: { hold: { deletes: 2, share: 0.1 } }")
    try store.run("r/1 A B C")
    let held = try store.sweep([.all])
    #expect((held.outcome, held.heldKinds, held.heldCount) == (.held, [.unreachable], 3))
    #expect(try store.writer.approve(plan: #require(held.plan)) == .sweep([.unreachable]))
    #expect(try swept(store) == "A B C")
  }

  @Test("Objects of a type may be roots")
  func types() throws {
    let store = try objects(
      "collections: { n: { types: { root: 'rootNodes' } } }", roots: "roots: ['rootNodes'],")
    try store.apply([.put(node("A"), type: "root", value: nil, edges: nil)])
    try store.run("B C A-0>B")
    #expect(try swept(store) == "C")
  }

  @Test("A denial keeps what is unreachable, and is told; the rest goes")
  func denied() throws {
    let store = try objects()
    try store.run("r/1 A B C r/1-0>A B-256>A B-0>C")
    let result = try store.sweep([.unreachable])
    #expect(result.blocked.map(\.code) == [.denied])
    #expect(result.deleted.letters == "C")
    #expect(try store.alive() == "A B")
    let alone = try store.sweep([.unreachable])
    #expect(alone.outcome == .blocked && alone.blocked.map(\.code) == [.denied])
    try store.run("~B->A:e")
    #expect(try swept(store) == "B")
  }

  @Test("Leased nodes are reached, and so is what they lead to; the end of a lease is noticed")
  func leased() throws {
    let store = try objects()
    try store.run("r/1 A B C x/1 x/2 A-0>B x/2-0>C D")
    #expect(try !store.writer.hasReachingLeaseEnded(at: 1))
    // No table tells which role the application has, so it was not granted the leases.
    let administrator = try store.database.session(as: "postgres")
    try administrator.execute(
      "INSERT INTO cascade.lease(collection, key) VALUES('n', 'A'), ('x', NULL)")
    #expect(try swept(store) == "D")
    #expect(try !store.writer.hasReachingLeaseEnded(at: 1))
    try administrator.execute("DELETE FROM cascade.lease")
    #expect(try store.writer.hasReachingLeaseEnded(at: 1))
    #expect(try swept(store) == "A B C x/1 x/2")
    #expect(try !store.writer.hasReachingLeaseEnded(at: 1))
  }

  @Test("What went can be explained, and undone")
  func undone() throws {
    let store = try objects()
    try store.run("r/1 A B A-0>B B-0>A")
    let batch = try #require(try store.sweep([.unreachable]).batch)
    guard case .deleted(let deletion) = try store.reader.why(.node(node("A")), at: 1) else {
      Issue.record("nobody knows why A went")
      return
    }
    #expect(deletion.cause == .unreachable && deletion.chain.map(\.node.letters) == ["A"])
    #expect(try store.writer.undo(batch, by: "test", at: 2).restored == 2)
    #expect(try store.graph() == "A-0>B B-0>A")
  }

  // MARK: - Rows

  private func music(_ rows: String) throws -> PostgresFixture {
    let store = try PostgresFixture(UnreachableMusic.model, schema: UnreachableMusic.schema)
    try store.sweep([.all])
    try store.bySQL(rows)
    return store
  }

  private static let songs = "SELECT id FROM song ORDER BY id"

  @Test("Songs live by albums, and albums by artists; a table that nothing leads to is not meant")
  func rows() throws {
    let store = try music(UnreachableMusic.rows)
    let result = try store.sweep([.unreachable])
    #expect(result.byCollection == ["albums": 1, "songs": 2])
    #expect(try store.texts("SELECT id FROM album ORDER BY id") == ["1", "3"])
    #expect(try store.texts(Self.songs) == ["1", "8", "9"])
    #expect(try store.texts("SELECT count(*) FROM setting") == ["2"])
    _ = try store.writer.undo(#require(result.batch), by: "me", at: 2)
    #expect(try store.texts(Self.songs) == ["1", "2", "3", "8", "9"])
  }

  @Test(
    "What is referred to, or leased, between two steps stays, with all that it leads to",
    arguments: [1, -1])
  func steps(direction: Int) throws {
    let store = try music(
      """
      INSERT INTO artist VALUES('nina', NULL);
      INSERT INTO song SELECT i, NULL, nullif(nullif(i + \(direction), 0), 601)
        FROM generate_series(1, 600) i;
      """)
    store.sweepsInSteps(of: 50)
    var isDone = false
    let manners = StepPolicy { _ in
      if isDone { return }
      isDone = true
      try store.bySQL(
        """
        UPDATE artist SET favourite = 350;
        INSERT INTO cascade.lease(collection, key) VALUES('songs', 300)
        """)
    }
    _ = try store.writer.sweep([.unreachable], at: 1, manners: manners)
    #expect(isDone)
    // The other way round, all of them lead to the first, so they go in one step.
    let left = direction == 1 ? (300...600).map(String.init) : []
    #expect(try store.texts(Self.songs) == left)
    #expect(try store.sweep([.unreachable]).deletedCount == 0)
  }

  @Test("A daemon that was stopped goes on in the same batch, and not further than was planned")
  func resumed() throws {
    let store = try music(
      """
      INSERT INTO artist VALUES('nina', NULL);
      INSERT INTO song SELECT i, NULL, NULL FROM generate_series(1, 20) i;
      """)
    store.sweepsInSteps(of: 3)
    #expect(throws: Stopped.self) {
      try store.writer.sweep([.unreachable], at: 1, manners: .stopping(after: 2))
    }
    try store.bySQL("INSERT INTO song VALUES(30, NULL, NULL)")
    try store.reopen()
    #expect(try store.writer.unfinishedSweep == [.unreachable])
    try store.sweep([.cascade, .refcount])
    #expect(try store.texts(Self.songs) == ["30"])
    #expect(try store.texts("SELECT count(DISTINCT batch) FROM cascade.deleted") == ["1"])
    #expect(try store.writer.unfinishedSweep == nil)
  }

  @Test("Foreign keys between what goes are obeyed")
  func foreignKeys() throws {
    let store = try PostgresFixture(
      UnreachableMusic.model,
      schema: """
        \(UnreachableMusic.schema) ALTER TABLE song ADD FOREIGN KEY(album) REFERENCES album,
          ADD FOREIGN KEY(next) REFERENCES song;
        INSERT INTO album VALUES(1, NULL); INSERT INTO song VALUES(1, 1, NULL), (2, 1, 1);
        UPDATE song SET next = 2 WHERE id = 1
        """)
    #expect(try store.sweep([.unreachable]).byCollection == ["albums": 1, "songs": 2])
  }

  // MARK: - Others

  private static let circle = """
    INSERT INTO artist VALUES('nina', NULL);
    INSERT INTO song VALUES(1, NULL, 2), (2, NULL, 1), (3, NULL, 1), (4, NULL, NULL), (5, NULL, 4);
    """

  @Test("Looking and deleting in one statement deletes what a root is about to reach")
  func uncured() throws {
    let store = try music(Self.circle)
    let application = try store.database.session()
    try application.execute("BEGIN; UPDATE artist SET favourite = 2")
    let deletion = store.database.inBackground(
      "cascaded",
      [
        """
        WITH RECURSIVE r(id) AS (SELECT favourite FROM artist UNION
          SELECT s.next FROM r JOIN song s USING (id))
        DELETE FROM song s WHERE NOT EXISTS (SELECT FROM r WHERE r.id = s.id)
        """
      ])
    try store.database.waitForBlocked()
    try application.execute("COMMIT")
    _ = consume deletion
    #expect(try store.texts(Self.songs).isEmpty)
  }

  @Test(
    "What a session lets a root reach stays, with all it leads to, and is looked at again",
    arguments: ["COMMIT", "ROLLBACK"])
  func race(end: String) throws {
    let store = try music(Self.circle)
    let application = try store.database.session()
    try application.execute("BEGIN; UPDATE artist SET favourite = 2")
    let first = try store.sweep([.unreachable])
    #expect(first.isCutShort && first.byCollection == ["songs": 3])
    #expect(try store.texts(Self.songs) == ["1", "2"])
    try application.execute(end)
    try store.waitFor { try $0.writer.hasReachingLeaseEnded(at: 1) }
    let second = try store.sweep([.unreachable])
    #expect(second.deletedCount == (end == "COMMIT" ? 0 : 2))
    #expect(try !store.writer.hasReachingLeaseEnded(at: 1))
  }

  @Test("So it does if the session commits between the plan and the steps")
  func committed() throws {
    let store = try music(Self.circle)
    store.sweepsInSteps(of: 1)
    var isDone = false
    _ = try store.writer.sweep(
      [.unreachable], at: 1,
      manners: StepPolicy { _ in
        if !isDone { try store.bySQL("UPDATE artist SET favourite = 5") }
        isDone = true
      })
    #expect(try store.texts(Self.songs) == ["4", "5"])
  }

  // MARK: - Random

  @Test("It is what a walk over the list of edges says", arguments: [nil, 1])
  func random(steps: Int?) throws {
    for seed in 0..<(Histories.isLong ? 300 : 8) as Range<UInt64> {
      var random = Seeded(seed)
      let denies = seed % 2 == 0
      let graph = ColumnGraph(denies: denies, &random)
      let text = graph.model.replacingLastBrace(with: ", roots: ['a'] }")
      let store = try PostgresFixture(text, schema: graph.schema)
      store.writer.rowsToAStep = steps
      try store.sweep([.all])
      for _ in 0..<5 {
        let sql = graph.steps(&random).flatMap(graph.sql).joined(separator: "; ")
        do { try store.bySQL("BEGIN; \(sql); COMMIT") } catch is PostgresError { continue }
        try store.sweep([.cascade, .refcount, .dangling])
      }
      try compare(store, graph, "seed \(seed): \(text)")
      // What a node denied that is gone now may go.
      let last = try store.sweep([.cascade, .refcount])
      #expect(denies || last.outcome == .nothing, "seed \(seed): \(text) \(last)")
    }
  }

  private func compare(_ store: PostgresFixture, _ graph: ColumnGraph, _ title: String) throws {
    try store.settle()
    let wanted = try unreached(store, graph)
    let plan = try store.reader.planSweep([.unreachable])
    let blocked = Set(plan.denials.compactMap(\.node))
    let found = Set(plan.steps.filter { $0.rule == nil }.map(\.node))
    // What goes by a rule may have been the way to more.
    let isMore = plan.steps.contains { $0.rule != nil }
    #expect(isMore || found.isSubset(of: wanted), "\(title): \(found) instead of \(wanted)")
    #expect(found.union(blocked).isSuperset(of: wanted), "\(title): \(found) instead of \(wanted)")
    let result = try store.sweep([.unreachable])
    if !result.blocked.isEmpty { return }
    #expect(Set(result.deleted) == Set(plan.steps.map(\.node)), "\(title)")
    #expect(try unreached(store, graph).isEmpty, "\(title)")
  }

  private func unreached(_ store: PostgresFixture, _ graph: ColumnGraph) throws -> Set<Node> {
    var nodes: [String: Set<Node>] = [:]
    for collection in graph.allCollections {
      nodes[collection] = Set(
        try store.reader.nodes(in: collection, after: nil, limit: 100).map(\.node))
    }
    let meant = graph.allCollections.filter { $0 != "a" && store.model.isReachableByModel($0) }
    let all = meant.reduce(into: Set<Node>()) { $0.formUnion(nodes[$1] ?? []) }
    let there = nodes.values.reduce(into: Set<Node>()) { $0.formUnion($1) }
    // A reference that may stay is no edge until its destination is there again.
    let edges = try store.edges().filter { there.contains($0.destination.node ?? $0.source) }
    return Unreached.nodes(
      all, from: nodes["a"] ?? [], by: edges, ties: try ties(store, graph))
  }

  private func ties(
    _ store: PostgresFixture, _ graph: ColumnGraph
  ) throws -> [(row: Node, end: Node)] {
    try graph.relations.filter(\.isTie).flatMap { tie in
      try store.reader.nodes(in: tie.from, after: nil, limit: 100).compactMap { row in
        guard let value = try row.value.map({ try JSON.parse($0.text) }) else { return nil }
        let parts = graph.columns(tie.column, to: tie.to).compactMap { value[$0] }.map {
          $0.integer.map(Key.integer) ?? .text($0.string ?? "")
        }
        return (row.node, Node(tie.to, parts.count == 1 ? parts[0] : .composite(parts)))
      }
    }
  }
}

extension PostgresFixture {
  /// Waits until a condition holds. Transactions of other tests may delay it.
  func waitFor(_ condition: (PostgresFixture) throws -> Bool) throws {
    for _ in 0..<20_000 {
      if try condition(self) { return }
      _ = try texts("SELECT pg_sleep(0.001)")
    }
    throw ClusterError(description: "not in time")
  }
}
