internal import CascadeModel
internal import CascadeEngine
internal import CascadePostgres
internal import PostgresBinding

/// Collections keep their numbers, and with them all that is remembered, whatever the model calls them
/// (`RememberedPart`). Runs before the model is bound.
///
/// A collection is where its table and its key are, by their numbers in the catalog. Within a migration
/// these are not known, so names decide.
struct FollowedCollections {
  private let store: StoreConnection
  private var db: Session { _read { yield store.db } }

  init(_ store: StoreConnection) { self.store = store }

  private typealias Known = (number: String, part: RememberedPart)

  private var known: [Known] {
    get throws {
      try db.run(
        """
        SELECT number, name, place, names, \(StoreConnection.isGone("place"))
        FROM cascade.collection ORDER BY number
        """
      ).rows.map { row in
        let part = RememberedPart(
          name: row[1]!, place: row[2], placeNames: row[3], isPlaceGone: row[4] == "t")
        return (row[0]!, part)
      }
    }
  }

  private func wanted() throws -> [RememberedPart] {
    let names = store.model.formerNames.collections
    return try store.model.collections.sorted { $0.key < $1.key }.map { name, collection in
      guard case .mapped(let table, let key, _) = collection else {
        return RememberedPart(
          name: name, place: nil, placeNames: nil, was: try store.openRename(name, names[name]))
      }
      return RememberedPart(
        name: name, place: try store.place(of: key, in: table),
        placeNames: JSON.array(([table] + key).map { .string($0) }).text,
        was: try store.openRename(name, names[name]))
    }
  }

  // MARK: - Names

  /// Gives those that are remembered the names that the model has for them. Names may go round, so all old
  /// ones are given up before new ones are given.
  func follow() throws {
    let (known, wanted) = (try known, try wanted())
    let pairs = RememberedPart.pairs(of: wanted, with: known.map(\.part))
    var renamed: [(number: String, old: String, new: String)] = []
    for (part, place) in zip(wanted, pairs) {
      guard let place, known[place].part.name != part.name else { continue }
      renamed.append((known[place].number, known[place].part.name, part.name))
    }
    try closeRenames(wanted)
    if renamed.isEmpty { return }
    let kept = Set(pairs.compactMap(\.self))
    for (index, one) in known.enumerated()
    where !kept.contains(index) && renamed.contains(where: { $0.new == one.part.name }) {
      renamed.append(
        (one.number, one.part.name, "cascade_was/\(one.number)/\(one.part.name)"))
    }
    // It would read keys by the tables that had the names before. It is made again with the others.
    try db.execute("DROP FUNCTION IF EXISTS cascade.leased() CASCADE")
    for one in renamed { try rename(one.old, to: "cascade_renamed/\(one.number)") }
    for one in renamed { try rename("cascade_renamed/\(one.number)", to: one.new) }
  }

  private func rename(_ old: String, to new: String) throws {
    for (table, column) in [
      ("collection", "name"), ("relation", "source"), ("relation", "destination"),
      ("lease", "collection"), ("reaching_lease", "collection"),
    ] {
      try db.run("UPDATE cascade.\(table) SET \(column) = $2 WHERE \(column) = $1", [old, new])
    }
  }

  private func closeRenames(_ wanted: [RememberedPart]) throws {
    for part in wanted { try store.closeRename(part.name, part.was) }
  }

  // MARK: - Places

  /// Writes down where the collections are that fit.
  func record() throws {
    for part in try wanted() {
      guard let place = part.place, store.binding.tables[part.name] != nil else { continue }
      try db.run(
        """
        UPDATE cascade.collection SET place = $2, names = $3
        WHERE name = $1 AND (place, names) IS DISTINCT FROM ($2, $3)
        """, [part.name, place, part.placeNames])
    }
  }
}

extension StoreConnection {
  /// Where columns are by their numbers in the catalog; nil if one is not there.
  func place(of columns: [String], in table: String) throws -> String? {
    guard let name = try qualifiedName(table) else { return nil }
    let row = try db.run(
      """
      SELECT string_agg(a.attnum::text, ',' ORDER BY n.place), count(*), $1::regclass::oid::bigint
      FROM unnest($2::text[]) WITH ORDINALITY n(name, place)
      JOIN pg_attribute a ON a.attrelid = $1::regclass AND a.attname = n.name
      WHERE a.attnum > 0 AND NOT a.attisdropped
      """, [name, arrayText(columns)]
    ).rows[0]
    return row[1] == "\(columns.count)" ? "\(row[2]!) \(row[0]!)" : nil
  }

  /// Whether the table of a place is not there any more, or the place is not known.
  static func isGone(_ place: String) -> String {
    "(\(place) IS NULL OR NOT EXISTS (SELECT FROM pg_class r "
      + "WHERE r.oid = split_part(\(place), ' ', 1)::oid))"
  }

  // MARK: - What the model says

  private func key(ofRename name: String, _ was: String) -> String { "was: \(was) -> \(name)" }

  /// What the model says that a part was called, if that was not followed yet.
  func openRename(_ name: String, _ was: String?) throws -> String? {
    guard let was, try self[meta: key(ofRename: name, was)] == nil else { return nil }
    return was
  }

  /// It is followed once: the old name may be that of another part later.
  func closeRename(_ name: String, _ was: String?) throws {
    if let was { try set(key(ofRename: name, was), 1) }
  }
}
