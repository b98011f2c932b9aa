internal import CascadeModel
internal import CascadePostgres
package import CascadeStore
internal import PostgresBinding

/// Installs Cascade's tables and triggers, and removes them.
package struct Attachment {
  private let store: StoreConnection
  private let role: String

  package init(_ store: StoreConnection, role: String) { (self.store, self.role) = (store, role) }

  private var db: Session { _read { yield store.db } }

  package func attach() throws -> AttachReport {
    var report = AttachReport()
    if try !store.isAttached {
      try store.refuseForeignSchema()
      try db.execute(OwnSchema.tables)
      try store.set("version", OwnSchema.history.current)
    } else {
      try store.takeOver()
    }
    try store.scratch.attach(db)
    if store.dialect == .fast { try LeaderTerm.removeTables(store) }
    try Timeline(store).follow()
    try follow(&report)
    report.collections = store.binding.tables.keys.sorted()
    report.problems = store.binding.problems
    report.missingIndexes = try IndexSearch(store).missing()
    report.hasFirstWatch = try store[meta: "first_watch"] != nil
    report.hasWatchGap = try store[meta: "watch_gap"] != nil
    return report
  }

  /// Binds the model to the tables as they are now, and creates the triggers that are missing.
  package func follow() throws -> AttachReport {
    var report = AttachReport()
    try follow(&report)
    return report
  }

  private func follow(_ report: inout AttachReport) throws {
    try followNames()
    let known = Set(try db.run("SELECT name FROM cascade.collection").texts)
    try store.bind(numbering: true)
    let wereAltered = try areTriggersAltered()
    if try !isMigrating { try RetypedKeys(store).followLeases() }
    report.triggersMade += try makeTriggers()
    let isNew = Set(store.binding.tables.keys).subtracting(known)
    if !isNew.isEmpty { try store.set("first_watch", 1) }
    let hasGap = try noteStopped() || wereAltered || !report.triggersMade.isEmpty
    if hasGap && isNew.isEmpty { try store.set("watch_gap", 1) }
    try store.rememberColumns()
    try KeptShapes(store).remember()
    if try !isMigrating { try recordPlaces() }
  }

  private func followNames() throws {
    try FollowedCollections(store).follow()
    try FollowedRoots(store).follow()
    try FollowedRelations(store).follow()
    if try !isMigrating { try RetypedKeys(store).followEdges() }
  }

  private func recordPlaces() throws {
    try FollowedCollections(store).record()
    try FollowedRelations(store).record()
  }

  // MARK: - Gaps

  /// What the catalog has of Cascade's triggers: each change of one, also that it was disabled for a while,
  /// writes its row anew.
  private var triggerState: Int64 {
    get throws {
      let text = try db.run(
        """
        SELECT string_agg(concat_ws(' ', t.oid, t.xmin, t.tgenabled), ', ' ORDER BY t.oid)
        FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
        WHERE p.pronamespace = 'cascade'::regnamespace
        """
      ).text
      return Fingerprint(text ?? "").signed
    }
  }

  /// Whether others have changed triggers since they were made: what happened meanwhile was not seen.
  private func areTriggersAltered() throws -> Bool {
    if try isMigrating { return false }
    guard let known = try store[meta: "triggers"] else { return false }
    return try known != triggerState
  }

  /// Notes which relations and collections are stopped. Returns whether one is not stopped any more: then
  /// whole tables are looked through for what happened meanwhile.
  private func noteStopped() throws -> Bool {
    let stopped = store.binding.stopped
    let keys =
      stopped.relations.map { "stopped.relation.\($0)" }
      + stopped.collections.map { "stopped.collection.\($0)" }
    let ended = try db.run(
      "DELETE FROM cascade.meta WHERE key LIKE 'stopped.%' AND NOT key = ANY($1::text[])",
      [arrayText(keys)])
    for key in keys { try store.set(key, 1) }
    try store.set("problems", store.binding.problems.isEmpty ? nil : 1)
    return ended.changed > 0
  }

  /// Makes the table of stored edges for which there was none, so that the triggers could miss none of
  /// them.
  package static func makeTable(ofEdges relation: [String], _ store: StoreConnection) throws {
    _ = try store.number(relation: relation, makes: true)
    let role = try store.db.run("SELECT session_user").text!
    try store.bind(numbering: true)
    _ = try Attachment(store, role: role).makeTriggers()
  }

  /// Returns which were missing, or had another text. During a migration there are none.
  private func makeTriggers() throws -> [String] {
    if try isMigrating { return [] }
    var made: [String] = []
    let wanted = try Triggers(store, role: role).all
    let there = try installed()
    for function in there.keys where !wanted.contains(where: { $0.function == function }) {
      try db.execute("DROP FUNCTION \(function)() CASCADE")
    }
    let stopped = Set(store.binding.stopped.tables.values.map(\.name))
    let changed = wanted.filter { there[$0.function] != $0.fingerprint }
    // Tables may have changed places: each would have the trigger of the other.
    for trigger in changed where there[trigger.function] != nil && !stopped.contains(trigger.table)
    {
      try db.execute("DROP FUNCTION IF EXISTS \(trigger.function)() CASCADE")
    }
    for trigger in changed {
      // On a table that does not fit, it may be impossible.
      let isMade = try make(trigger, mayFail: stopped.contains(trigger.table))
      if isMade { made.append("\(trigger.name) on \(trigger.table)") }
    }
    if !made.isEmpty { try LeaseTable.grant(store) }
    try store.set("triggers", triggerState)
    return made
  }

  private func make(_ trigger: Triggers.Trigger, mayFail: Bool) throws -> Bool {
    do {
      try db.savepoint { try db.execute(trigger.sql) }
      return true
    } catch let error as PostgresError where mayFail && !error.isConnectionLost {
      return false
    }
  }

  /// The functions of the triggers that are there and enabled, with their fingerprints.
  private func installed() throws -> [String: String] {
    let rows = try db.run(
      """
      SELECT 'cascade.' || p.proname, coalesce(obj_description(p.oid, 'pg_proc'), '')
      FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
      WHERE p.pronamespace = 'cascade'::regnamespace AND t.tgenabled <> 'D'
      """
    ).rows
    return Dictionary(rows.map { ($0[0]!, $0[1]!) }, uniquingKeysWith: { one, _ in one })
  }

  // MARK: - Migrations

  private var isMigrating: Bool { get throws { try store[meta: "migrating"] != nil } }

  /// The application may change any of its tables. A trigger would keep it from dropping a column or
  /// changing the type of one, or would fail where it reads a table that is not there. So all of them
  /// go, and what happens without them is looked for in whole tables when they are there again.
  package func beginMigration() throws {
    try store.set("migrating", 1)
    try KeptShapes(store).followColumns()
    let functions = try db.run(
      """
      SELECT DISTINCT 'cascade.' || p.proname FROM pg_trigger t
      JOIN pg_proc p ON p.oid = t.tgfoid JOIN pg_class c ON c.oid = t.tgrelid
      WHERE p.pronamespace = 'cascade'::regnamespace AND c.relnamespace <> p.pronamespace
      """
    ).texts
    for function in functions { try db.execute("DROP FUNCTION \(function)() CASCADE") }
    try db.execute(
      "UPDATE cascade.collection SET place = NULL; UPDATE cascade.relation SET place = NULL")
    try store.set("watch_gap", 1)
  }

  package func endMigration() throws { try store.set("migrating", nil) }

  // MARK: - Detachment

  package func detach() throws -> DetachReport {
    if try !store.isAttached {
      return DetachReport(triggers: [], tables: [], indexes: [], files: 0)
    }
    let triggers = try db.run(
      """
      SELECT t.tgname || ' on ' || c.relname FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
      JOIN pg_class c ON c.oid = t.tgrelid
      WHERE p.pronamespace = 'cascade'::regnamespace ORDER BY 1
      """
    ).texts
    let tables = try db.run(
      "SELECT 'cascade.' || tablename FROM pg_tables WHERE schemaname = 'cascade' ORDER BY 1"
    ).texts
    // A newer version may keep them elsewhere.
    let files = try? db.savepoint { try FileRows(store: store).pending }
    try DenialConstraints(store).drop()
    try OwnerFunctions(store).drop()
    try db.execute("DROP SCHEMA cascade CASCADE")
    return DetachReport(triggers: triggers, tables: tables, indexes: [], files: files ?? 0)
  }
}

extension StoreConnection {
  /// An empty one may have been made for us.
  func refuseForeignSchema() throws {
    let isUsed = try db.run(
      """
      SELECT EXISTS (SELECT FROM pg_depend d WHERE d.refclassid = 'pg_namespace'::regclass
        AND d.refobjid = (SELECT oid FROM pg_namespace WHERE nspname = 'cascade'))
      """
    ).bool
    if try isUsed && !LeaderTerm.areTablesThere(db) {
      throw StoreError("there is a schema \"cascade\" that Cascade has not made")
    }
  }
}
