internal import CascadeModel
internal import CascadeSQLite
/// Keeps the model bound to the tables that are there, and our triggers on them.
///
/// `cascade_meta` remembers, beside the counters:
/// - `triggers`: a fingerprint of the triggers that we made;
/// - `half`: that a part of the model had no table then;
/// - `unseen`: a collection was there before anybody watched it;
/// - `gap`: for some time nobody watched. Both are for the next sweep, which takes them back.
extension Writer {
  /// At the beginning of every transaction: whatever happened to the schema before it is seen.
  /// A backup that came over the file may have other tables of ours, or none.
  func bind() throws {
    let isBound = try db.integer("PRAGMA main.schema_version") == binding.schemaVersion
    if isBound && !isSchemaFresh { return }
    try db.forgetStatistics()
    isSchemaFresh = false
    if isBound { return }
    try db.makeTables()
    interned.forget()
    counters.forgetSaved()
    if model.hasTables {
      try bindAnew()
    } else {
      let problems = try judgePlaces()
      binding = try Binding(
        schemaVersion: db.integer("PRAGMA main.schema_version") ?? 0, problems: problems)
      try followPlaces()
    }
  }

  @discardableResult
  func bindAnew() throws -> TriggerChanges {
    let problems = try judgePlaces()
    binding = try Binding(model, db, numbers: self, problems: problems)
    try followPlaces()
    let changes = try installTriggers()
    // Our own triggers changed the schema again.
    if !changes.isEmpty {
      binding = try Binding(model, db, numbers: self, problems: problems)
    }
    watches = try db.watches()
    let meanings = Set(binding.meanings)
    watching = watches.filter { meanings.contains($0.meaning) }
    try db.indexKnown(binding)
    return changes
  }

  /// The application's own foreign keys hold for what we delete, whatever its own connections do.
  func bindAtFirst() throws {
    try db.execute("PRAGMA foreign_keys = ON")
    try group { try stopNoting() }
  }

  /// Those of an older model, where this one has no tables.
  func dropForgottenTriggers() throws {
    if try !db.ourTriggers().isEmpty { try group { _ = try bindAnew() } }
  }

  /// A transaction that was rolled back took its numbers and triggers with it.
  func unbind() {
    binding = Binding()
    (watches, watching) = ([], [])
  }

  /// Nothing may be deleted for good as long as a part of the model has no table, or the edges are not
  /// known that properties say.
  package var isHalfView: Bool { !binding.problems.isEmpty || !areReferencesRead }

  package var bindingProblems: [BindingProblem] { binding.problems }

  private func installTriggers() throws -> TriggerChanges {
    let found = try db.ourTriggers()
    let wanted = try triggers()
    let changes = TriggerChanges(found: found, wanted: wanted, isHalf: !binding.problems.isEmpty)
    try note(found, changes)
    for name in changes.dropped { try db.execute("DROP TRIGGER main.\(quoted(name))") }
    for trigger in changes.made { try db.execute(trigger.creation) }
    return changes
  }

  /// What has to be there, with the numbers of its watches.
  func triggers() throws -> [Trigger] {
    let watches = try number(binding.meanings)
    let refusals = Refusals(binding: binding, model: model, rulesSeen: counters.rulesSeen)
    let watching = WatchTriggers(watches: watches, binding: binding, model: model)
    let lists = try db.isNoting ? watching.ofLists : []
    return watching.all + lists + refusals.triggers
  }

  /// An edge came with a rule that no edge had before: at the end of the transaction the triggers
  /// of a denial are there.
  func denialsMayHaveChanged(_ rules: Rules) {
    if !rules.isDisjoint(with: .denying) && model.hasTables { needsTriggers = true }
  }

  /// What they see from now on had no edges before.
  func addTriggers() throws {
    if !needsTriggers { return }
    let wasUnseen = try db.meta("unseen")
    _ = try bindAnew()
    if wasUnseen == nil { try db.run("DELETE FROM cascade_meta WHERE name = 'unseen'") }
    needsTriggers = false
  }

  /// Somebody else took a trigger away or changed it, or a table came back that was not there:
  /// what happened meanwhile, nobody wrote down.
  private func note(_ found: [Trigger], _ changes: TriggerChanges) throws {
    let made = try db.meta("triggers")
    let wasHalf = try db.meta("half") == 1
    if let made, made != found.fingerprint || (wasHalf && changes.watchesMore) {
      try db.setMeta("gap", 1)
    } else if changes.watchesMore {
      try db.setMeta("unseen", 1)
    }
    try db.setMeta("triggers", changes.left.fingerprint)
    try db.setMeta("half", binding.problems.isEmpty ? 0 : 1)
  }
}

/// How the triggers that are there differ from those that should be.
struct TriggerChanges {
  /// All that are there then.
  let left: [Trigger]
  let dropped: [String]
  let made: [Trigger]
  /// Whether rows get watched that nobody watched.
  let watchesMore: Bool

  /// A table or a column that the model does not find may be there under another name: whatever is
  /// watched goes on being watched, beside what the model wants now, and is read as soon as both fit
  /// again.
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
    left = staying + made
    dropped = found.filter { !staying.contains($0) }.map(\.name)
    watchesMore = new.contains { $0.isWatch && !names.contains($0.name) }
  }

  var isEmpty: Bool { dropped.isEmpty && made.isEmpty }
}

extension Trigger {
  /// Under a name that is free; nil where somebody else wrote it.
  fileprivate func moved(from names: Set<String>) -> Trigger? {
    let head = "CREATE TRIGGER \(quoted(name))"
    guard sql.hasPrefix(head) else { return nil }
    let free = (1...).lazy.map { "\(name)~\($0)" }.first { !names.contains($0) }!
    return Trigger(name: free, sql: "CREATE TRIGGER \(quoted(free))\(sql.dropFirst(head.count))")
  }

  /// Of those that write the journal. What the others do leaves nothing to be read.
  var isWatch: Bool {
    ![Trigger.denial, Trigger.list, Trigger.relist].contains(where: name.hasPrefix)
  }

  static let denial = "cascade_deny_"

  /// In a row of the schema. Other names with the same beginning are the application's.
  static let isOurs =
    (["delete", "update", "replace", "displace", "list", "relist"] + denials.map { "deny_\($0)" })
    .flatMap { ["cascade_\($0)_[0-9]*_*", "cascade_\($0)_join_[0-9]*_*"] }
    .map { "name GLOB '\($0)'" }.joined(separator: " OR ")

  private static let denials = [
    "delete", "rename", "replace", "displace", "replaced", "displaced", "gone", "renamed",
  ]
}

extension [Trigger] {
  fileprivate var fingerprint: Int64 {
    var print = Fingerprint()
    for sql in filter(\.isWatch).map(\.sql).sorted() { print.add((sql + "\n").utf8Span.span) }
    return print.signed
  }
}

extension Connection {
  func ourTriggers() throws(SQLiteError) -> [Trigger] {
    try all(
      generated: """
        SELECT name, sql FROM main.sqlite_schema
        WHERE type = 'trigger' AND (\(Trigger.isOurs)) ORDER BY name
        """
    ) { Trigger(name: $0.text(0), sql: $0.text(1)) }
  }

  func meta(_ name: String) throws(SQLiteError) -> Int64? {
    try integer("SELECT value FROM cascade_meta WHERE name = ?", .text(name))
  }

  func setMeta(_ name: String, _ value: Int64) throws(SQLiteError) {
    try run(
      "INSERT INTO cascade_meta VALUES(?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
      .text(name), .integer(value))
  }
}
