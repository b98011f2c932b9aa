import CascadeModel
import CascadePostgres
import CascadeStore
import CascadeSystem
import PostgresStore
import PostgresSupport
import StoreDefinition
import Testing

/// Three sessions that write at random while the daemon sweeps and applies change files. Whatever it
/// deletes has the reason that it tells, in the state that the statement saw; nothing goes that a
/// session has just begun to hold; what a session deletes was not denied; and in the end nothing is
/// left to do.
///
/// A seed gives the same model and the same statements again, and not the same order between sessions.
@Suite(
  "Sessions that write during sweeps on PostgreSQL",
  .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct Interference {
  private static let seeds: UInt64 = Histories.isLong ? 200 : 4

  @Test("Nothing goes without a reason, and nothing is left to do", arguments: 0..<2)
  func sessions(part: UInt64) throws {
    for seed in stride(from: part, to: Interference.seeds, by: 2) {
      let world = try InterferedStore(seed)
      try world.run()
      let problems = try world.problems()
      if problems.isEmpty { continue }
      Issue.record("seed \(seed): \(problems.joined(separator: "\n"))\n\(world.graph.model)")
      return
    }
  }
}

/// A store, the sessions that write there, and the log of what they and the daemon did.
final class InterferedStore {
  let graph: WrittenGraph
  private let store: PostgresFixture
  private var random: Seeded
  private static let sessions = 3
  private static let transactions = 25

  init(_ seed: UInt64) throws {
    random = Seeded(seed)
    graph = WrittenGraph(&random)
    store = try PostgresFixture(graph.model, schema: graph.schema)
    try store.sweep([.all])
    store.writer.rowsToAStep = Int.random(in: 0...3, using: &random)
    if store.writer.rowsToAStep == 0 { store.writer.rowsToAStep = nil }
    let administrator = try store.database.session(as: "postgres")
    try administrator.execute(WrittenHistory.schema)
    let tables = try administrator.run(
      """
      SELECT c.oid::regclass FROM pg_class c WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
      AND (c.relnamespace = 'public'::regnamespace AND c.relname NOT IN ('log', 'ending')
        OR c.relnamespace = 'cascade'::regnamespace AND c.relname ~ '^(objects|edges)_')
      """
    ).texts
    for table in tables { try administrator.execute(WrittenHistory.triggers(on: table)) }
    for node in graph.columns.allCollections.flatMap(graph.columns.nodes) {
      try graph.columns.sql(.put(node, [:])).forEach(store.bySQL)
    }
    try store.apply(
      graph.columns.nodes(of: "o").map { .put($0, type: nil, value: nil, edges: nil) })
    try administrator.execute(
      "ALTER DATABASE \(store.database.name) SET deadlock_timeout = '10ms'")
  }

  // MARK: - Writing

  func run() throws {
    let (database, ended) = (store.database, (0..<InterferedStore.sessions).map { _ in Flag() })
    let scripts = ended.map { _ in
      (0..<InterferedStore.transactions).map { _ in graph.statements(&random) }
    }
    func work(_ index: Int) -> BackgroundWork {
      let (script, flag) = (scripts[index], ended[index])
      return BackgroundWork {
        defer { flag.set() }
        do { try InterferedStore.write(script, database) } catch { Issue.record(error) }
      }!
    }
    let first = work(0)
    let second = work(1)
    let third = work(2)
    while !ended.allSatisfy(\.isSet) { try tend() }
    _ = consume first
    _ = consume second
    _ = consume third
    try settle()
  }

  /// What meets another transaction, or is denied, is given up.
  private static func write(_ script: [[String]], _ database: Database) throws {
    let session = try database.session()
    for statements in script {
      do {
        try session.execute("BEGIN")
        for statement in statements { try session.execute(statement) }
        try session.execute("\(WrittenHistory.endOfTransaction); COMMIT")
      } catch {
        if !error.isConflict && error.sqlState != "23503" { throw error }
        try session.execute("ROLLBACK")
      }
    }
  }

  private func tend() throws {
    do {
      if Bool.random(using: &random) { try store.apply(graph.changes(&random)) }
    } catch is Rejection {
    } catch let error as PostgresError where error.isConflict || error.isLocked {
    }
    try sweep()
  }

  private func sweep() throws {
    do {
      try store.sweep()
    } catch let error as PostgresError where error.isConflict || error.isLocked {
    }
  }

  private func settle() throws {
    for _ in 0..<100 where try store.writer.hasJournal { try sweep() }
    try store.settle()
    for _ in 0..<100 where try store.writer.hasJournal { try sweep() }
  }

  // MARK: - Judging

  func problems() throws -> [String] {
    let judge = try HistoryJudge(graph, store)
    var problems = judge.problems
    if graph.denies { return problems }
    let last = try store.sweep([.all])
    if last.outcome != .nothing { problems.append("one more sweep: \(last)") }
    let findings = try store.reader.checkReferences(limit: 10)
    problems += findings.list.filter { $0.kind != "dangling" }.map { "\($0)" }
    return problems
  }
}
