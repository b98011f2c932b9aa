internal import Model
internal import SQLite

/// What the collections of a store stand for: objects, or the rows of a table by a key. `cascade_collection`
/// remembers it, since a model that says otherwise would take the numbers of rows for objects, or objects
/// for numbers that nobody needs. `place` is null for objects, a list of names for rows, and `?` where an
/// older version did not say.
///
/// What is only called otherwise keeps its number, and with it all that is known of it. Rows of another
/// table, by another key or with other references, nobody has watched.
extension Writer {
  /// Before the model is bound. What it says and the store does not allow.
  func followPlaces() throws -> [BindingProblem] {
    try followNames()
    let problems = try db.keptPlaces().compactMap(follow)
    let refused = problems.map(\.path)
    for (name, collection) in model.collections.sorted(by: { $0.key < $1.key }) {
      guard let place = collection.place, !refused.contains(path(of: name)) else { continue }
      try db.run(
        "UPDATE cascade_collection SET place = ?1 WHERE id = ?2 AND place IS NOT ?1", .text(place),
        .integer(try collectionId(name)))
    }
    try followReferences()
    return problems
  }

  private func path(of collection: String) -> String { "collections.\(collection)" }

  private func follow(_ kept: KeptPlace) throws -> BindingProblem? {
    let place = model.collections[kept.name]?.place
    switch (kept.place, place) {
    case (nil, .some), (KeptPlace.unknown, .some):
      let hasObjects = try db.hasObjects(kept)
      return hasObjects ? BindingProblem(path: path(of: kept.name), message: kept.objects) : nil
    case (KeptPlace.unknown, nil):
      try forgetPlace(kept)
    case (let old?, let new?) where old != new:
      try db.setMeta("unseen", 1)
    case (.some, nil):
      if try db.hasEdges(kept) {
        return BindingProblem(path: path(of: kept.name), message: kept.rows)
      }
      if try db.hasPendingEdges { return nil }
      try db.run("DELETE FROM cascade_node WHERE collection = ?", .integer(kept.id))
      try forgetPlace(kept)
    default: break
    }
    return nil
  }

  private func forgetPlace(_ kept: KeptPlace) throws {
    try db.run("UPDATE cascade_collection SET place = NULL WHERE id = ?", .integer(kept.id))
  }

  // MARK: - Another name

  private func followNames() throws {
    let kept = try db.keptPlaces()
    let known = Set(kept.map(\.name))
    for old in kept where model.collections[old.name] == nil {
      let new = model.collections.filter { $0.value.place == old.place && !known.contains($0.key) }
      if let name = new.keys.min(), old.place != nil { try rename(old, to: name) }
    }
  }

  private func rename(_ old: KeptPlace, to name: String) throws {
    try db.run(
      "UPDATE OR IGNORE cascade_collection SET name = ? WHERE id = ?", .text(name),
      .integer(old.id))
    try db.run(
      "UPDATE cascade_lease SET collection = ? WHERE collection = ?", .text(name),
      .text(old.name))
    for watch in try db.watches() where watch.meaning.subject == .rows(collection: old.name) {
      let meaning = Watch.Meaning(
        subject: .rows(collection: name), values: watch.meaning.values)
      try db.run(
        "UPDATE cascade_watch SET meaning = ? WHERE what = ?", .text(meaning.text),
        .integer(watch.number))
    }
  }

  // MARK: - Other references

  /// What dangles in places that the model names anew may be right, and the model wrong.
  private func followReferences() throws {
    let print = Fingerprint(JSON.array(model.referencesInTables).text).signed
    let known = try db.meta("places")
    if known == print { return }
    if known != nil { try db.setMeta("unseen", 1) }
    try db.setMeta("places", print)
  }
}

/// A row of `cascade_collection`.
struct KeptPlace {
  let id: Int64
  let name: String
  let place: String?

  static let unknown = "?"

  fileprivate var objects: String {
    "the store has objects of \"\(name)\": delete them before it becomes a table, or map the table "
      + "under another name"
  }

  fileprivate var rows: String {
    "\"\(name)\" was a table, whose rows stored edges name, and the model does not know it any more: put "
      + "it back, and unlink these edges before you take it out"
  }
}

extension StoreModel.Collection {
  /// As `cascade_collection` keeps it; nil for objects.
  fileprivate var place: String? {
    guard case .mapped(let table, let key, _) = self else { return nil }
    return JSON.array(([table] + key).map { .string($0.folded) }).text
  }
}

extension StoreModel {
  /// Of what the journal and a look through whole tables go by, in an order of their own.
  fileprivate var referencesInTables: [JSON] {
    relationships.filter { collections[$0.from]?.place != nil }
      .map { [$0.name, $0.from] + $0.place.words + $0.to.words }
      .map { JSON.array($0.map { .string($0) }).text }.sorted().map { .string($0) }
  }
}

extension Relationship.Place {
  fileprivate var words: [String] {
    switch self {
    case .stored: ["stored"]
    case .column(let column): ["column", column.folded]
    case .join(let table, let source, let destination):
      ["join", table.folded, source.folded, destination.folded]
    case .property(let path): ["property", path]
    case .polymorphic(let column, let typeColumn):
      ["polymorphic", column.folded, typeColumn.folded]
    }
  }
}

extension Relationship.Target {
  fileprivate var words: [String] {
    switch self {
    case .collection(let name): [name]
    case .types(let map): map.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
    case .files: []
    }
  }
}

extension Connection {
  fileprivate func keptPlaces() throws(SQLiteError) -> [KeptPlace] {
    try all(
      "SELECT id, name, place FROM cascade_collection WHERE name NOT GLOB 'cascade_*' ORDER BY id"
    ) { KeptPlace(id: $0.integer(0), name: $0.text(1), place: $0.optionalText(2)) }
  }

  /// An older version has numbers of rows among them, which have no values.
  fileprivate func hasObjects(_ kept: KeptPlace) throws(SQLiteError) -> Bool {
    try integer(
      """
      SELECT 1 FROM cascade_node
      WHERE collection = ?1 AND (?2 IS NULL OR type IS NOT NULL OR value IS NOT NULL) LIMIT 1
      """, .integer(kept.id), .text(kept.place)) != nil
  }

  fileprivate func hasEdges(_ kept: KeptPlace) throws(SQLiteError) -> Bool {
    try integer(
      """
      SELECT 1 FROM cascade_node AS n WHERE n.collection = ? AND (
        EXISTS (SELECT 1 FROM cascade_edge WHERE source = n.id)
        OR EXISTS (SELECT 1 FROM cascade_edge WHERE destination = n.id)) LIMIT 1
      """, .integer(kept.id)) != nil
  }
}
