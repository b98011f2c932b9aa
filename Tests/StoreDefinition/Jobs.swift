import CascadeModel
import CascadeStore
import Testing

/// Deletions that begin here: jobs, on every engine.
package struct Jobs {
  private let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  package enum Claim: String, CaseIterable, CustomTestStringConvertible {
    case whole = "Nodes go with all that follows, in one batch, and an undo brings all back"
    case condition = "Rows go for which a condition holds"
    case steps = "In steps, no row refers to nothing by a foreign key at any commit"
    case stopped = "A job that was stopped goes on from there, in the same batch"
    case beside = "Sweeps beside a job leave it what it has to take"
    case reused = "What gets the key of a node that a job has deleted is another one, and stays"
    case denied = "Where something has to stay, nothing is deleted, and all of it is told"
    case leased = "What is leased has to stay"
    case partial = "The rest goes if that is asked for, but for what the rest is needed by"
    case held = "Over the hold limit it waits, and goes on when it was approved"
    case expected = "It need not wait for as many as were expected, and no more go"
    case rejected = "A rejected plan cancels its job"
    case cancelled = "What a cancelled job has deleted can be undone"
    case missing = "Nodes that are not there are no failure"
    case illegal = "A condition that writes, or is none, is refused"
    case dryRun = "What it would delete is known before"

    package var testDescription: String { rawValue }
  }

  package func expect(_ claim: Claim) throws {
    let store = try TenantStore(engine)
    switch claim {
    case .whole: try whole(store)
    case .condition: try condition(store)
    case .steps: try steps(store)
    case .stopped: try stopped(store)
    case .beside: try beside(TenantStore(engine, isTied: false))
    case .reused: try reused(TenantStore(engine, isTied: false))
    case .denied: try denied(store)
    case .leased: try leased(store)
    case .partial: try partial(store)
    case .held: try held(store)
    case .expected: try expected(store)
    case .rejected: try rejected(store)
    case .cancelled: try cancelled(store)
    case .missing: try missing(store)
    case .illegal: try illegal(store)
    case .dryRun: try dryRun(store)
    }
  }

  private func whole(_ store: TenantStore) throws {
    let before = try store.dump()
    let job = try store.delete(store.tenant(1))
    #expect(job.state == .done && job.deletedCount == 13 && job.total == 13)
    #expect(job.byCollection == ["tenants": 1, "posts": 3, "comments": 9])
    #expect(try store.counts() == [1, 3, 9, 0])
    let why = try store.why("comments", 111)
    #expect(why?.cause == .job && why?.author == "me" && why?.id == "job-1")
    let undone = try store.undo(#require(job.batch))
    #expect(undone.restored == 13 && undone.leftCount == 0)
    #expect(try store.dump() == before)
  }

  private func condition(_ store: TenantStore) throws {
    let job = try store.delete(.rows(collection: "comments", condition: "body LIKE '1-1-%'"))
    #expect(job.state == .done && job.byCollection == ["comments": 3])
    #expect(try store.counts() == [2, 6, 15, 0])
    let none = try store.delete(.rows(collection: "comments", condition: "body = 'none'"))
    #expect(none.state == .done && none.deletedCount == 0 && none.batch == nil)
  }

  private func steps(_ store: TenantStore) throws {
    try store.fill(200)
    var kept: [Int] = []
    let job = try store.delete(store.tenant(1), pause: { kept.append(try store.danglingKeys()) })
    #expect(job.state == .done && kept.count > 3 && kept.allSatisfy { $0 == 0 })
    #expect(try store.counts()[0] == 1)
  }

  private func stopped(_ store: TenantStore) throws {
    try store.fill(200)
    let before = try store.dump()
    let number = try begunAndStopped(store)
    #expect(try store.counts()[0] == 2)
    try store.reopen()
    try expectWhole(store.carryOut(number), store)
    #expect(try store.dump() == before)
  }

  /// A job that was stopped behind some steps.
  private func begunAndStopped(_ store: TenantStore) throws -> Int64 {
    let (all, number) = (try store.counts(), try store.begin(store.tenant(1)))
    var steps = 0
    #expect(throws: Stopped.self) {
      _ = try store.carryOut(number) {
        steps += 1
        if steps == 4 { throw Stopped() }
      }
    }
    #expect(try store.counts() != all)
    return number
  }

  private struct Stopped: Error {}

  private func expectWhole(_ job: DeletionJob, _ store: TenantStore) throws {
    #expect(job.state == .done && job.deletedCount == 13 + 400)
    let undone = try store.undo(#require(job.batch))
    #expect(undone.restored == job.deletedCount && undone.leftCount == 0)
  }

  private func beside(_ store: TenantStore) throws {
    try store.fill(200)
    try store.bySQL("INSERT INTO post VALUES(31, 2); INSERT INTO comment VALUES(310, 31, 'x')")
    let before = try store.dump()
    let number = try begunAndStopped(store)
    try store.bySQL("DELETE FROM post WHERE id = 31")
    let sweep = try store.sweep()
    #expect(sweep.deletedCount == 1 && sweep.byCollection == ["comments": 1])
    let job = try store.carryOut(number)
    #expect(try store.sweep().outcome == .nothing)
    try expectWhole(job, store)
    try store.bySQL("INSERT INTO post VALUES(31, 2); INSERT INTO comment VALUES(310, 31, 'x')")
    #expect(try store.dump() == before)
  }

  private func reused(_ store: TenantStore) throws {
    try store.fill(200)
    let number = try begunAndStopped(store)
    #expect(try store.counts()[0] == 1)
    try store.bySQL("INSERT INTO tenant VALUES(1)")
    #expect(try store.carryOut(number).state == .done)
    #expect(
      try store.counts()[0] == 2 && store.texts("SELECT 'x' FROM tenant WHERE id = 1") == ["x"])
  }

  // MARK: - What has to stay

  private func denied(_ store: TenantStore) throws {
    try store.bySQL("INSERT INTO invoice VALUES(1, 1)")
    let before = try store.dump()
    let job = try store.delete(store.tenant(1))
    #expect(job.state == .blocked && job.deletedCount == 0 && job.batch == nil)
    #expect(job.blocked.first?["node"] == ["tenants", 1])
    #expect(try store.dump() == before)
    try store.bySQL("DELETE FROM invoice")
    #expect(try store.delete(store.tenant(1)).state == .done)
  }

  private func leased(_ store: TenantStore) throws {
    try store.lease("11", in: "posts")
    let before = try store.dump()
    let job = try store.delete(store.tenant(1))
    #expect(job.state == .blocked && job.blocked.contains { $0["node"] == ["posts", 11] })
    #expect(try store.dump() == before)
    #expect(try store.delete(.nodes([Node("posts", .integer(11))])).state == .blocked)
  }

  private func partial(_ store: TenantStore) throws {
    try store.lease("111", in: "comments")
    let job = try store.delete(store.tenant(1), isPartial: true)
    #expect(job.state == .done && !job.blocked.isEmpty && job.deletedCount == 10)
    #expect(try store.texts("SELECT CAST(id AS TEXT) FROM comment WHERE id < 200") == ["111"])
    #expect(try store.texts("SELECT CAST(id AS TEXT) FROM post WHERE id < 20") == ["11"])
    #expect(try store.counts()[0] == 2)
    try store.endLeases()
    _ = try store.sweep()
    #expect(try store.counts()[0] == 2 && store.danglingKeys() == 0)
  }

  // MARK: - The hold

  private func held(_ store: TenantStore) throws {
    try store.open(limit: 5)
    let job = try store.delete(store.tenant(1))
    #expect(job.state == .held && job.deletedCount == 0)
    let plan = try #require(job.plan)
    #expect(try store.carryOut(job.number).state == .held)
    #expect(try store.approve(plan) == .job(job.number))
    let done = try store.carryOut(job.number)
    #expect(done.state == .done && done.deletedCount == 13)
  }

  private func expected(_ store: TenantStore) throws {
    try store.open(limit: 5)
    #expect(try store.delete(store.tenant(1), expecting: 12).state == .held)
    #expect(try store.delete(store.tenant(2), expecting: 13).state == .done)
    try store.bySQL("INSERT INTO tenant VALUES(3)")
    #expect(try store.delete(store.tenant(3), expecting: 0).state == .held)
  }

  private func rejected(_ store: TenantStore) throws {
    try store.open(limit: 5)
    let job = try store.delete(store.tenant(1))
    for _ in 0..<2 { #expect(try store.reject(#require(job.plan))) }
    #expect(try store.job(job.number)?.state == .cancelled && store.counts()[0] == 2)
  }

  private func cancelled(_ store: TenantStore) throws {
    try store.fill(200)
    let before = try store.dump()
    var steps = 0
    let number = try store.begin(store.tenant(1))
    _ = try? store.carryOut(number) {
      steps += 1
      if steps == 4 { throw Stopped() }
    }
    let job = try #require(try store.cancel(number))
    #expect(job.state == .cancelled && job.deletedCount > 0)
    #expect(try store.carryOut(number).state == .cancelled)
    #expect(try store.undo(#require(job.batch)).leftCount == 0)
    #expect(try store.dump() == before)
  }

  // MARK: - What is asked for

  private func missing(_ store: TenantStore) throws {
    let job = try store.delete(store.tenant(9))
    #expect(job.state == .done && job.deletedCount == 0 && job.batch == nil)
  }

  private func illegal(_ store: TenantStore) throws {
    let before = try store.dump()
    for condition in [
      "body = ", "nothing = 1", "1); DELETE FROM post; --", "body = $source.id", "1; SELECT 1",
      "(SELECT 1", "",
    ] {
      #expect(throws: IllegalCondition.self) {
        try store.begin(.rows(collection: "comments", condition: condition))
      }
    }
    #expect(try store.dump() == before && store.jobs().isEmpty)
  }

  private func dryRun(_ store: TenantStore) throws {
    let before = try store.dump()
    let plan = try store.plan(store.tenant(1))
    #expect(plan.deletedCount == 13 && plan.denials.isEmpty)
    try store.bySQL("INSERT INTO invoice VALUES(1, 1)")
    #expect(try !store.plan(store.tenant(1)).denials.isEmpty)
    try store.bySQL("DELETE FROM invoice")
    #expect(try store.dump() == before && store.jobs().isEmpty)
  }
}

/// Tenants with posts and comments, which foreign keys may tie to them, and invoices, which keep them.
private final class TenantStore {
  private var store: any StoreUnderTest

  init(_ engine: any EngineUnderTest, isTied: Bool = true) throws {
    let model = try StoreModel(TenantStore.model(limit: 100_000))
    store = try engine.makeStore(model: model, schema: TenantStore.schema(isTied))
    _ = try store.writer.sweep([.all], at: 1)
  }

  private static func schema(_ isTied: Bool) -> String {
    let (tenant, post) =
      isTied
      ? ("REFERENCES tenant(id) ON DELETE CASCADE", "REFERENCES post(id) ON DELETE CASCADE")
      : ("", "")
    return """
      CREATE TABLE tenant(id INTEGER PRIMARY KEY);
      CREATE TABLE post(id INTEGER PRIMARY KEY, tenant INTEGER \(tenant));
      CREATE TABLE comment(id INTEGER PRIMARY KEY, post INTEGER \(post), body TEXT);
      CREATE TABLE invoice(id INTEGER PRIMARY KEY, tenant INTEGER REFERENCES tenant(id));
      CREATE TABLE note(id INTEGER PRIMARY KEY, comment INTEGER);
      CREATE INDEX post_tenant ON post(tenant); CREATE INDEX comment_post ON comment(post);
      CREATE INDEX invoice_tenant ON invoice(tenant); CREATE INDEX note_comment ON note(comment);
      INSERT INTO tenant VALUES(1), (2);
      INSERT INTO post VALUES(11, 1), (12, 1), (13, 1), (21, 2), (22, 2), (23, 2);
      INSERT INTO comment SELECT 10 * p.id + n.n, p.id, p.tenant || '-' || (p.id % 10) || '-' || n.n
        FROM post AS p CROSS JOIN (SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 3) AS n;
      INSERT INTO note VALUES(1, 111);
      """
  }

  private static func model(limit: Int) -> String {
    """
    { collections: {
        tenants: { table: "tenant", key: "id" }, posts: { table: "post", key: "id" },
        comments: { table: "comment", key: "id" } },
      relationships: [
        { name: "tenant", from: "posts", to: "tenants", column: "tenant",
          rules: ["deleteSourceIfDestinationDeleted"] },
        { name: "post", from: "comments", to: "posts", column: "post",
          rules: ["deleteSourceIfDestinationDeleted"] }],
      limits: { hold: { deletes: \(limit), share: 0.01 } } }
    """
  }

  func open(limit: Int) throws {
    try store.reopen(with: StoreModel(TenantStore.model(limit: limit)))
  }

  func reopen() throws { try store.reopen() }

  func tenant(_ id: Int64) -> DeletionJob.Subject { .nodes([Node("tenants", .integer(id))]) }

  /// So many comments more of each tenant, half of which are of one post.
  func fill(_ count: Int) throws {
    for tenant in [1, 2] {
      let values = (0..<2 * count).map { "(\(tenant)0000 + \($0), \(tenant)\(1 + $0 % 2), 'x')" }
      try store.bySQL("INSERT INTO comment VALUES \(values.joined(separator: ", "))")
    }
    store.sweepsInSteps(of: 20)
  }

  // MARK: - Jobs

  func begin(
    _ subject: DeletionJob.Subject, expecting expected: Int? = nil, isPartial: Bool = false
  ) throws -> Int64 {
    let request = DeletionJob.Request(
      subject, by: "me", expecting: expected, isPartial: isPartial)
    return try store.writer.begin(request, at: 1)
  }

  func carryOut(_ job: Int64, pause: () throws -> Void = {}) throws -> DeletionJob {
    try withoutActuallyEscaping(pause) { pause in
      try store.writer.carryOut(job: job, at: 1, manners: StepPolicy { _ in try pause() })
    }
  }

  func delete(
    _ subject: DeletionJob.Subject, expecting expected: Int? = nil, isPartial: Bool = false,
    pause: () throws -> Void = {}
  ) throws -> DeletionJob {
    try carryOut(begin(subject, expecting: expected, isPartial: isPartial), pause: pause)
  }

  func why(_ collection: String, _ key: Int64) throws -> Why.Deletion? {
    let why = try store.reader.why(.node(Node(collection, .integer(key))), at: nil)
    return if case .deleted(let deletion) = why { deletion } else { nil }
  }
  func cancel(_ job: Int64) throws -> DeletionJob? { try store.writer.cancel(job: job, at: 2) }
  func job(_ number: Int64) throws -> DeletionJob? { try store.reader.job(number) }
  func jobs() throws -> [DeletionJob] { try store.reader.jobs(after: 0, limit: 10) }
  func plan(_ subject: DeletionJob.Subject) throws -> Plan { try store.reader.plan(of: subject) }
  func approve(_ plan: Int64) throws -> ApprovedPlan? { try store.writer.approve(plan: plan) }
  func reject(_ plan: Int64) throws -> Bool { try store.writer.reject(plan: plan, at: 2) != nil }
  func undo(_ batch: Int64) throws -> UndoResult { try store.writer.undo(batch, by: "me", at: 2) }
  func sweep() throws -> SweepResult { try store.writer.sweep([.cascade, .refcount], at: 3) }

  // MARK: - The application

  func bySQL(_ sql: String) throws { try store.bySQL(sql) }
  func texts(_ sql: String) throws -> [String] { try store.texts(sql) }
  func dump() throws -> [String] { try store.dump().sorted() }
  func endLeases() throws { try store.endLeases() }
  func lease(_ key: String, in collection: String) throws {
    try store.lease("'\(key)'", in: collection, until: 90_000_000_000)
  }

  /// Tenants, posts, comments, and notes whose comment is there.
  func counts() throws -> [Int] {
    try [
      "tenant", "post", "comment", "note WHERE comment IN (SELECT id FROM comment)",
    ].map { try Int(texts("SELECT CAST(count(*) AS TEXT) FROM \($0)")[0])! }
  }

  /// References to nothing in columns with a foreign key.
  func danglingKeys() throws -> Int {
    try [
      "comment WHERE post NOT IN (SELECT id FROM post)",
      "post WHERE tenant NOT IN (SELECT id FROM tenant)",
    ].reduce(0) { try $0 + Int(texts("SELECT CAST(count(*) AS TEXT) FROM \($1)")[0])! }
  }
}
