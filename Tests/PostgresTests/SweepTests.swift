import CascadeModel
import CascadePostgres
import CascadeStore
import PostgresStore
import PostgresSupport
import StoreDefinition
import Testing

@Suite("Sweeps on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct SweepTests {
  @Test("What an application deletes by SQL takes along what hangs on it, and what was shared last")
  func cascade() throws {
    let store = try Music.store()
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    #expect(try store.writer.hasJournal)
    let result = try store.sweep()
    #expect(result.outcome == .done)
    #expect(result.byCollection == ["albums": 2, "songs": 3, "photos": 1])
    #expect(result.byRule["deleteDestinationIfAllSourcesDeleted"] == 1)
    #expect(try store.texts("SELECT id FROM album") == ["b1"])
    #expect(try store.texts("SELECT id FROM photo") == ["2"])
    #expect(try store.texts("SELECT album_id FROM song") == ["b1"])
    #expect(try store.sweep().outcome == .nothing)
    #expect(try store.journalIsEmpty)
  }

  @Test("What is still shared stays, also if the step before met nothing that stays")
  func sharedBehindOthers() throws {
    let store = try Music.store()
    store.writer.rowsToAStep = 1
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    #expect(try store.sweep().byCollection == ["albums": 2, "songs": 3, "photos": 1])
    #expect(try store.texts("SELECT id FROM photo") == ["2"])
    let reason = "SELECT n.other FROM cascade.deleted_node n WHERE n.rule = 32 AND n.key = '1'"
    #expect(try store.texts(reason) == ["a1"])
  }

  @Test("What only SQLite knows has no effect, and check says so")
  func effectless() throws {
    let store = try Music.store(#"exclusive: true, secureDelete: "on""#)
    let messages = try store.reader.checkSetup().map(\.message)
    let expected = ["exclusive", "secureDelete"].map { "\"\($0)\" has no effect on PostgreSQL" }
    #expect(messages == expected)
  }

  @Test("Steps of one row end where one step does, and a killed daemon goes on in the same batch")
  func steps() throws {
    let store = try Music.store()
    try store.bySQL("DELETE FROM artist")
    store.writer.rowsToAStep = 1
    var batches: Set<Int64> = []
    for pauses in 1... {
      do {
        let result = try store.writer.sweep(
          [.all], at: 1, manners: .stopping(after: pauses))
        batches.insert(try #require(result.batch))
        break
      } catch is Stopped {
        #expect(try store.writer.unfinishedSweep != nil)
        let text = try store.texts("SELECT value FROM cascade.meta WHERE key = 'sweep.batch'")
        batches.formUnion(text.compactMap { Int64($0) })
      }
    }
    #expect(batches.count == 1)
    for table in ["album", "song", "photo"] {
      #expect(try store.texts("SELECT count(*) FROM \(table)") == ["0"])
    }
    #expect(try store.reader.newestBatches(limit: 9).map(\.deletedCount) == [9])
  }

  @Test("What the application's foreign keys and triggers delete in response is seen too")
  func responses() throws {
    let schema = """
      \(Music.schema)
      CREATE FUNCTION forget() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN DELETE FROM artist WHERE id = 'bob'; RETURN NULL; END $$;
      CREATE TRIGGER forget AFTER DELETE ON album FOR EACH STATEMENT EXECUTE FUNCTION forget();
      """
    let store = try PostgresFixture(Music.model(), schema: schema)
    try store.sweep([.all])
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    try store.sweep()
    #expect(try store.texts("SELECT id FROM album") == ["b1"])
    #expect(try store.writer.hasJournal)
    try store.sweep()
    #expect(try store.texts("SELECT id FROM album").isEmpty)
  }

  @Test("More than the limit is held, deletes nothing, and goes once it is approved")
  func hold() throws {
    let store = try Music.store("limits: { hold: { deletes: 2, share: 0.1 } }", lenient: false)
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    let held = try store.sweep()
    #expect(held.outcome == .held)
    #expect(held.heldCount == 6)
    #expect(try store.texts("SELECT count(*) FROM album") == ["3"])
    #expect(try store.sweep().outcome == .nothing)
    #expect(try store.writer.heldSweeps.map(\.heldCount) == [6])
    #expect(try store.writer.heldSweeps.map(\.plan) == [held.plan])
    let plan = try #require(held.plan)
    guard case .sweep(let kinds)? = try store.writer.approve(plan: plan) else {
      Issue.record("the plan is not of a sweep")
      return
    }
    #expect(try store.sweep(kinds).deletedCount == 6)
    #expect(try store.writer.heldSweeps.isEmpty)
  }

  @Test("What is deleted while a sweep is under way is planned, and held, by the next one")
  func holdMeanwhile() throws {
    let store = try Music.store("limits: { hold: { deletes: 4, share: 0.1 } }", lenient: false)
    try store.bySQL("DELETE FROM artist WHERE id = 'bob'")
    store.writer.rowsToAStep = 1
    var isFirst = true
    let result = try store.writer.sweep(
      [.all], at: 1,
      manners: StepPolicy { _ in
        if isFirst { try store.bySQL("DELETE FROM artist WHERE id = 'anna'") }
        isFirst = false
      })
    #expect(result.byCollection == ["albums": 1, "songs": 1])
    #expect(try store.sweep().outcome == .held)
    #expect(try store.texts("SELECT count(*) FROM album") == ["2"])
  }

  @Test("What dangled before the store was watched is held, however little")
  func firstWatch() throws {
    let schema = Music.schema + "INSERT INTO album VALUES('lost', 'nobody', NULL);"
    let store = try PostgresFixture(Music.model(), schema: schema)
    let held = try store.sweep([.all])
    #expect(held.outcome == .held)
    #expect(try store.sweep([.all]).plan == held.plan)
    #expect(try store.sweep().outcome == .nothing)
    _ = try store.writer.approve(plan: #require(held.plan))
    #expect(try store.sweep([.all]).byCollection == ["albums": 1])
    #expect(try store.writer.rescanReason == nil)
  }

  @Test("A reference that stays for another of its name dangles, and is told once")
  func lastDestination() throws {
    let schema = """
      CREATE TABLE photo(id int PRIMARY KEY);
      CREATE TABLE post(id int PRIMARY KEY, first int, second int);
      CREATE INDEX ON post(first); CREATE INDEX ON post(second);
      INSERT INTO photo VALUES(1), (2), (3); INSERT INTO post VALUES(1, 1, 2), (2, 1, 3);
      """
    let relations = ["first", "second"].map {
      "{ name: 'photo', from: 'posts', to: 'photos', column: '\($0)', rules: "
        + "['deleteSourceIfAllDestinationsDeleted', 'notifyIfDestinationDeleted'] }"
    }
    let model = """
      { collections: { photos: { table: 'photo', key: 'id' }, posts: { table: 'post', key: 'id' } },
        relationships: [\(relations.joined(separator: ", "))] }
      """
    let store = try PostgresFixture(model, schema: schema)
    try store.sweep([.all])
    try store.bySQL("DELETE FROM photo WHERE id < 3")
    #expect(try store.sweep().byRule == ["deleteSourceIfAllDestinationsDeleted": 1])
    #expect(try store.texts("SELECT first FROM post") == ["1"])
    #expect(try store.sweep([.all]).outcome == .nothing)
    func receivers() throws -> [String] {
      try store.reader.notices(after: 0, limit: 9).map(\.node.description)
    }
    #expect(try receivers() == ["posts/2"])
    try store.settle()
    try store.bySQL("INSERT INTO post VALUES(3, 1, 3)")
    try store.sweep()
    #expect(try receivers() == ["posts/2", "posts/3"])
    try store.settle()
    #expect(try receivers() == ["posts/2", "posts/3"])
    try store.bySQL("DELETE FROM photo")
    #expect(try store.sweep().byCollection == ["posts": 2])
  }

  @Test("What a denial keeps is looked at once, and does not keep the daemon busy")
  func denied() throws {
    let model = Music.model().replacing(
      "column: \"album_id\",\n      rules: [\"deleteSourceIfDestinationDeleted\"]",
      with: "column: 'album_id', rules: ['denyDestinationDeletion']")
    #expect(model.contains("denyDestinationDeletion"))
    let store = try PostgresFixture(model, schema: Music.schema)
    try store.sweep([.all])
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    #expect(try store.sweep().outcome == .blocked)
    try store.settle()
    #expect(try store.journalIsEmpty)
    #expect(try store.texts("SELECT count(*) FROM cascade.work WHERE batch <> 0") == ["0"])
    #expect(try store.texts("SELECT count(*) FROM album") == ["3"])
  }

  @Test("TRUNCATE asks for a search of whole tables, where a trigger can see it")
  func truncate() throws {
    let store = try Music.store()
    try store.bySQL("TRUNCATE artist")
    let isSeen = store.database.dialect == .fast
    #expect(try store.writer.rescanReason == (isSeen ? .watchGap : nil))
    #expect(try store.reader.checkReferences(limit: 10).total == 3)
    #expect(try store.sweep([.dangling]).byCollection["albums"] == 3)
  }

  @Test("Plans, reasons and batches tell what goes, and what went")
  func questions() throws {
    let store = try Music.store()
    let plan = try store.reader.plan(deleting: [Node("artists", .text("anna"))])
    #expect(plan.byCollection == ["artists": 1, "albums": 2, "songs": 3, "photos": 1])
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    #expect(try store.reader.planSweep([.cascade, .refcount]).deletedCount == 6)
    let batch = try store.sweep().batch
    guard case .deleted(let why) = try store.reader.why(.node(Node("photos", .integer(1)))) else {
      Issue.record("not deleted")
      return
    }
    #expect(why.batch == batch)
    #expect(why.chain.map(\.node.description) == ["photos/1", "albums/a1", "artists/anna"])
    guard case .alive(let holders, 1, _) = try store.reader.why(.node(Node("photos", .integer(2))))
    else {
      Issue.record("not alive")
      return
    }
    #expect(holders.map(\.source.description) == ["albums/b1"])
  }

  @Test("A change file deletes as a whole, and its id is remembered")
  func changeFile() throws {
    let store = try Music.store()
    let receipt = try store.apply([
      .delete(Node("artists", .text("anna"))), .delete(Node("artists", .text("nobody"))),
    ])
    #expect(receipt.deletedCount == 7)
    #expect(receipt.skippedChanges == 1)
    #expect(try store.writer.ledgerEntry("test-1")?.receipt.deletedCount == 7)
    #expect(try store.sweep().outcome == .nothing)
    #expect(try store.journalIsEmpty)
    let rejection = #expect(throws: Rejection.self) {
      try store.apply([
        .delete(Node("artists", .text("bob"))),
        .link(
          name: "x", from: Node("artists", .text("bob")), to: .file(root: "x", path: "y"),
          rules: nil),
      ])
    }
    #expect(rejection?.reasons.first?.message.contains("has no rules") == true)
    #expect(try store.texts("SELECT id FROM artist") == ["bob"])
  }

  @Test("An undo brings rows and references back as they were, byte for byte")
  func undo() throws {
    let schema = """
      \(Music.schema)
      ALTER TABLE album ADD COLUMN n bigint GENERATED ALWAYS AS IDENTITY,
        ADD COLUMN twice text GENERATED ALWAYS AS (id || id) STORED,
        ADD COLUMN odd text DEFAULT E'it''s "odd" \\\\ (1,2)\\n', ADD COLUMN f float8 DEFAULT 0.1,
        ADD COLUMN "a, b" bytea DEFAULT '\\x00ff', ADD COLUMN j json DEFAULT '{"a":  1}',
        ADD COLUMN d int DEFAULT 4, ADD COLUMN s int, ADD COLUMN t int;
      CREATE FUNCTION scribble() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN NEW.odd := 'scribbled'; RETURN NEW; END $$;
      CREATE TRIGGER scribble BEFORE INSERT ON album FOR EACH ROW EXECUTE FUNCTION scribble();
      CREATE TABLE fan(id int PRIMARY KEY, album_id text);
      INSERT INTO fan VALUES(1, 'a1'), (2, 'b1');
      """
    let fans = "fans: { table: 'fan', key: 'id' },"
    let likes = """
      { name: 'likes', from: 'fans', to: 'albums', column: 'album_id',
        rules: ['nullifySourceIfDestinationDeleted'] },
      """
    let model = Music.model().replacing("collections: {", with: "collections: { \(fans)")
      .replacing("relationships: [", with: "relationships: [\(likes)")
    let store = try PostgresFixture(model, schema: schema)
    try store.sweep([.all])
    let everything = """
      SELECT a::text FROM album a UNION ALL SELECT s::text FROM song s
      UNION ALL SELECT p::text FROM photo p UNION ALL SELECT f::text FROM fan f ORDER BY 1
      """
    let before = try store.texts(everything)
    let album = try store.reader.node(Node("albums", .text("a1")))
    #expect(album.value?.text.contains("\"artist_id\":\"anna\"") == true)
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    let batch = try #require(try store.sweep().batch)
    #expect(try store.texts("SELECT count(*) FROM fan WHERE album_id IS NULL") == ["1"])
    #expect(try store.reader.newestBatches(limit: 1).first?.undoUntil != nil)
    let result = try store.writer.undo(batch, by: "me", at: 5)
    #expect(result.byCollection == ["albums": 2, "songs": 3, "photos": 1])
    #expect(result.references == 1)
    #expect(result.left.isEmpty)
    #expect(result.danglingCount == 2)
    #expect(try store.texts(everything) == before)
    #expect(throws: UndoUnavailable.undone(at: 5, by: "me")) {
      try store.writer.undo(batch, by: "me", at: 6)
    }
    #expect(try store.journalIsEmpty)
  }

  @Test("An undo leaves alone what was made again meanwhile, and says so")
  func takenKey() throws {
    let store = try Music.store()
    try store.apply([.delete(Node("artists", .text("anna")))])
    try store.bySQL("INSERT INTO album VALUES('a1', NULL, NULL)")
    let result = try store.writer.undo(1, by: "me", at: 5)
    #expect(result.byCollection == ["artists": 1, "albums": 1, "songs": 3, "photos": 1])
    #expect(result.left.map(\.reason) == ["its key was taken meanwhile"])
    #expect(try store.texts("SELECT artist_id IS NULL FROM album WHERE id = 'a1'") == ["t"])
  }

  @Test("Detaching leaves nothing")
  func detach() throws {
    let store = try Music.store()
    let report = try store.writer.detach()
    #expect(!report.triggers.isEmpty && !report.tables.isEmpty)
    #expect(
      try store.texts("SELECT count(*) FROM pg_trigger WHERE tgname LIKE 'cascade%'") == ["0"])
    #expect(try store.texts("SELECT to_regnamespace('cascade') IS NULL") == ["t"])
    try store.bySQL("DELETE FROM artist")
    _ = try store.writer.attach(createIndexes: false)
    #expect(try store.writer.rescanReason == .firstWatch)
  }

  @Test("One daemon at most serves a database")
  func leader() throws {
    let store = try Music.store()
    let error = #expect(throws: StoreAway.self) {
      _ = try PostgresWriter(
        store.database.location, store.model, attaches: true, lockTimeout: .seconds(1))
    }
    #expect(error?.description.contains("another daemon serves") == true)
  }

  @Test("A role that could not be told from the application is refused")
  func ownRole() throws {
    let database = try Database(schema: Music.schema)
    let location = database.location.replacing("user=cascaded", with: "user=postgres")
    let error = #expect(throws: StoreError.self) {
      _ = try PostgresWriter(
        location, StoreModel(Music.model()), attaches: true, lockTimeout: .seconds(1))
    }
    #expect(error?.description.contains("is a superuser") == true)
  }
}
