package import CascadeModel
package import CascadeSQLite
internal import CascadeStore
package import SQLiteBinding
package import SQLiteTables

/// Keeps the model bound to the existing tables, and Cascade's triggers on them up to date.
///
/// `cascade_meta` stores `MetaKey.triggers`, `partlyBound`, `firstWatch` and `watchGap`. The next
/// sweep handles the last two, and clears them.
extension Writer {
  /// Runs at the beginning of every transaction, so that any change of the schema before it is
  /// noticed. A backup that replaced the file may have other tables of Cascade's, or none.
  func bind() throws {
    let isBound = try db.integer("PRAGMA main.schema_version") == binding.schemaVersion
    if isBound && !attachment.isSchemaFresh { return }
    try db.forgetStatistics()
    attachment.isSchemaFresh = false
    if isBound { return }
    try db.makeTables()
    identities.clearCaches()
    identities.counters.forgetSaved()
    if model.hasTables {
      try rebind()
    } else {
      let problems = try checkCollectionMeanings()
      binding = try Binding(
        schemaVersion: db.integer("PRAGMA main.schema_version") ?? 0, problems: problems)
      try recordCollectionMeanings()
    }
  }

  @discardableResult
  package func rebind() throws -> TriggerChanges {
    let isMigrating = try db.isMigrating
    if !isMigrating { try followTables() }
    let problems = try isMigrating ? db.problems(ofPlacesIn: model) : checkCollectionMeanings()
    binding = try Binding(model, db, numbers: self, problems: problems)
    // A table that is missing now may be back at the end.
    if !isMigrating { try recordCollectionMeanings() }
    let changes = try installTriggers()
    // Installing the triggers changed the schema version again.
    if !changes.isEmpty {
      binding = try Binding(model, db, numbers: self, problems: problems)
    }
    if !isMigrating {
      try followKeyTypes()
      try recordShapes()
    }
    attachment.watches = try db.watches()
    let meanings = Set(binding.meanings)
    attachment.activeWatches = attachment.watches.filter { meanings.contains($0.meaning) }
    try db.indexKnown(binding)
    return changes
  }

  /// Enforces the application's foreign keys for Cascade's deletions, whether or not the
  /// application's own connections enforce them.
  package func bindOnOpen() throws {
    try db.execute("PRAGMA foreign_keys = ON")
    try group { try stopListTracking() }
  }

  /// Drops the triggers of an older model if the current one has no tables.
  package func dropObsoleteTriggers() throws {
    if try !db.ourTriggers().isEmpty { try group { _ = try rebind() } }
  }

  /// Clears the binding, for example after a rollback, which also undid new numbers and triggers.
  package func unbind() {
    binding = Binding()
    (attachment.watches, attachment.activeWatches) = ([], [])
  }

  /// Whether the model is known only in part: a part of it has no table, or the edges in properties
  /// are not read yet. Nothing may be deleted for good then.
  package var isPartlyBound: Bool {
    !binding.stoppingProblems.isEmpty || !attachment.areReferencesRead
  }

  package var bindingProblems: [ModelProblem] { binding.problems }

  private func installTriggers() throws -> TriggerChanges {
    let found = try db.ourTriggers()
    if try db.isMigrating { return TriggerChanges(found: found, wanted: found, isHalf: false) }
    let wanted = try triggers()
    let changes = TriggerChanges(found: found, wanted: wanted, isHalf: !binding.problems.isEmpty)
    try recordTriggerState(found, changes)
    for name in changes.dropped { try db.execute("DROP TRIGGER main.\(quoted(name))") }
    for trigger in changes.made { try db.execute(trigger.creation) }
    return changes
  }

  func triggers() throws -> [Trigger] {
    let watches = try numberWatches(binding.meanings)
    let refusals = RequiredDenials(
      binding: binding, rulesSeen: identities.counters.rulesSeen,
      protected: try db.protectedCollections)
    let watching = WatchTriggers(watches: watches, binding: binding)
    for layout in watching.keptLayouts { try db.recordKept(layout) }
    let lists = try db.isTrackingLists ? watching.listTriggers : []
    return watching.all + binding.markTriggers + lists + refusals.triggers
  }

  /// Called when an edge has rules that no edge had before. If they deny deletions, the triggers of
  /// the denial are installed at the end of the transaction.
  package func requestDenialTriggers(_ rules: Rules) {
    if !rules.isDisjoint(with: .denying) && model.hasTables { attachment.needsTriggers = true }
  }

  /// Installs the requested triggers. What they watch had no edges before, so they do not set
  /// `firstWatch`.
  func installRequestedTriggers() throws {
    if !attachment.needsTriggers { return }
    let firstWatch = try db.meta(.firstWatch)
    _ = try rebind()
    if firstWatch == nil { try db.deleteMeta(.firstWatch) }
    attachment.needsTriggers = false
  }

  /// Sets `watchGap` if the triggers were removed or changed from outside, or if a missing table
  /// came back: changes in the meantime were not journaled. Otherwise sets `firstWatch` if more
  /// rows become watched.
  private func recordTriggerState(_ found: [Trigger], _ changes: TriggerChanges) throws {
    let made = try db.meta(.triggers)
    let wasPartlyBound = try db.meta(.partlyBound) == 1
    if let made, made != found.fingerprint || (wasPartlyBound && changes.watchesMore) {
      try db.setMeta(.watchGap, 1)
    } else if changes.watchesMore {
      try db.setMeta(.firstWatch, 1)
    }
    try db.setMeta(.triggers, changes.existingAfterChanges.fingerprint)
    try db.setMeta(.partlyBound, binding.problems.isEmpty ? 0 : 1)
  }

  /// In a migration, the application may rebuild any of its tables. SQLite refuses to drop a table
  /// that a trigger on another table names, and only triggers that deny do that. So these are
  /// dropped, and no trigger is created before the end. A table that lost its other triggers
  /// meanwhile is then scanned as a whole (`MetaKey.watchGap`). Runs within a transaction.
  package func beginMigration() throws {
    try db.setMeta(.migrating, 1)
    try db.run("UPDATE cascade_shape SET is_migrating = 1")
    for trigger in try db.ourTriggers() where trigger.name.hasPrefix(Trigger.denial) {
      try db.execute("DROP TRIGGER main.\(quoted(trigger.name))")
    }
  }
}

/// How the triggers that are there differ from those that should be.
package struct TriggerChanges {
  let existingAfterChanges: [Trigger]
  let dropped: [String]
  package let made: [Trigger]
  /// Whether rows become watched that were not watched before.
  let watchesMore: Bool

  /// A table or a column that the model does not find may exist under another name. So while a part
  /// of the model has no table (`isHalf`), existing watches stay beside those that the model needs
  /// now. Their journal rows are read as soon as both fit again.
  init(found: [Trigger], wanted: [Trigger], isHalf: Bool) {
    let there = Set(found)
    let needed = Set(wanted)
    let names = Set(found.map(\.name))
    let taken = Set(wanted.map(\.name))
    let kept = found.filter { isHalf && $0.isWatch && !needed.contains($0) }
    let staying = found.filter(needed.contains) + kept.filter { !taken.contains($0.name) }
    let new = wanted.filter { !there.contains($0) }
    let moved = kept.filter { taken.contains($0.name) }.compactMap { $0.moved(from: names) }
    made = new + moved
    existingAfterChanges = staying + made
    dropped = found.filter { !staying.contains($0) }.map(\.name)
    watchesMore = new.contains { $0.isWatch && !names.contains($0.name) }
  }

  var isEmpty: Bool { dropped.isEmpty && made.isEmpty }
}

extension Trigger {
  /// The trigger under a free name; nil if its text is not in the form that Cascade writes.
  fileprivate func moved(from names: Set<String>) -> Trigger? {
    let head = "CREATE TRIGGER \(quoted(name))"
    guard sql.hasPrefix(head) else { return nil }
    let free = (1...).lazy.map { "\(name)~\($0)" }.first { !names.contains($0) }!
    return Trigger(name: free, sql: "CREATE TRIGGER \(quoted(free))\(sql.dropFirst(head.count))")
  }
}

extension [Trigger] {
  fileprivate var fingerprint: Int64 {
    var print = Fingerprint()
    for sql in filter(\.isWatch).map(\.sql).sorted() { print.add((sql + "\n").utf8Span.span) }
    return print.signed
  }
}

extension Connection {
  package func ourTriggers() throws(SQLiteError) -> [Trigger] {
    try all(
      generated: """
        SELECT name, sql FROM main.sqlite_schema
        WHERE type = 'trigger' AND (\(Trigger.isOurs)) ORDER BY name
        """
    ) { Trigger(name: $0.text(0), sql: $0.text(1)) }
  }

  package var isMigrating: Bool {
    get throws(SQLiteError) { try meta(.migrating) != nil }
  }
}
