internal import CascadeStore
package import CascadeModel
package import CascadeSQLite
internal import CascadeEngine
internal import SQLiteBinding
internal import SQLiteTables

/// What the collections of a store stand for: objects, or the rows of a table by a key.
/// `cascade_collection` records it. Otherwise, a model that says something else would take the
/// numbers of rows for objects, or objects for unused numbers. `place` is null for objects, and a
/// list of names for rows.
///
/// A collection that was only renamed keeps its number, and with it all that is known of it. Rows
/// of another table, by another key or with other references, were not watched.
extension Writer {
  /// Runs before the model is bound: applies renames, and finds what the store does not allow.
  func checkCollectionMeanings() throws -> [ModelProblem] {
    try followRoots()
    try applyRenames()
    return try db.problems(ofPlacesIn: model)
  }

  /// Runs after the model is bound: records what the collections stand for now. A missing table or
  /// key may be a mistake, so nothing follows from it.
  func recordCollectionMeanings() throws {
    let refused = binding.problems.map(\.path)
    for kept in try db.recordedCollections() where !refused.contains(kept.path) {
      let place = model.collections[kept.name]?.recordedMeaning
      if kept.recordedMeaning == place { continue }
      if try !db.isRenamed(kept, in: model) {
        try clearMeaning(of: kept)
        if kept.isOfRows {
          try place == nil ? deleteRowNumbers(of: kept) : db.setMeta(.firstWatch, 1)
        }
      }
      if place == nil {
        try db.run("UPDATE cascade_collection SET place = NULL WHERE id = ?", .integer(kept.id))
      }
    }
    for table in binding.collections.values.sorted(by: { $0.id < $1.id }) {
      try db.run(
        "UPDATE cascade_collection SET place = ?1 WHERE id = ?2 AND place IS NOT ?1",
        .text(model.collections[table.collection]?.recordedMeaning), .integer(table.id))
    }
    try followRelationshipNames()
    // If the model describes other references in tables than before, and these dangle, the rows may
    // be right and the model wrong.
    let print = Fingerprint(JSON.array(model.referencesInTables).text).signed
    let known = try db.meta(.tableReferences)
    if known == print { return }
    if known != nil { try db.setMeta(.firstWatch, 1) }
    try db.setMeta(.tableReferences, print)
  }

  /// Clears what the journal and the properties of objects say about the collection, because they
  /// meant something else. The properties are read again from the values (`Rebuild.swift`).
  private func clearMeaning(of kept: RecordedCollection) throws {
    for watch in try db.watches() {
      let meaning = watch.meaning.without(kept.id)
      if meaning == watch.meaning { continue }
      try db.run(
        "UPDATE cascade_watch SET meaning = json_set(?, '$.was', what) WHERE what = ?",
        .text(meaning?.text ?? "{}"), .integer(watch.number))
    }
    try db.run(
      """
      DELETE FROM cascade_edge WHERE origin >= ?2 AND destination IN (
        SELECT id FROM cascade_node WHERE collection = ?1)
      """, .integer(kept.id), .integer(Origin.firstOfValues.rawValue))
    if db.changes > 0 { try markReferencesUnread() }
  }

  /// Deletes numbers of rows that no edge names. Only now can they be told from objects.
  private func deleteRowNumbers(of kept: RecordedCollection) throws {
    try db.run(
      """
      DELETE FROM cascade_node WHERE collection = ?1 AND id NOT IN (
        SELECT a FROM cascade_journal WHERE what < ?2 AND a IS NOT NULL
        UNION SELECT c FROM cascade_journal WHERE what < ?2 AND c IS NOT NULL)
      """, .integer(kept.id), .integer(JournalSubject.firstWatch))
  }

  // MARK: - Another name

  /// Names may be swapped, so every old name is given up before a new one is assigned.
  private func applyRenames() throws {
    let renamed = try db.renamedCollections(in: model)
    for (old, _) in renamed {
      try rename(old.id, from: old.name, to: RecordedCollection.temporaryName(old.id))
    }
    for (old, name) in renamed {
      for kept in try db.recordedCollections() where kept.name == name { try giveUpName(kept) }
      try rename(old.id, from: RecordedCollection.temporaryName(old.id), to: name)
    }
    try renameStoredEdges()
  }

  /// Takes the name from a collection that is no longer in use, except for what the trash says of
  /// it.
  private func giveUpName(_ kept: RecordedCollection) throws {
    try clearMeaning(of: kept)
    try deleteRowNumbers(of: kept)
    try db.run(
      "UPDATE cascade_collection SET name = 'cascade_was/' || id || '/' || name WHERE id = ?",
      .integer(kept.id))
  }

  private func rename(_ id: Int64, from old: String, to name: String) throws {
    try db.run(
      "UPDATE cascade_collection SET name = ? WHERE id = ?", .text(name), .integer(id))
    try db.run(
      "UPDATE cascade_lease SET collection = ? WHERE collection = ?", .text(name), .text(old))
  }
}

/// A row of `cascade_collection`.
package struct RecordedCollection {
  let id: Int64
  let name: String
  let recordedMeaning: String?

  var isOfRows: Bool { recordedMeaning != nil }
  /// The names of the table and of the columns of its key.
  var names: [String]? {
    recordedMeaning.flatMap { try? JSON.parse($0).array?.compactMap(\.string) }
  }
  var path: String { ModelProblem.path(of: name) }

  /// The name of a collection while it is renamed.
  static func temporaryName(_ id: Int64) -> String { "cascade_renamed/\(id)" }

  fileprivate var objects: String {
    "the store has objects of \"\(name)\": delete them with the old model before it becomes a "
      + "table; or map the table under another name"
  }

  fileprivate var rows: String { MissingCollection.message(name) }

  package static func looksLike(_ other: String) -> String {
    "the store has a collection \"\(other)\" whose name differs in Unicode composition: spell this "
      + "one like that one, byte for byte"
  }

  fileprivate func nameIsTaken(by other: RecordedCollection) -> String {
    "\"\(name)\" was another table, to whose rows edges refer, and now is that of \"\(other.name)\""
      + ": use another name, or unlink these edges with the old model"
  }
}

extension StoreModel {
  /// The references that the journal and a scan of whole tables depend on, in a fixed order.
  fileprivate var referencesInTables: [JSON] {
    relationships.filter { collections[$0.from]?.recordedMeaning != nil }
      .map { relationship in
        // A value that no longer means "none" dangles.
        let none = relationship.none.isEmpty ? [] : ["none"] + relationship.none.map { "\($0)" }
        return [relationship.name, relationship.from] + relationship.edgeStorage.words
          + relationship.to.words + none
      }
      .map { JSON.array($0.map { .string($0) }).text }.sorted().map { .string($0) }
  }
}

extension Relationship.EdgeStorage {
  fileprivate var words: [String] {
    switch self {
    case .stored: ["stored"]
    case .column(let columns): ["column", columns.words]
    case .join(let table, let source, let destination):
      ["join", table.folded, source.words, destination.words]
    case .property(let path): ["property", path]
    case .polymorphic(let columns, let typeColumn):
      ["polymorphic", columns.words, typeColumn.folded]
    }
  }
}

extension [String] {
  fileprivate var words: String { map(\.folded).joined(separator: ", ") }
}

extension Relationship.Target {
  fileprivate var words: [String] {
    guard case .types(let map) = self else { return collections }
    return map.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
  }
}

extension Connection {
  fileprivate func recordedCollections() throws(SQLiteError) -> [RecordedCollection] {
    try all(
      "SELECT id, name, place FROM cascade_collection WHERE name NOT GLOB 'cascade_*' ORDER BY id"
    ) {
      RecordedCollection(id: $0.integer(0), name: $0.text(1), recordedMeaning: $0.optionalText(2))
    }
  }

  func recordedCollection(_ id: Int64) throws -> RecordedCollection? {
    try recordedCollections().first { $0.id == id }
  }

  package func problems(ofPlacesIn model: StoreModel) throws -> [ModelProblem] {
    let kept = try recordedCollections()
    let problems = try kept.compactMap { one in
      try objection(to: one, in: model, kept).map { ModelProblem(path: one.path, message: $0) }
    }
    return try problems
      + model.collections.keys.sorted().compactMap { name in
        try collection(lookingLike: name).map {
          ModelProblem(
            path: ModelProblem.path(of: name), message: RecordedCollection.looksLike($0))
        }
      }
  }

  /// An existing collection whose name looks the same. The two names differ for SQLite, but are
  /// equal for Swift and for a reader.
  package func collection(lookingLike name: String) throws(SQLiteError) -> String? {
    if name.utf8.allSatisfy({ $0 < 128 }) { return nil }
    let names = try all("SELECT name FROM cascade_collection") { $0.text(0) }
    if names.contains(where: { $0.hasBytes(of: name) }) { return nil }
    return names.first { $0 == name }
  }

  private func objection(
    to kept: RecordedCollection, in model: StoreModel, _ all: [RecordedCollection]
  ) throws -> String? {
    guard let place = model.collections[kept.name]?.recordedMeaning else {
      return try kept.isOfRows && hasEdges(kept) ? kept.rows : nil
    }
    if !kept.isOfRows { return try hasStoredNodes(of: kept.id) ? kept.objects : nil }
    let other = all.first { $0.id != kept.id && $0.recordedMeaning == place }
    if try kept.recordedMeaning == place || isRenamed(kept, in: model) { return nil }
    guard let other, try hasEdges(kept) else { return nil }
    return kept.nameIsTaken(by: other)
  }

  /// Collections of rows that the model has under another name. A collection that has that name by
  /// now must be empty, or be renamed too.
  fileprivate func renamedCollections(
    in model: StoreModel
  ) throws -> [(old: RecordedCollection, name: String)] {
    let kept = try recordedCollections()
    let moved = try kept.filter {
      try $0.isOfRows && model.collections[$0.name]?.recordedMeaning != $0.recordedMeaning
        && !hasLostTableName($0)
    }
    var renamed: [(old: RecordedCollection, name: String)] = []
    for old in moved {
      let names = model.collections.filter { $0.value.recordedMeaning == old.recordedMeaning }.keys
      let name = try names.sorted().first { name in
        if renamed.contains(where: { $0.name == name }) { return false }
        let stays = kept.first { $0.name == name && !moved.map(\.id).contains($0.id) }
        guard let stays else { return true }
        return try stays.recordedMeaning != old.recordedMeaning && !hasStoredNodes(of: stays.id)
      }
      if let name { renamed.append((old, name)) }
    }
    renamed += try renamedObjects(in: model, kept)
    // A collection that cannot be renamed keeps its name, so the one that was to get that name is
    // not renamed either.
    while true {
      let moving = renamed.map(\.old.id)
      let possible = try renamed.filter { _, name in
        let there = kept.first { $0.name == name && !moving.contains($0.id) }
        return try there.map { try hasEdges($0) } != true
      }
      if possible.count == renamed.count { return renamed }
      renamed = possible
    }
  }

  /// Whether the application only renamed the table: Cascade's triggers moved with it.
  fileprivate func isRenamed(_ kept: RecordedCollection, in model: StoreModel) throws -> Bool {
    guard case .mapped(let table, let key, _) = model.collections[kept.name],
      let names = kept.names, Array(names.dropFirst()) == key.map(\.folded)
    else { return false }
    return try tablesWithTriggers(of: kept).contains(table.folded)
  }

  /// Whether another table has the name that this collection's table had.
  private func hasLostTableName(_ kept: RecordedCollection) throws -> Bool {
    let tables = try tablesWithTriggers(of: kept)
    guard !tables.isEmpty, let name = kept.names?.first else { return false }
    return !tables.contains(name)
  }

  private func tablesWithTriggers(of kept: RecordedCollection) throws(SQLiteError) -> [String] {
    try all(
      """
      SELECT DISTINCT tbl_name FROM main.sqlite_schema
      WHERE type = 'trigger' AND name GLOB 'cascade_delete_' || ? || '_*'
      """, .integer(kept.id)
    ) { $0.text(0).folded }
  }

  /// Edges in properties do not count: they can be read again from the values.
  private func hasEdges(_ kept: RecordedCollection) throws(SQLiteError) -> Bool {
    try integer(
      """
      SELECT 1 FROM cascade_node AS n WHERE n.collection = ?1 AND (
        EXISTS (SELECT 1 FROM cascade_edge WHERE source = n.id)
        OR EXISTS (SELECT 1 FROM cascade_edge WHERE destination = n.id AND origin < ?2)) LIMIT 1
      """, .integer(kept.id), .integer(Origin.firstOfValues.rawValue)) != nil
  }
}
