import CascadeModel
import CascadePostgres
import CascadeStore
import PostgresStore
import PostgresSupport
import StoreDefinition
import Testing

/// Rows that cannot go now: a trigger keeps them, another session has locked them, or a trigger of
/// the application takes too long.
@Suite(
  "Rows that cannot go now on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct HinderedTests {
  private static let fans = """
    CREATE TABLE fan(id int PRIMARY KEY, album_id text); CREATE INDEX ON fan(album_id);
    INSERT INTO fan VALUES(1, 'a1'), (2, 'a2');
    CREATE TABLE likes(fan_id int, album_id text, PRIMARY KEY(fan_id, album_id));
    CREATE INDEX ON likes(album_id);
    INSERT INTO likes VALUES(1, 'a1'), (1, 'a2');
    """

  private static func store(_ more: String = "") throws -> PostgresFixture {
    let model = Music.model()
      .replacing("collections: {", with: "collections: { fans: { table: 'fan', key: 'id' },")
      .replacing(
        "relationships: [",
        with: """
          relationships: [
            { name: 'idol', from: 'fans', to: 'albums', column: 'album_id',
              rules: ['nullifySourceIfDestinationDeleted'] },
            { name: 'likes', from: 'fans', to: 'albums', toMany: true, rules: [],
              join: { table: 'likes', source: 'fan_id', destination: 'album_id' } },
          """)
    let store = try PostgresFixture(model, schema: "\(Music.schema)\(fans)\(more)")
    try store.sweep([.all])
    return store
  }

  private static func album(_ key: String) -> Node { Node("albums", .text(key)) }

  private func albums(_ store: PostgresFixture) throws -> [String] {
    try store.texts("SELECT id FROM album ORDER BY 1")
  }

  // MARK: - Triggers that keep a row

  /// A trigger before the event, on rows for which a condition holds.
  private static func keep(
    _ event: String, _ condition: String = "true", _ body: String = "RETURN NULL;"
  ) -> String {
    """
    CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN IF \(condition) THEN \(body) END IF;
        RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END; END $$;
    CREATE TRIGGER keep BEFORE \(event) FOR EACH ROW EXECUTE FUNCTION keep();
    """
  }

  @Test("A row that a trigger keeps by returning NULL is blocked, and goes when nothing keeps it")
  func kept() throws {
    let store = try Self.store(Self.keep("DELETE ON album", "OLD.id = 'a2'"))
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    let result = try store.sweep()
    #expect(result.byCollection == ["albums": 1, "songs": 2, "photos": 1])
    #expect(result.blocked.map(\.node) == [Self.album("a2")])
    let message = result.blocked.first?.message ?? ""
    #expect(message.contains("the trigger keep of public.album keeps it"), "\(message)")
    let again = try store.sweep()
    #expect(again.outcome == .blocked)
    #expect(again.blocked.map(\.message) == [message])
    try store.bySQL("DROP FUNCTION keep CASCADE")
    try store.waitForJournal()
    #expect(try store.sweep().byCollection == ["albums": 1, "songs": 1])
    #expect(try store.journalIsEmpty)
  }

  @Test("A table with a rule, by which a deletion may be something else, is refused")
  func rule() throws {
    let store = try Self.store("CREATE RULE never AS ON DELETE TO album DO INSTEAD NOTHING;")
    let problem = store.writer.bindingProblems.first?.description ?? ""
    #expect(problem.contains("public.album has the rule never"), "\(problem)")
  }

  @Test("What lost its last reference, and a reference that a trigger keeps, are blocked, too")
  func keptOthers() throws {
    let store = try Self.store(
      Self.keep("DELETE ON photo").replacing("keep", with: "keep1")
        + Self.keep("UPDATE ON fan", "OLD.id = 1", "RETURN OLD;").replacing("keep", with: "keep2"))
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    let result = try store.sweep()
    #expect(result.byCollection == ["albums": 2, "songs": 3])
    #expect(Set(result.blocked.compactMap(\.node?.description)) == ["fans/1", "photos/1"])
    #expect(try store.texts("SELECT id FROM fan WHERE album_id IS NULL ORDER BY 1") == ["2"])
    try store.bySQL("DROP FUNCTION keep1 CASCADE; DROP FUNCTION keep2 CASCADE")
    try store.waitForJournal()
    #expect(try store.sweep().byCollection == ["photos": 1])
    #expect(try store.texts("SELECT id FROM fan WHERE album_id IS NULL ORDER BY 1") == ["1", "2"])
  }

  @Test("Unreferenced rows that a trigger keeps are blocked")
  func unreferenced() throws {
    let store = try Self.store(Self.keep("DELETE ON photo", "OLD.id = 8"))
    try store.reopen(
      with: Music.model().replacing(
        "photos: { table: \"photo\",", with: "photos: { unreferenced: true, table: \"photo\","))
    try store.bySQL("INSERT INTO photo VALUES(7), (8)")
    let result = try store.sweep([.unreferenced])
    #expect(result.byCollection == ["photos": 1])
    #expect(result.blocked.map(\.node) == [Node("photos", .integer(8))])
  }

  @Test("A change file whose deletion a trigger keeps is rejected")
  func changeFile() throws {
    let store = try Self.store(Self.keep("DELETE ON album", "OLD.id = 'a2'"))
    for change: Change in [
      .delete(Self.album("a2")), .delete(Node("artists", .text("anna"))),
      .deleteAll(collection: "albums"),
    ] {
      let reasons = try store.reasons([change])
      #expect(reasons.map(\.code) == [.denied])
      #expect(reasons.map(\.node) == [Self.album("a2")])
    }
    #expect(try store.texts("SELECT count(*) FROM artist") == ["2"])
    #expect(try store.apply([.delete(Self.album("a1"))]).deletedCount == 4)
  }

  // MARK: - Rows that another session has locked

  private func whileLocked(
    _ store: PostgresFixture, _ lock: String, _ body: () throws -> Void
  ) throws {
    let other = try store.database.session()
    try other.execute("BEGIN; \(lock)")
    let start = ContinuousClock.now
    try body()
    #expect(ContinuousClock.now - start < .seconds(4))
    try other.execute("ROLLBACK")
  }

  @Test(
    "A lock that another session holds costs its row, and the followers of others go on",
    arguments: [
      "SELECT FROM album WHERE id = 'a2' FOR UPDATE", "DELETE FROM album WHERE id = 'a2'",
      "UPDATE album SET photo_id = NULL WHERE id = 'a2'",
    ], [true, false])
  func locked(_ lock: String, inSteps: Bool) throws {
    let store = try Self.store()
    if inSteps { store.sweepsInSteps(of: 10) }
    try whileLocked(store, lock) {
      try store.bySQL("DELETE FROM artist")
      let result = try store.sweep()
      #expect(result.blocked.map(\.node) == [Self.album("a2")])
      let message = result.blocked.first?.message ?? ""
      #expect(message.contains("has locked it"), "\(message)")
      if store.database.dialect == .fast { #expect(message.contains("role application")) }
      #expect(try albums(store) == ["a2"])
      #expect(try store.texts("SELECT count(*) FROM song") == ["1"])
    }
    try store.waitForJournal()
    #expect(try store.sweep().byCollection == ["albums": 1, "songs": 1, "photos": 1])
    #expect(try !store.hasWork)
  }

  @Test("A locked reference is nullified later, and a locked join row goes later")
  func lockedReferences() throws {
    let store = try Self.store()
    let locks = """
      SELECT FROM fan WHERE id = 2 FOR UPDATE; SELECT FROM likes WHERE album_id = 'a2' FOR UPDATE
      """
    try whileLocked(store, locks) {
      try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
      let result = try store.sweep()
      #expect(result.byCollection == ["albums": 2, "songs": 3, "photos": 1])
      #expect(result.blocked.map(\.node) == [nil, Node("fans", .integer(2))])
      #expect(result.blocked.first?.message.contains("public.likes") == true)
      #expect(try store.texts("SELECT id FROM fan WHERE album_id IS NULL ORDER BY 1") == ["1"])
      #expect(try store.texts("SELECT album_id FROM likes") == ["a2"])
    }
    try store.waitForJournal()
    #expect(try store.sweep().edgesRemoved == 2)
    #expect(try store.texts("SELECT id FROM fan WHERE album_id IS NULL ORDER BY 1") == ["1", "2"])
    #expect(try store.texts("SELECT album_id FROM likes").isEmpty)
    #expect(try !store.hasWork)
  }

  @Test("What lost all its destinations stays while it is locked")
  func lockedSource() throws {
    let model = Music.model().replacing(
      """
      column: "album_id",
            rules: ["deleteSourceIfDestinationDeleted"]
      """, with: "column: 'album_id', rules: ['deleteSourceIfAllDestinationsDeleted']")
    let store = try PostgresFixture(
      model,
      schema: """
        \(Music.schema) ALTER TABLE song ALTER id TYPE text;
        UPDATE song SET id = 's' || album_id WHERE album_id <> 'a1'
        """)
    try store.sweep([.all])
    try whileLocked(store, "SELECT FROM song WHERE album_id = 'a2' FOR UPDATE") {
      try store.bySQL("DELETE FROM artist")
      #expect(try store.sweep().blocked.map(\.node) == [Node("songs", .text("sa2"))])
      #expect(try store.texts("SELECT id FROM song") == ["sa2"])
    }
    try store.waitForJournal()
    #expect(try store.sweep().byCollection == ["songs": 1])
  }

  @Test("A trigger of the application that waits for a lock costs the rows that it is called for")
  func lockInTrigger() throws {
    let store = try Self.store(
      """
      CREATE TABLE total(id int PRIMARY KEY, n int); INSERT INTO total VALUES(1, 0), (2, 0);
      CREATE FUNCTION tally() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
        $$ BEGIN UPDATE total SET n = n + 1 WHERE id = length(OLD.id) - 1; RETURN OLD; END $$;
      CREATE TRIGGER tally AFTER DELETE ON album FOR EACH ROW EXECUTE FUNCTION tally();
      INSERT INTO album SELECT 'a' || n, 'anna' FROM generate_series(10, 99) n;
      """)
    try whileLocked(store, "SELECT FROM total WHERE id = 1 FOR UPDATE") {
      try store.bySQL("DELETE FROM artist")
      let result = try store.sweep()
      #expect(result.blocked.map(\.node?.description) == ["albums/a1", "albums/a2", "albums/b1"])
      let message = result.blocked.first?.message ?? ""
      #expect(message.contains("the trigger tally of public.album waits for a lock"), "\(message)")
      #expect(try albums(store) == ["a1", "a2", "b1"])
    }
    try store.waitForJournal()
    try store.sweep()
    #expect(try albums(store).isEmpty)
  }

  // MARK: - Triggers that take long

  private static func sleep(_ condition: String, _ seconds: Double) -> String {
    Self.keep("DELETE ON album", condition, "PERFORM pg_sleep(\(seconds));")
      .replacing("keep", with: "slow")
  }

  @Test("A trigger of the application that takes long is told by name, and others go on")
  func slow() throws {
    let store = try Self.store(Self.sleep("OLD.id = 'a2'", 60))
    try store.bySQL("DELETE FROM artist")
    let start = ContinuousClock.now
    let result = try store.sweep()
    #expect(ContinuousClock.now - start < .seconds(20))
    #expect(try albums(store) == ["a2"])
    #expect(result.blocked.map(\.node) == [Self.album("a2")])
    let message = result.blocked.first?.message ?? ""
    let told = "the trigger slow of public.album takes longer than 2 s"
    #expect(message.contains(told), "\(message)")
  }

  @Test("Many rows for which a trigger takes long are left after a while, and go bit by bit")
  func manySlow() throws {
    let store = try Self.store(
      Self.sleep("OLD.artist_id = 'bob'", 1.2)
        + "INSERT INTO album SELECT 'b' || n, 'bob' FROM generate_series(10, 99) n;")
    try store.bySQL("DELETE FROM artist")
    let start = ContinuousClock.now
    #expect(try !store.sweep().blocked.isEmpty)
    #expect(ContinuousClock.now - start < .seconds(30))
    let left = try store.texts("SELECT count(*) FROM album")
    #expect(try store.texts("SELECT count(*) FROM album WHERE id LIKE 'a%'") == ["0"])
    try store.waitForJournal()
    try store.sweep()
    #expect(try store.texts("SELECT count(*) FROM album") != left)
  }
}
