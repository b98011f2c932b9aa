internal import CascadeModel
internal import CascadeStore
import Testing

/// A key that an application uses again names another node, and what its predecessor had lost is no
/// reason for it to go.
package struct UsedKeys {
  private let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  package enum Claim: String, CaseIterable, CustomTestStringConvertible {
    case lostItsLast = "A row whose predecessor had lost its last edge stays"
    case lostByColumn = "The same where a column counts, or takes along what it referred to"
    case lostByForeignKey = "A foreign key that removes the edges afterwards is no reason either"
    case lostAfterwards = "Nor are edges that the application removes after their destination"
    case lostDestination = "A row whose predecessor's reference was emptied by a foreign key stays"
    case isUpdated = "A row that was only changed is the same, and goes"
    case isUpserted = "Also one that an upsert changes by another key of its table"
    case deletedByFile = "The same if a change file has deleted its predecessor"
    case heldBack = "Also if it was held back until then"
    case losesItsOwn = "The new row goes when its own last edge goes"
    case losesAtOnce = "Also if it comes, is referred to and loses that before a sweep"
    case losesOldReferences = "The same with references to its predecessor that led to it"
    case lostWithItsSource = "A row whose predecessor had lost the source of a join row stays"
    case lostBetween = "A source that went while there was no row is no reason either"
    case losesItsSource = "The new row goes when the source of such a join row goes afterwards"
    case refersToIt = "References that were there lead to the new row from then on"
    case takesAlong = "What its predecessor took along goes all the same"

    package var testDescription: String { rawValue }
  }

  /// How the statements of the application become transactions.
  package enum Way: String, CaseIterable, CustomTestStringConvertible {
    case transactions = "in transactions of their own"
    case together = "in one transaction"
    case away = "while there is no daemon"
    case kinds = "before sweeps of one kind"

    package var testDescription: String { rawValue }
  }

  package func expect(_ claim: Claim, _ way: Way) throws {
    let store = try UsedStore(engine, way)
    switch claim {
    case .lostItsLast: try lostItsLast(store)
    case .lostByColumn: try lostByColumn(store)
    case .lostByForeignKey: try lostByForeignKey(store)
    case .lostAfterwards: try lostAfterwards(store)
    case .lostDestination: try lostDestination(store)
    case .isUpdated: try isUpdated(store)
    case .isUpserted: try isUpserted(store)
    case .deletedByFile: try deletedByFile(store)
    case .heldBack: try heldBack(store)
    case .losesItsOwn: try losesItsOwn(store)
    case .losesAtOnce: try losesAtOnce(store)
    case .losesOldReferences: try losesOldReferences(store)
    case .lostWithItsSource: try lostWithItsSource(store)
    case .lostBetween: try lostBetween(store)
    case .losesItsSource: try losesItsSource(store)
    case .refersToIt: try refersToIt(store)
    case .takesAlong: try takesAlong(store)
    }
  }

  private func lostItsLast(_ store: UsedStore) throws {
    try store.run(
      "DELETE FROM st WHERE tag = 5", "DELETE FROM tag WHERE id = 5",
      "INSERT INTO tag VALUES(5, 'new')")
    #expect(try store.sweep() == [:])
    #expect(try store.has("tag", 5))
  }

  private func lostByColumn(_ store: UsedStore) throws {
    try store.run(
      "DELETE FROM album WHERE id = 1", "DELETE FROM cover WHERE id = 1",
      "DELETE FROM label WHERE id = 1", "INSERT INTO cover VALUES(1)",
      "INSERT INTO label VALUES(1)")
    #expect(try store.sweep() == ["songs": 1, "tags": 1])
    #expect(try store.has("cover", 1) && store.has("label", 1))
  }

  private func lostByForeignKey(_ store: UsedStore) throws {
    let delete = "\(engine.enforcingForeignKeys)DELETE FROM keyed WHERE id = 1"
    try store.runAlone(delete, "INSERT INTO keyed VALUES(1)")
    #expect(try store.sweep() == [:])
    #expect(try store.has("keyed", 1))
  }

  private func lostAfterwards(_ store: UsedStore) throws {
    try store.run(
      "DELETE FROM tag WHERE id = 5", "DELETE FROM st WHERE tag = 5",
      "INSERT INTO tag VALUES(5, 'new')")
    #expect(try store.sweep() == [:])
    #expect(try store.has("tag", 5))
  }

  private func lostDestination(_ store: UsedStore) throws {
    try store.runAlone(
      "\(engine.enforcingForeignKeys)DELETE FROM owner WHERE id = 1",
      "DELETE FROM owned WHERE id = 1", "INSERT INTO owned VALUES(1, NULL)")
    #expect(try store.sweep() == [:])
    #expect(try store.has("owned", 1))
  }

  private func isUpdated(_ store: UsedStore) throws {
    try store.run("DELETE FROM st WHERE tag = 5", "UPDATE tag SET name = 'other' WHERE id = 5")
    #expect(try store.sweep() == ["tags": 1])
    try store.run(
      "UPDATE song SET album = NULL WHERE id = 1", "UPDATE album SET cover = 2 WHERE id = 1")
    #expect(try store.sweep() == ["covers": 1])
  }

  private func isUpserted(_ store: UsedStore) throws {
    try store.run(
      "INSERT INTO tag VALUES(6, 'old') ON CONFLICT(name) DO UPDATE SET name = 'other'",
      "DELETE FROM st WHERE tag = 5")
    #expect(try store.sweep() == ["tags": 1])
  }

  private func deletedByFile(_ store: UsedStore) throws {
    try store.run("DELETE FROM st WHERE tag = 5")
    try store.delete("tags", 5)
    try store.run("INSERT INTO tag VALUES(5, 'new')")
    #expect(try store.sweep() == [:])
    #expect(try store.has("tag", 5))
  }

  private func heldBack(_ store: UsedStore) throws {
    try store.hold("tags", 5)
    try store.run("DELETE FROM st WHERE tag = 5")
    #expect(try store.sweep() == [:])
    try store.delete("tags", 5)
    try store.run("INSERT INTO tag VALUES(5, 'new')")
    try store.letGo("tags", 5)
    #expect(try store.sweep() == [:])
    #expect(try store.has("tag", 5))
  }

  private func losesItsOwn(_ store: UsedStore) throws {
    try lostItsLast(store)
    try store.run("INSERT INTO st VALUES(1, 5)")
    #expect(try store.sweep() == [:])
    try store.run("DELETE FROM st WHERE tag = 5")
    #expect(try store.sweep() == ["tags": 1])
  }

  private func losesAtOnce(_ store: UsedStore) throws {
    try store.run(
      "DELETE FROM st WHERE tag = 5", "DELETE FROM tag WHERE id = 5",
      "INSERT INTO tag VALUES(5, 'new')", "INSERT INTO st VALUES(1, 5)",
      "DELETE FROM st WHERE tag = 5")
    #expect(try store.sweep() == ["tags": 1])
  }

  private func losesOldReferences(_ store: UsedStore) throws {
    try store.run(
      "DELETE FROM tag WHERE id = 5", "INSERT INTO tag VALUES(5, 'new')",
      "DELETE FROM st WHERE tag = 5")
    #expect(try store.sweep() == ["tags": 1])
  }

  private func lostWithItsSource(_ store: UsedStore) throws {
    try store.run(
      "DELETE FROM song WHERE id = 1", "DELETE FROM tag WHERE id = 5",
      "INSERT INTO tag VALUES(5, 'new')")
    #expect(try store.sweep() == [:])
    #expect(try store.has("tag", 5) && store.texts("SELECT CAST(song AS TEXT) FROM st").isEmpty)
  }

  private func lostBetween(_ store: UsedStore) throws {
    try store.run(
      "DELETE FROM tag WHERE id = 5", "DELETE FROM song WHERE id = 1",
      "INSERT INTO tag VALUES(5, 'new')")
    #expect(try store.sweep() == [:])
    #expect(try store.has("tag", 5) && store.texts("SELECT CAST(song AS TEXT) FROM st").isEmpty)
  }

  private func losesItsSource(_ store: UsedStore) throws {
    try store.run(
      "DELETE FROM tag WHERE id = 5", "INSERT INTO tag VALUES(5, 'new')",
      "DELETE FROM song WHERE id = 1")
    #expect(try store.sweep() == ["tags": 1])
  }

  private func refersToIt(_ store: UsedStore) throws {
    try store.run("DELETE FROM tag WHERE id = 5", "INSERT INTO tag VALUES(5, 'new')")
    #expect(try store.sweep() == [:])
    #expect(try store.texts("SELECT CAST(song AS TEXT) FROM st") == ["1"])
    try store.run("DELETE FROM st WHERE tag = 5")
    #expect(try store.sweep() == ["tags": 1])
  }

  private func takesAlong(_ store: UsedStore) throws {
    try store.run("DELETE FROM album WHERE id = 1", "INSERT INTO album VALUES(1, NULL, NULL)")
    #expect(try store.sweep() == ["covers": 1, "labels": 1])
    #expect(try store.has("album", 1) && store.has("song", 1))
  }
}

extension UsedKeys {
  /// A sweep in steps deletes albums 1 to 4, and what an application deletes before one of the steps, was the
  /// last that referred to the cover. If the cover goes with that sweep, the next one of its key stays.
  package func expectNewOneStays(afterStep step: Int) throws {
    let store = try UsedStore(engine, .transactions)
    try store.run(
      "INSERT INTO cover VALUES(7)",
      "INSERT INTO album VALUES(10, 7, NULL), (11, 7, NULL), (12, 7, NULL), (13, 7, NULL), (14, 7, NULL)",
      "DELETE FROM album WHERE id BETWEEN 10 AND 13")
    var steps = 0
    try store.sweepInSteps {
      if steps == step { try store.run("DELETE FROM album WHERE id = 14") }
      steps += 1
    }
    if try store.has("cover", 7) { return }
    try store.run("INSERT INTO cover VALUES(7)")
    #expect(try store.sweep() == [:])
    #expect(try store.has("cover", 7))
  }
}

/// Song 1 is on album 1, which has cover 1 and label 1, and has tag 5.
private final class UsedStore {
  private let store: any StoreUnderTest
  private let way: UsedKeys.Way

  init(_ engine: any EngineUnderTest, _ way: UsedKeys.Way) throws {
    self.way = way
    store = try engine.makeStore(
      model: StoreModel(
        """
        { collections: {
            songs: { table: "song", key: "id" }, tags: { table: "tag", key: "id" },
            albums: { table: "album", key: "id" }, covers: { table: "cover", key: "id" },
            labels: { table: "label", key: "id" }, keyed: { table: "keyed", key: "id" },
            refs: { table: "ref", key: "id" }, owners: { table: "owner", key: "id" },
            owned: { table: "owned", key: "id" } },
          relationships: [
            { name: "tags", from: "songs", to: "tags",
              join: { table: "st", source: "song", destination: "tag" }, toMany: true,
              rules: ["deleteDestinationIfAllSourcesDeleted"] },
            { name: "album", from: "songs", to: "albums", column: "album",
              rules: ["deleteSourceIfDestinationDeleted"] },
            { name: "cover", from: "albums", to: "covers", column: "cover",
              rules: ["deleteDestinationIfAllSourcesDeleted"] },
            { name: "label", from: "albums", to: "labels", column: "label",
              rules: ["deleteDestinationIfSourceDeleted"] },
            { name: "keyed", from: "refs", to: "keyed", column: "keyed",
              rules: ["deleteDestinationIfAllSourcesDeleted"] },
            { name: "owner", from: "owned", to: "owners", column: "owner",
              rules: ["deleteSourceIfDestinationDeleted"] }] }
        """),
      schema: """
        CREATE TABLE song(id INTEGER PRIMARY KEY, album INTEGER);
        CREATE TABLE tag(id INTEGER PRIMARY KEY, name TEXT UNIQUE);
        CREATE TABLE st(song INTEGER, tag INTEGER);
        CREATE TABLE album(id INTEGER PRIMARY KEY, cover INTEGER, label INTEGER);
        CREATE TABLE cover(id INTEGER PRIMARY KEY);
        CREATE TABLE label(id INTEGER PRIMARY KEY);
        CREATE TABLE keyed(id INTEGER PRIMARY KEY);
        CREATE TABLE ref(id INTEGER PRIMARY KEY,
          keyed INTEGER REFERENCES keyed(id) ON DELETE CASCADE);
        CREATE TABLE owner(id INTEGER PRIMARY KEY);
        CREATE TABLE owned(id INTEGER PRIMARY KEY,
          owner INTEGER REFERENCES owner(id) ON DELETE SET NULL);
        CREATE INDEX song_album ON song(album); CREATE INDEX st_song ON st(song);
        CREATE INDEX st_tag ON st(tag); CREATE INDEX album_cover ON album(cover);
        CREATE INDEX album_label ON album(label); CREATE INDEX ref_keyed ON ref(keyed);
        CREATE INDEX owned_owner ON owned(owner);
        INSERT INTO cover VALUES(1), (2); INSERT INTO label VALUES(1);
        INSERT INTO album VALUES(1, 1, 1); INSERT INTO song VALUES(1, 1);
        INSERT INTO tag VALUES(5, 'old'); INSERT INTO st VALUES(1, 5);
        INSERT INTO keyed VALUES(1); INSERT INTO ref VALUES(1, 1);
        INSERT INTO owner VALUES(1); INSERT INTO owned VALUES(1, 1);
        """)
    _ = try store.writer.sweep([.all], at: 1)
  }

  /// Runs the statements of the application, and nothing of the daemon between them.
  func run(_ statements: String...) throws {
    if way == .together {
      try store.bySQL("BEGIN; \(statements.joined(separator: "; ")); COMMIT")
    } else {
      for statement in statements { try store.bySQL(statement) }
    }
    if way == .away { try store.reopen() }
  }

  /// The same where a statement needs a connection of its own.
  func runAlone(_ statements: String...) throws {
    for statement in statements { try store.bySQL(statement) }
    if way == .away { try store.reopen() }
  }

  func delete(_ collection: String, _ key: Int64) throws {
    try store.apply([.delete(Node(collection, .integer(key)))])
  }

  func hold(_ collection: String, _ key: Int64) throws {
    _ = try store.writer.lease(
      [.node(Node(collection, .integer(key)))], owner: "test", seconds: 1_000_000, connection: nil,
      at: 1)
  }

  func letGo(_ collection: String, _ key: Int64) throws {
    _ = try store.writer.release([.node(Node(collection, .integer(key)))], owner: "test")
  }

  /// How many nodes went, by collection.
  func sweep() throws -> [String: Int] {
    let kinds: [[SweepKind]] =
      way == .kinds ? [[.cascade], [.refcount], [.cascade], [.refcount]] : [[.cascade, .refcount]]
    var went: [String: Int] = [:]
    for kinds in kinds {
      went.merge(try store.writer.sweep(kinds, at: 1).byCollection, uniquingKeysWith: +)
    }
    return went
  }

  func sweepInSteps(_ between: @escaping () throws -> Void) throws {
    store.sweepsInSteps(of: 1)
    _ = try store.writer.sweep(
      [.cascade, .refcount], at: 1, manners: StepPolicy { _ in try between() })
  }

  func has(_ table: String, _ id: Int) throws -> Bool {
    try !texts("SELECT CAST(id AS TEXT) FROM \(table) WHERE id = \(id)").isEmpty
  }

  func texts(_ sql: String) throws -> [String] { try store.texts(sql) }
}
