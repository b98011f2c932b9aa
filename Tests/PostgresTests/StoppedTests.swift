import CascadeModel
import CascadePostgres
import CascadeStore
import PostgresStore
import PostgresSupport
import StoreDefinition
import Testing

/// A table that stops matching the model stops its own relationships, and nothing else.
@Suite("Stopped parts on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct StoppedTests {
  /// Beside artists, albums, songs and photos there are clubs and fans, which have nothing to do with them. An
  /// album denies the deletion of its artist.
  private static let more = """
    CREATE TABLE club(id int PRIMARY KEY); CREATE TABLE fan(id int PRIMARY KEY, club_id int);
    CREATE INDEX ON fan(club_id); INSERT INTO club VALUES(1), (2), (3), (4), (5);
    INSERT INTO fan SELECT n, n FROM generate_series(1, 5) n;
    INSERT INTO artist VALUES('free');
    """

  private static let model = Music.model()
    .replacing(
      "collections: {",
      with: "collections: { clubs: { table: 'club', key: 'id' }, fans: { table: 'fan', key: 'id' },"
    )
    .replacing(
      "relationships: [",
      with: """
        relationships: [
          { name: 'club', from: 'fans', to: 'clubs', column: 'club_id',
            rules: ['deleteSourceIfDestinationDeleted'] },
        """
    )
    .replacing(
      """
      column: "artist_id",
            rules: ["deleteSourceIfDestinationDeleted"]
      """, with: "column: 'artist_id', rules: ['denyDestinationDeletion']")

  private static func store() throws -> PostgresFixture {
    let store = try PostgresFixture(model, schema: "\(Music.schema)\(more)")
    try store.sweep([.all])
    return store
  }

  private func follow(_ store: PostgresFixture) throws { try store.writer.followSchema() }

  private func refusal(_ store: PostgresFixture, _ sql: String) -> String? {
    do {
      try store.bySQL(sql)
      return nil
    } catch {
      return (error as? PostgresError)?.message ?? "\(error)"
    }
  }

  /// Whether an album denies the deletion of its artist.
  private func isDenied(_ store: PostgresFixture) -> Bool {
    let told = refusal(store, "DELETE FROM artist WHERE id = 'bob'")
    return told?.contains("holds it by \"artist\" (denyDestinationDeletion)") == true
  }

  /// What has nothing to do with albums goes on.
  private func expectOthersGoOn(_ store: PostgresFixture, _ club: Int) throws {
    try store.bySQL("DELETE FROM club WHERE id = \(club)")
    #expect(try store.writer.hasJournal)
    #expect(try store.sweep().byCollection == ["fans": 1])
  }

  private let enable = "ALTER TABLE album ENABLE ROW LEVEL SECURITY"
  private let disable = "ALTER TABLE album DISABLE ROW LEVEL SECURITY"

  // MARK: - Row security

  @Test("Where rows are hidden, a denial refuses: before that is noticed, and then with a reason")
  func hiddenDenial() throws {
    let store = try Self.store()
    try store.bySQL(enable)
    let delete = "DELETE FROM artist WHERE id = 'free'"
    let uncured = refusal(store, delete) ?? ""
    #expect(uncured.contains("row-level security policy for table \"album\""), "\(uncured)")
    try follow(store)
    let told = """
      artists/free must stay: it cannot be told whether "artist" from "albums" denies this deletion: public.album has \
      row security, which could hide rows from the daemon
      """
    #expect(refusal(store, delete) == told)
    try store.reopen()
    #expect(refusal(store, delete) == told)
    // A change file is refused as well.
    let reasons = try store.reasons([.delete(Node("artists", .text("free")))])
    #expect(reasons.map(\.code) == [.denied])
    #expect(reasons.first?.message.contains("public.album has row security") == true)
    try store.bySQL(disable)
    try follow(store)
    #expect(refusal(store, delete) == nil)
    #expect(refusal(store, "DELETE FROM artist")?.contains("holds it by \"artist\"") == true)
  }

  @Test("What a stopped table has lost is followed when it fits again, and others go on meanwhile")
  func journal() throws {
    let store = try Self.store()
    try store.bySQL(enable)
    try follow(store)
    #expect(store.writer.bindingProblems.count == 1)
    try expectOthersGoOn(store, 1)
    try store.bySQL("DELETE FROM album WHERE id = 'a1'; UPDATE album SET photo_id = NULL")
    try expectOthersGoOn(store, 2)
    #expect(try store.sweep().outcome == .blocked)
    try store.reopen()
    try expectOthersGoOn(store, 3)
    #expect(try store.texts("SELECT count(*) FROM photo") == ["2"])
    #expect(try store.texts("SELECT count(*) FROM song") == ["4"])
    try store.bySQL(disable)
    try follow(store)
    #expect(store.writer.bindingProblems.isEmpty)
    #expect(try store.writer.rescanReason == .watchGap)
    #expect(try store.writer.hasJournal)
    #expect(try store.sweep().byCollection == ["songs": 2, "photos": 2])
    #expect(try store.sweep([.dangling]).outcome == .nothing)
    #expect(try store.writer.rescanReason == nil)
  }

  @Test("What a sweep had begun of a relationship goes back to the journal when that is stopped")
  func unfinished() throws {
    let store = try Self.store()
    store.sweepsInSteps(of: 1)
    try store.bySQL("DELETE FROM album")
    var steps = 0
    let stop = StepPolicy { _ in
      steps += 1
      if steps == 2 { throw CancellationError() }
    }
    #expect(throws: CancellationError.self) {
      try store.writer.sweep([.cascade, .refcount], at: 1, manners: stop)
    }
    try store.bySQL(enable)
    try follow(store)
    try store.sweep()
    #expect(try store.writer.unfinishedSweep == nil)
    #expect(try store.texts("SELECT count(*) FROM photo") == ["2"])
    try store.bySQL(disable)
    try follow(store)
    try store.sweep()
    #expect(try store.texts("SELECT count(*) FROM photo") == ["0"])
    #expect(try store.texts("SELECT count(*) FROM song") == ["0"])
  }

  @Test("Nothing goes of which it cannot be told what else refers to it")
  func counted() throws {
    let model = Self.model.replacing(
      "relationships: [",
      with: """
        relationships: [
          { name: 'photo', from: 'fans', to: 'photos', column: 'photo_id',
            rules: ['deleteDestinationIfAllSourcesDeleted'] },
        """)
    let store = try PostgresFixture(
      model,
      schema: """
        \(Music.schema) \(Self.more)
        ALTER TABLE fan ADD photo_id int; CREATE INDEX ON fan(photo_id); UPDATE fan SET photo_id = 1
        """)
    try store.sweep([.all])
    try store.bySQL(enable)
    try follow(store)
    try store.bySQL("UPDATE fan SET photo_id = NULL; INSERT INTO photo VALUES(9)")
    let swept = try store.sweep()
    #expect(swept.outcome == .blocked && swept.deletedCount == 0)
    #expect(swept.blocked.map(\.code) == [.invalid])
    #expect(try store.sweep([.unreferenced]).heldCount == 0)
    #expect(try store.texts("SELECT count(*) FROM photo") == ["3"])
    try store.bySQL("DELETE FROM album WHERE photo_id = 1; \(disable)")
    try follow(store)
    #expect(try store.sweep().byCollection["photos"] == 1)
    #expect(try store.texts("SELECT id FROM photo ORDER BY 1") == ["2", "9"])
  }

  @Test("A change file that writes into a stopped table waits, and an undo of its rows is refused")
  func writes() throws {
    let store = try Self.store()
    let batch = try #require(try store.apply([.delete(Node("albums", .text("a1")))]).batch)
    try store.bySQL(enable)
    try follow(store)
    let put = Change.put(
      Node("albums", .text("new")), type: nil, value: JSONText(valid: "{}"), edges: nil)
    let error = #expect(throws: (any Error).self) { try store.apply([put]) }
    let told = error.flatMap { store.writer.failure(ofFile: $0) } ?? ""
    #expect(told.contains("\"albums\" is stopped: public.album has row security"), "\(told)")
    #expect(throws: StoreError.self) { try store.writer.undo(batch, by: "me", at: 2) }
    try store.bySQL(disable)
    try follow(store)
    #expect(try store.apply([put]).outcome == .applied)
    #expect(try store.writer.undo(batch, by: "me", at: 2).restored == 4)
  }

  // MARK: - Columns

  @Test("A column with another name stops its relationship, which is watched under that name")
  func renamed() throws {
    let store = try Self.store()
    try store.bySQL(
      "ALTER TABLE album RENAME artist_id TO singer; ALTER TABLE album RENAME photo_id TO cover")
    try follow(store)
    let problems = store.writer.bindingProblems.map(\.description).joined(separator: "\n")
    let told = "has no column \"artist_id\": it is called \"singer\" now"
    #expect(problems.contains(told), "\(problems)")
    try expectOthersGoOn(store, 1)
    // The denial can be judged.
    #expect(isDenied(store))
    #expect(refusal(store, "DELETE FROM artist WHERE id = 'free'") == nil)
    // Other relationships of the table go on, and what the stopped one has lost is known.
    try store.bySQL(
      "DELETE FROM album WHERE id = 'a1'; UPDATE album SET cover = NULL WHERE id = 'b1'")
    #expect(try store.sweep().byCollection == ["songs": 2])
    #expect(try store.texts("SELECT count(*) FROM photo") == ["2"])
    try store.bySQL(
      "ALTER TABLE album RENAME singer TO artist_id; ALTER TABLE album RENAME cover TO photo_id")
    try follow(store)
    #expect(store.writer.bindingProblems.isEmpty)
    #expect(try store.sweep().byCollection == ["photos": 1])
    #expect(isDenied(store))
  }

  @Test("A key or a table with another name, or a table that is gone, stops what needs it")
  func renamedKey() throws {
    let store = try Self.store()
    for (change, back) in [
      ("ALTER TABLE album RENAME id TO number", "ALTER TABLE album RENAME number TO id"),
      ("ALTER TABLE album RENAME TO record", "ALTER TABLE record RENAME TO album"),
      (
        "ALTER TABLE album RENAME TO old; DROP TABLE old CASCADE",
        """
        CREATE TABLE album(id text PRIMARY KEY, artist_id text, photo_id int);
        CREATE INDEX ON album(artist_id); CREATE INDEX ON album(photo_id);
        INSERT INTO album VALUES('b1', 'bob', 2)
        """
      ),
    ] {
      try store.bySQL(change)
      try follow(store)
      #expect(!store.writer.bindingProblems.isEmpty)
      #expect(refusal(store, "DELETE FROM artist WHERE id = 'bob'") != nil)
      #expect(refusal(store, "INSERT INTO song VALUES(gen_random_uuid(), 'b1')") == nil)
      try store.sweep()
      try store.bySQL(back)
      try follow(store)
      #expect(store.writer.bindingProblems.isEmpty)
      try store.sweep([.dangling])
    }
    try expectOthersGoOn(store, 1)
    // What the new table lacks was looked for.
    #expect(try store.texts("SELECT DISTINCT album_id FROM song") == ["b1"])
    #expect(isDenied(store))
  }

  @Test("A dropped column stops its relationship until it is there again")
  func dropped() throws {
    let store = try Self.store()
    try store.bySQL("ALTER TABLE album DROP artist_id CASCADE")
    try follow(store)
    let told = refusal(store, "DELETE FROM artist WHERE id = 'free'") ?? ""
    #expect(told.contains("public.album has no column \"artist_id\""), "\(told)")
    try expectOthersGoOn(store, 1)
    try store.bySQL("DELETE FROM album WHERE id = 'a1'")
    #expect(try store.sweep().byCollection == ["songs": 2, "photos": 1])
    try store.bySQL("ALTER TABLE album ADD artist_id text; CREATE INDEX ON album(artist_id)")
    try follow(store)
    #expect(refusal(store, "DELETE FROM artist WHERE id = 'free'") == nil)
    #expect(try store.reader.checkSetup().isEmpty)
  }

  @Test("What never did fit refuses nothing to an application, and deletes nothing")
  func neverFit() throws {
    let store = try PostgresFixture(
      Self.model.replacing("'artist_id'", with: "'artist_id_'"), schema: Music.schema + Self.more)
    try store.sweep([.all])
    #expect(store.writer.bindingProblems.count == 1)
    #expect(refusal(store, "DELETE FROM artist WHERE id = 'anna'") == nil)
    try store.bySQL("DELETE FROM album WHERE id = 'a1'")
    #expect(try store.sweep().byCollection == ["songs": 2, "photos": 1])
    #expect(try store.reasons([.delete(Node("artists", .text("bob")))]).map(\.code) == [.denied])
    try store.reopen(with: Self.model)
    #expect(store.writer.bindingProblems.isEmpty)
    #expect(refusal(store, "DELETE FROM artist WHERE id = 'bob'") != nil)
  }

  // MARK: - Triggers

  @Test(
    "A trigger that was disabled around a deletion is noticed, and the deletion is followed",
    arguments: [true, false])
  func disabled(isEnabledAgain: Bool) throws {
    let store = try Self.store()
    try store.bySQL("ALTER TABLE club DISABLE TRIGGER ALL; DELETE FROM club WHERE id = 1")
    if isEnabledAgain { try store.bySQL("ALTER TABLE club ENABLE TRIGGER ALL") }
    try follow(store)
    #expect(try store.writer.rescanReason == .watchGap)
    #expect(try store.sweep([.dangling]).byCollection == ["fans": 1])
    try follow(store)
    #expect(try store.writer.rescanReason == nil)
    try expectOthersGoOn(store, 2)
  }
}
