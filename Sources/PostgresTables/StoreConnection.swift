package import CascadeModel
package import CascadePostgres
internal import CascadeEngine
internal import CascadeStore
package import PostgresBinding

/// A connection to a store, and what the model's tables are there.
package final class StoreConnection {
  package private(set) var db: Session
  package let path: String
  package let model: StoreModel
  package private(set) var binding = Binding()
  package let server: Server
  package let dialect: Dialect
  package private(set) var scratch: ScratchTables
  /// Whether the server has constraints that are checked later: one of another make may not know the
  /// statement for it.
  package let canDefer: Bool
  /// Numbers of what is not in the store, if the model is only judged.
  let provisional: ProvisionalNumbers?
  private var boundSchema: String?
  private let lockTimeout: Duration

  /// The connection that writes is the one that chooses the server.
  package init(
    _ path: String, _ model: StoreModel, lockTimeout: Duration, isWriter: Bool = false,
    isJudging: Bool = false
  ) throws {
    provisional = isJudging ? ProvisionalNumbers() : nil
    (self.path, self.model, self.lockTimeout) = (path, model, lockTimeout)
    let location = try StoreConnection.location(path)
    dialect = location.dialect
    scratch = ScratchTables(dialect, owner: .random(in: 1 ... .max))
    server = Server.of(location)
    db = try StoreConnection.open(server, path, searching: isWriter)
    try db.execute(StoreConnection.settings(lockTimeout, scratch))
    // Outside of a transaction it does nothing.
    canDefer = dialect == .fast || (try? db.execute("SET CONSTRAINTS ALL DEFERRED")) != nil
    if isWriter { try db.execute(StoreConnection.durability) }
  }

  /// A server that is not there now, or does not let the role in, is waited for.
  private static func open(_ server: Server, _ path: String, searching: Bool) throws -> Session {
    do throws(PostgresError) {
      return try server.open(Leadership.daemon, searching: searching)
    } catch {
      if !error.isNotAllowed && !error.isConnectionLost { throw error }
      throw StoreAway(
        "\(path) cannot be reached: \(error.message)", lookAgain: Leadership.longestWait)
    }
  }

  private static func location(_ path: String) throws(StoreError) -> Location {
    do throws(InvalidLocation) {
      return try Location(path)
    } catch {
      throw StoreError(error.description)
    }
  }

  /// A statement that would not see all rows is refused (`row_security`), until the binding leaves the table
  /// out.
  ///
  /// A generic plan or a compiled one can make a step of milliseconds one of seconds, and a step
  /// never needs a whole table. Of Cascade's own tables, it is enough to know how long they are.
  private static let fixedSettings = """
    SET jit = off; SET plan_cache_mode = force_custom_plan; SET enable_seqscan = off;
    SET enable_hashjoin = off; SET enable_mergejoin = off;
    SET default_statistics_target = 10; SET DateStyle = 'ISO';
    SET IntervalStyle = 'postgres'; SET extra_float_digits = 1; SET TimeZone = 'UTC';
    SET bytea_output = 'hex'; SET standard_conforming_strings = on; SET row_security = off
    """

  /// The role or the database may have commits that are lost when the server crashes.
  private static let durability = """
    SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') = 'off'
    """

  private static func settings(_ lockTimeout: Duration, _ scratch: ScratchTables) -> String {
    "SET lock_timeout = \(lockTimeout.inMilliseconds); \(fixedSettings); \(scratch.setting)"
  }

  /// What the triggers of other owners' tables may have set, when the transaction has ended in which they ran.
  private var mayBeSetOtherwise = false

  func noteForeignCode() { mayBeSetOtherwise = true }

  private func restoreSettings() throws {
    if !mayBeSetOtherwise || db.isInTransaction { return }
    let settings = StoreConnection.settings(lockTimeout, scratch)
    try db.execute(
      "SET statement_timeout = 0; RESET synchronous_commit; \(settings); \(StoreConnection.durability)"
    )
    mayBeSetOtherwise = false
  }

  /// During `body`, statements may read whole tables.
  package func readingWholeTables<T>(_ body: () throws -> T) throws -> T {
    try db.execute("SET enable_seqscan = on; SET enable_hashjoin = on")
    defer { try? db.execute("SET enable_seqscan = off; SET enable_hashjoin = off") }
    return try body()
  }

  // MARK: - Leadership

  /// The number of its term, if this connection leads in the portable dialect.
  package private(set) var term: Int64?

  /// From now on, a transaction is committed only within this term.
  func lead(in term: Int64?) {
    self.term = term
    db.fence = term.map(LeaderTerm.fence)
  }

  /// The next daemon need not wait.
  deinit { if term != nil { try? LeaderTerm.end(self) } }

  // MARK: - Transactions

  /// Runs `body` in a transaction of its own, which may use scratch tables.
  package func transaction<T>(
    _ isolation: Session.Isolation = .readCommitted, isDurable: Bool = true, _ body: () throws -> T
  ) throws -> T {
    try transaction(isolation, isDurable: isDurable, beginningWith: nil) { _ in try body() }
  }

  /// `body` gets what `first` returns.
  package func transaction<T>(
    _ isolation: Session.Isolation = .readCommitted, isDurable: Bool = true,
    longest: Duration? = nil, lockTimeout: Duration? = nil, keepsPlans: Bool = false,
    beginningWith first: String?,
    _ body: (Rows) throws -> T
  ) throws -> T {
    try restoreSettings()
    return try db.transaction(
      isolation, isDurable: isDurable, longest: longest, lockTimeout: lockTimeout,
      keepsPlans: keepsPlans, beginningWith: first
    ) { rows in
      let result = try body(rows)
      try scratch.end(db)
      return result
    }
  }

  /// Runs `body` within the transaction that is open. A statement of it is cancelled that takes longer
  /// than `longest`, or waits longer than `lockTimeout` for a lock.
  package func bounded(
    longest: Duration?, lockTimeout: Duration? = nil, _ body: () throws -> Void
  ) throws {
    var (bounds, ends): ([String], [String]) = ([], [])
    if let longest {
      bounds.append("SET LOCAL statement_timeout TO \(longest.inMilliseconds)")
      ends.append("SET LOCAL statement_timeout TO 0")
    }
    if let lockTimeout {
      bounds.append("SET LOCAL lock_timeout TO \(lockTimeout.inMilliseconds)")
      ends.append("SET LOCAL lock_timeout TO \(self.lockTimeout.inMilliseconds)")
    }
    if bounds.isEmpty { return try body() }
    try db.execute(bounds.joined(separator: "; "))
    try body()
    try db.execute(ends.joined(separator: "; "))
  }

  package func begin(_ tables: [ScratchTables.Table]) throws { try scratch.begin(tables, db) }

  package var isAttached: Bool {
    get throws { try db.run("SELECT to_regclass('cascade.meta') IS NOT NULL").bool }
  }

  /// Binds for a judgement of the model, and writes nothing.
  package func bindToJudge() throws {
    try bind(numbering: false)
    let readsTexts = try db.run("SELECT to_regproc('cascade.json') IS NOT NULL").bool
    binding.leaveOutUnmade(texts: !readsTexts)
  }

  package func bind(numbering: Bool) throws {
    var binder = Binder(self, numbers: numbering)
    var bound = try binder.bind()
    bound.access = try OwnerFunctions(self).access(of: bound)
    let isAnyText =
      bound.relations.contains { $0.list?.isText == true }
      || bound.files.contains { $0.list?.isText == true }
    if numbering && isAnyText { try db.execute(OwnSchema.json) }
    binding = bound
  }

  /// Makes a collection of objects that the model does not list.
  package func makeObjects(_ collection: String) throws {
    let number = try number("collection", ["name"], [collection], makes: true)!
    try db.execute(OwnSchema.objects(MappedTable(objectsOf: collection, number)))
    try bind(numbering: true)
  }

  /// Follows only the rules of these kinds of sweeps during `body`.
  package func following<T>(_ kinds: [SweepKind], _ body: () throws -> T) rethrows -> T {
    let left = Rules.all.subtracting(kinds.followedRules)
    if left.isEmpty { return try body() }
    binding = binding.leaving(left)
    defer { binding = binding.leaving([]) }
    return try body()
  }

  /// Binds again if the schema has changed.
  package func bindIfChanged() throws {
    let schema = try SchemaState.read(self)
    if schema != nil && schema == boundSchema { return }
    try bind(numbering: false)
    boundSchema = try SchemaState.read(self)
  }

  /// A table of the application, quoted, with its schema; nil if there is none. A name with a dot
  /// may name the schema.
  func qualifiedName(_ table: String) throws -> String? {
    if let name = try name(quoted(table)) { return name }
    let parts = table.split(separator: ".", maxSplits: 1).map(String.init)
    return parts.count == 2 ? try name("\(quoted(parts[0])).\(quoted(parts[1]))") : nil
  }

  private func name(_ text: String) throws -> String? {
    try db.run(
      """
      SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c
      JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = to_regclass($1)
      """, [text]
    ).text
  }

  /// A table of the model; throws if it has none of that name.
  package func table(_ collection: String) throws -> MappedTable {
    if let table = binding.tables[collection] { return table }
    try refuseStopped(collection)
    throw StoreError("the model has no table for the collection \"\(collection)\"")
  }

  // MARK: - Named integers

  package subscript(meta key: String) -> Int64? {
    get throws {
      try db.runAgain("SELECT value FROM cascade.meta WHERE key = $1", [key]).integer
    }
  }

  package func set(_ key: String, _ value: Int64?) throws {
    guard let value else {
      try db.run("DELETE FROM cascade.meta WHERE key = $1", [key])
      return
    }
    try db.run(
      """
      INSERT INTO cascade.meta(key, value) VALUES($1, $2)
      ON CONFLICT(key) DO UPDATE SET value = excluded.value
      """, [key, "\(value)"])
  }
}
