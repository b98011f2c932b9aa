import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteBinding
import SQLiteTables
import Testing
import SQLiteSweeps
import SQLiteDeletion
import SQLiteUndo

/// What no chain of edges reaches from the roots goes, cycles too.
@Suite("Unreachable")
struct UnreachableTests {
  private func managed(_ roots: String = "roots: ['r'],", _ more: String = "") throws -> TestStore {
    try TestStore(model: StoreModel("{ \(roots) \(more) }"))
  }

  private func swept(_ store: TestStore) throws -> String {
    try store.writer.sweep([.unreachable], at: 1).deleted.letters
  }

  @Test("What the roots lead to stays, and cycles go")
  func cycles() throws {
    let store = try managed()
    try store.run("r/1 A B C D E r/1-0>A A-0>B C-0>D D-0>C E-0>A")
    #expect(try store.reader.planSweep([.unreachable]).steps.map(\.node).letters == "C D E")
    #expect(try swept(store) == "C D E")
    #expect(try store.alive() == "A B")
    #expect(try store.writer.sweep([.all], at: 2).outcome == .nothing)
  }

  @Test(
    "Who lives by what is reached is reached; who only refers to it is not", arguments: [4, 16])
  func backwards(rule: Int) throws {
    let store = try managed()
    try store.run("r/1 A B C A-\(rule)>r/1 B-\(rule)>A C-0>A")
    #expect(try swept(store) == "C")
  }

  @Test("What an application deleted itself is not counted", arguments: [8, 32] as [Rules])
  func goneBefore(rule: Rules) throws {
    let model = """
      { collections: { r: { table: 'r', key: 'id' }, a: { table: 'a', key: 'id' },
          b: { table: 'b', key: 'id' } }, roots: ['r'],
        relationships: [ { name: 'top', from: 'r', to: 'a', column: 'a' },
          { name: 'other', from: 'r', to: 'b', column: 'b' } ] }
      """
    let schema = """
      CREATE TABLE r(id TEXT PRIMARY KEY, a, b); CREATE TABLE a(id TEXT PRIMARY KEY);
      CREATE TABLE b(id TEXT PRIMARY KEY); INSERT INTO a VALUES('1'); INSERT INTO b VALUES('1')
      """
    let store = try TestStore(model: StoreModel(model), schema: schema)
    let (source, destination) = (Node("a", .text("1")), Node("b", .text("1")))
    try store.apply([.link(name: "s", from: source, to: .node(destination), rules: rule)])
    try store.bySQL("DELETE FROM b")
    #expect(try store.reader.planSweep([.unreachable]).deletedCount == 1)
    let result = try store.writer.sweep([.unreachable], at: 1)
    #expect(result.deletedCount == 1 && result.byCollection == ["a": 1])
  }

  @Test("A long ring beside a writer waits for a calm moment, and says so")
  func longRing() throws {
    let schema = """
      CREATE TABLE r(id INTEGER PRIMARY KEY); CREATE TABLE n(id INTEGER PRIMARY KEY, next INTEGER);
      CREATE INDEX n_next ON n(next); CREATE TABLE other(a);
      WITH RECURSIVE i(v) AS (SELECT 0 UNION ALL SELECT v + 1 FROM i WHERE v < 5999)
      INSERT INTO n SELECT v, (v + 1) % 6000 FROM i;
      """
    let model = """
      { collections: { r: { table: 'r', key: 'id' }, n: { table: 'n', key: 'id' } }, roots: ['r'],
        relationships: [ { name: 'next', from: 'n', to: 'n', column: 'next' } ] }
      """
    let store = try TestStore(model: StoreModel(model), schema: schema)
    let write = { try store.bySQL("INSERT INTO other VALUES(1)") }
    let busy = StepPolicy(
      pause: { _ in try write() },
      shouldStop: {
        try? write()
        return false
      })
    let result = try store.writer.sweep([.unreachable], at: 1, manners: busy)
    #expect(result.isCutShort && result.outcome == .blocked && result.deletedCount == 0)
    #expect(try store.writer.unfinishedSweep == [.unreachable])
    #expect(try store.writer.sweep([.unreachable], at: 2).deletedCount == 6_000)
  }

  @Test("Without roots nothing happens")
  func noRoots() throws {
    let store = try managed("")
    try store.run("A B A-0>B")
    #expect(try store.writer.sweep([.unreachable], at: 1).outcome == .nothing)
    #expect(try store.writer.sweep([.all], at: 1).outcome == .nothing)
    #expect(try store.reader.planSweep([.all, .unreachable]).deletedCount == 0)
  }

  @Test("All of it includes what is unreachable, and what that leads to then")
  func all() throws {
    let store = try managed()
    try store.run("r/1 A B C D r/1-0>A A-0>B D-32x>A")
    let result = try store.writer.sweep([.all], at: 1)
    // C and D are not reached; A was D's alone by that name, and was the way to B.
    #expect(result.deleted.letters == "A B C D")
    #expect(result.kinds == [.all])
  }

  @Test(
    "What rules take along is no way to others: all of it is one plan, and one batch",
    arguments: [0, 1])
  func gates(rowsToAStep: Int64) throws {
    let lock = rowsToAStep > 0 ? "" : ", lock: 'none'"
    let store = try managed(
      "roots: ['r'],", "limits: { hold: { deletes: 5, share: 0.1 }\(lock) },")
    if rowsToAStep > 0 { store.sweepsInSteps(of: rowsToAStep) }
    // A is not reached, and takes B along, which alone led to C and D; D takes E, the way to F.
    try store.run("r/1 A B C D E F G r/1-0>B r/1-0>E r/1-0>G A-8>B B-0>C B-0>D D-8>E E-0>F")
    #expect(try store.reader.planSweep([.unreachable]).steps.map(\.node).letters == "A B C D E F")
    let held = try store.writer.sweep([.unreachable], at: 1)
    #expect(held.outcome == .held && held.deletedCount == 6)
    #expect(try store.alive() == "A B C D E F G")
    _ = try store.writer.approve(plan: #require(held.plan))
    let result = try store.writer.sweep([.unreachable], at: 3)
    #expect(result.outcome == .done && result.deletedCount == 6)
    #expect(try store.alive() == "G")
    #expect(try store.writer.undo(#require(result.batch), by: "", at: 4).restored == 6)
    #expect(try store.alive() == "A B C D E F G")
  }

  @Test("What other kinds of the same sweep deleted counts for the hold limit")
  func heldTogether() throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { a: { table: 'a', key: 'id' }, b: { table: 'b', key: 'id' } }, roots: ['a'],
          relationships: [ { name: 'a', from: 'b', to: 'a', column: 'a',
            rules: ['deleteSourceIfDestinationDeleted'] } ],
          limits: { hold: { deletes: 3, share: 0.1 } } }
        """),
      schema: """
        CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(id INTEGER PRIMARY KEY, a INT);
        INSERT INTO a VALUES(1), (2); INSERT INTO b VALUES(1, 1), (2, 1), (3, NULL), (4, NULL), (5, 2);
        """)
    try store.bySQL("DELETE FROM a WHERE id = 1")
    let swept = try store.writer.sweep([.all], at: 1)
    #expect(swept.outcome == .held && swept.deletedCount == 2)
    #expect(try store.texts("SELECT id FROM b") == ["3", "4", "5"])
    _ = try store.writer.approve(plan: #require(swept.plan))
    #expect(try store.writer.sweep([.unreachable], at: 2).deletedCount == 2)
  }

  @Test("Objects of a type may be roots")
  func types() throws {
    let store = try TestStore(
      model: StoreModel(
        "{ collections: { n: { types: { root: 'rootNodes' } } }, roots: ['rootNodes'] }"))
    try store.apply([.put(node("A"), type: "root", value: nil, edges: nil)])
    try store.run("B C A-0>B")
    #expect(try swept(store) == "C")
  }

  @Test("A denial keeps what is unreachable, and is told")
  func denied() throws {
    let store = try managed()
    try store.run("r/1 A B C r/1-0>A B-256>A B-0>C")
    let result = try store.writer.sweep([.unreachable], at: 1)
    #expect(result.outcome == .blocked)
    #expect(result.blocked.map(\.code) == [.denied])
    // The rest goes on, as in every sweep.
    #expect(result.deleted.letters == "C")
    #expect(try store.alive() == "A B")
  }

  @Test("Leased nodes are reached, and so is what they lead to")
  func leased() throws {
    let store = try managed()
    try store.run("r/1 A B C x/1 x/2 A-0>B x/2-0>C D")
    try store.lease("'A'", in: "n", until: 1_000)
    try store.lease("NULL", in: "x", until: 1_000)
    #expect(try swept(store) == "D")
    #expect(
      try store.writer.sweep([.unreachable], at: 1_000_000).deleted.letters == "A B C x/1 x/2")
  }

  @Test("What went can be explained, and undone")
  func undone() throws {
    let store = try managed()
    try store.run("r/1 A B A-0>B B-0>A")
    let batch = try #require(try store.writer.sweep([.unreachable], at: 1).batch)
    #expect(try store.deletion(of: "A")?.cause == .unreachable)
    #expect(try store.writer.undo(batch, by: "test", at: 2).restored == 2)
    #expect(try store.graph() == "A-0>B B-0>A")
  }

  @Test("Over the limit it waits for approval, as a sweep of its own")
  func held() throws {
    let store = try managed("roots: ['r'],", "limits: { hold: { deletes: 2, share: 0.1 } }")
    try store.run("r/1 A B C")
    let held = try store.writer.sweep([.all], at: 1)
    #expect((held.outcome, held.heldKinds, held.heldCount) == (.held, [.unreachable], 3))
    #expect(try store.writer.approve(plan: #require(held.plan)) == .sweep([.unreachable]))
    #expect(try swept(store) == "A B C")
  }

  // MARK: - Rows

  private func music(_ rows: String) throws -> TestStore {
    let store = try TestStore(
      model: StoreModel(UnreachableMusic.model), schema: UnreachableMusic.schema)
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL(rows)
    return store
  }

  private func integers(_ sql: String, _ store: TestStore) throws -> [Int64] {
    try Connection(path: store.path, access: .readOnly).all(generated: sql) { $0.integer(0) }
  }

  @Test("Songs live by albums, and albums by artists; a table that nothing leads to is not meant")
  func rows() throws {
    let store = try music(UnreachableMusic.rows)
    let result = try store.writer.sweep([.unreachable], at: 1)
    #expect(result.byCollection == ["albums": 1, "songs": 2])
    #expect(try integers("SELECT id FROM album ORDER BY id", store) == [1, 3])
    #expect(try integers("SELECT id FROM song ORDER BY id", store) == [1, 8, 9])
    #expect(try integers("SELECT count(*) FROM setting", store) == [2])
  }

  @Test(
    "What is referred to, or leased, between two steps stays, with all that it leads to",
    arguments: [1, -1])
  func steps(direction: Int) throws {
    let store = try music(
      """
      INSERT INTO artist VALUES('nina', NULL);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)
      INSERT INTO song SELECT i, NULL, nullif(nullif(i + \(direction), 0), 6001) FROM n;
      """)
    var isDone = false
    let manners = StepPolicy { _ in
      if isDone { return }
      isDone = true
      try store.bySQL("UPDATE artist SET favourite = 3500")
      try store.lease("3000", in: "songs", until: 1_000)
    }
    _ = try store.writer.sweep([.unreachable], at: 1, manners: manners)
    #expect(isDone)
    let left = direction == 1 ? 3_000...6_000 : 1...3_500
    #expect(try integers("SELECT id FROM song ORDER BY id", store) == left.map(Int64.init))
    #expect(try store.writer.sweep([.unreachable], at: 2).deletedCount == 0)
  }

  @Test("Who lead to each other go in one step, and before all that they lead to")
  func circles() throws {
    let store = try music(
      """
      INSERT INTO artist VALUES('nina', NULL);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
      INSERT INTO album SELECT 5000 - i, NULL FROM n UNION ALL SELECT 20000 + i, NULL FROM n;
      -- Three in a circle, in two tables or one, and what the last of them shows is its own.
      INSERT INTO song SELECT id, 25000 - id, 10000 + id FROM album WHERE id < 5000;
      INSERT INTO song SELECT id + 10000, NULL, id + 30000 FROM album WHERE id < 5000;
      INSERT INTO song SELECT id + 30000, id, id FROM album WHERE id < 5000;
      """)
    store.sweepsInSteps(of: 7)
    var steps = 0
    let manners = StepPolicy { _ in
      steps += 1
      let broken = """
        SELECT count(*) FROM song WHERE next NOT IN (SELECT id FROM song)
        OR album NOT IN (SELECT id FROM album)
        """
      #expect(try integers(broken, store) == [0])
      if steps % 3 == 0 { try store.bySQL("INSERT INTO artist VALUES(\(steps), NULL)") }
    }
    let result = try store.writer.sweep([.unreachable], at: 1, manners: manners)
    #expect(result.deletedCount == 10_000 && steps > 200)
  }

  @Test("What comes to be reached between two steps stays, wherever it leads")
  func chain() throws {
    let store = try music(
      """
      INSERT INTO artist VALUES('nina', NULL);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10)
      INSERT INTO song SELECT i, NULL, i - 1 FROM n;
      INSERT INTO song VALUES(20, NULL, 9);
      INSERT INTO setting VALUES(1, 8);
      """)
    store.sweepsInSteps(of: 1)
    var isDone = false
    let manners = StepPolicy { _ in
      if !isDone { try store.bySQL("UPDATE artist SET favourite = 9") }
      try store.bySQL("INSERT INTO setting VALUES(NULL, 20)")
      isDone = true
    }
    _ = try store.writer.sweep([.unreachable], at: 1, manners: manners)
    #expect(try integers("SELECT id FROM song ORDER BY id", store) == Array(1...9))
  }

  // MARK: - Random

  @Test("It is what a walk over the list of edges says", arguments: [false, true])
  func random(bySQL: Bool) throws {
    for seed in 0..<(Histories.isLong ? 160 : 40) as Range<UInt64> {
      var random = Seeded(seed)
      let graph = PlacedGraph(TablesInSQLite(), bySQL: bySQL, &random)
      let text = graph.model.replacingLastBrace(with: ", roots: ['a'] }")
      let store = try TestStore(model: StoreModel(text), schema: graph.schema)
      _ = try store.writer.sweep([.all], at: 0)
      for _ in 0..<5 {
        let steps = graph.steps(bySQL: bySQL, &random)
        if bySQL {
          let sql = steps.flatMap { graph.sql($0, replacing: false) }.joined(separator: "; ")
          try store.bySQL("BEGIN; \(sql); COMMIT")
          _ = try store.writer.sweep([.cascade, .refcount, .dangling], at: 1)
        } else {
          _ = try store.reasons(steps.map(graph.forFile))
        }
      }
      try compare(store, graph, "seed \(seed): \(text)")
    }
  }

  private func compare(_ store: TestStore, _ graph: PlacedGraph, _ title: String) throws {
    let wanted = try unreached(store, graph)
    let plan = try store.reader.planSweep([.unreachable])
    let blocked = Set(plan.denials.compactMap(\.node))
    let found = Set(plan.steps.filter { $0.rule == nil }.map(\.node))
    #expect(found.isSubset(of: wanted), "\(title): \(found) instead of \(wanted)")
    #expect(found.union(blocked).isSuperset(of: wanted), "\(title): \(found) instead of \(wanted)")
    let result = try store.writer.sweep([.unreachable], at: 1)
    if !result.blocked.isEmpty { return }
    #expect(try unreached(store, graph).isEmpty, "\(title)")
    for node in wanted { #expect(try !store.exists(node), "\(title)") }
  }

  private func unreached(_ store: TestStore, _ graph: PlacedGraph) throws -> Set<Node> {
    let nodes = try PlacedGraph.collections.map { collection in
      Set(try store.reader.nodes(in: collection, after: nil, limit: 100).map(\.node))
    }
    let isMeant =
      !graph.isMapped("b")
      || graph.relations.contains {
        $0.leads(to: "b") || $0.from == "b" && Unreached.leadsBack($0.rules)
      }
    if !isMeant { return [] }
    return Unreached.nodes(nodes[1], from: nodes[0], by: try store.edges())
  }
}
