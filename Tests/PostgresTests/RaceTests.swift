import CascadeModel
import CascadePostgres
import CascadeStore
import CascadeSystem
import PostgresStore
import PostgresSupport
import Testing

/// What goes wrong between several sessions without the engine's care, and with it does not.
@Suite("Races on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct RaceTests {
  private static let orphans =
    "SELECT a.id FROM album a WHERE a.photo_id NOT IN (SELECT id FROM photo)"
  private static let naive = """
    DELETE FROM photo p WHERE id = 1 AND NOT EXISTS (SELECT FROM album WHERE photo_id = p.id)
    """

  // MARK: - A count, and a session that begins to refer

  @Test("One statement that looks and deletes, deletes what somebody just began to hold")
  func uncuredCount() throws {
    let database = try Database(schema: Music.schema + "DELETE FROM album WHERE id = 'a1';")
    let application = try database.session()
    try application.execute("BEGIN; INSERT INTO album VALUES('new', 'bob', 1)")
    try database.session(as: "cascaded").execute(Self.naive)
    try application.execute("COMMIT")
    #expect(try application.run(Self.orphans).texts == ["new"])
  }

  @Test("A trigger that takes FOR KEY SHARE does not help that statement: it waits, and deletes")
  func uncuredCountWithLock() throws {
    let store = try Music.store()
    try store.bySQL("DELETE FROM album WHERE id = 'a1'")
    let application = try store.database.session()
    try application.execute("BEGIN; INSERT INTO album VALUES('new', 'bob', 1)")
    let deletion = store.database.inBackground("cascaded", [Self.naive])
    try store.database.waitForBlocked()
    try application.execute("COMMIT")
    _ = consume deletion
    #expect(try application.run(Self.orphans).texts == ["new"])
  }

  @Test("A sweep leaves what somebody holds but has not committed, and looks again later")
  func curedCount() throws {
    let store = try Music.store()
    try store.bySQL("DELETE FROM album WHERE id = 'a1'")
    let application = try store.database.session()
    try application.execute("BEGIN; INSERT INTO album VALUES('new', 'bob', 1)")
    let first = try store.sweep()
    #expect(first.isCutShort)
    #expect(try store.writer.hasJournal)
    try application.execute("COMMIT")
    #expect(try store.sweep().deletedCount == 0)
    #expect(try store.texts("SELECT id FROM photo WHERE id = 1") == ["1"])
    #expect(try store.texts(Self.orphans).isEmpty)
    #expect(try store.journalIsEmpty)
  }

  @Test("An edge that counts for another relationship's rule holds what it leads to")
  func curedCountOfTwo() throws {
    let fans = "CREATE TABLE fan(id int PRIMARY KEY, photo_id int); CREATE INDEX ON fan(photo_id);"
    let model = Music.model().replacing(
      "collections: {", with: "collections: { fans: { table: 'fan', key: 'id' },"
    ).replacing(
      "relationships: [",
      with: "relationships: [{ name: 'photo', from: 'fans', to: 'photos', column: 'photo_id' },")
    let store = try PostgresFixture(model, schema: Music.schema + fans)
    try store.sweep([.all])
    try store.bySQL("DELETE FROM album WHERE id = 'a1'")
    let application = try store.database.session()
    try application.execute("BEGIN; INSERT INTO fan VALUES(1, 1)")
    #expect(try store.sweep().isCutShort)
    try application.execute("COMMIT")
    try store.sweep()
    #expect(try store.texts("SELECT id FROM photo WHERE id = 1") == ["1"])
  }

  @Test("If the holder rolls back, the next sweep deletes")
  func rolledBackHolder() throws {
    let store = try Music.store()
    try store.bySQL("DELETE FROM album WHERE id = 'a1'")
    let application = try store.database.session()
    try application.execute("BEGIN; INSERT INTO album VALUES('new', 'bob', 1)")
    #expect(try store.sweep().isCutShort)
    try application.execute("ROLLBACK")
    #expect(try store.sweep().byCollection == ["photos": 1])
  }

  // MARK: - A row that gets another reference while a step waits for it

  @Test("Deleting by keys that were read before deletes a row that leads elsewhere now")
  func uncuredWave() throws {
    let store = try Music.store()
    let application = try store.database.session()
    let keys = try application.run("SELECT id FROM album WHERE artist_id = 'anna'").texts
    try application.execute("BEGIN; UPDATE album SET artist_id = 'bob' WHERE id = 'a1'")
    let list = keys.map { "'\($0)'" }.joined(separator: ", ")
    let deletion = store.database.inBackground(
      "cascaded", ["DELETE FROM album WHERE id IN (\(list))"])
    try store.database.waitForBlocked()
    try application.execute("COMMIT")
    _ = consume deletion
    #expect(try store.texts("SELECT id FROM album WHERE id = 'a1'").isEmpty)
  }

  @Test("A step looks again at the row that it waited for")
  func curedWave() throws {
    let store = try Music.store()
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    let change = store.database.inBackground(
      "application", ["BEGIN; UPDATE album SET artist_id = 'bob' WHERE id = 'a1'"], committing: true
    )
    try store.database.wait("a transaction is open", "state = 'idle in transaction'")
    let result = try store.sweep()
    _ = consume change
    #expect(result.outcome == .done)
    #expect(try store.texts("SELECT id FROM album ORDER BY id") == ["a1", "b1"])
  }

  // MARK: - A reference from a transaction that cannot see the deletion

  @Test("What refers to a deleted row from a transaction that was open then, follows it")
  func lateReference() throws {
    let store = try Music.store()
    let application = try store.database.session()
    try application.execute("BEGIN; INSERT INTO album VALUES('late', 'anna', NULL)")
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    #expect(try store.sweep().byCollection["albums"] == 2)
    #expect(try store.journalIsEmpty)
    try application.execute("COMMIT")
    // The triggers have told nothing, and without a second look this would be the end.
    #expect(try store.journalIsEmpty)
    #expect(try store.texts("SELECT id FROM album WHERE id = 'late'") == ["late"])
    try store.waitForJournal()
    #expect(try store.sweep().byCollection == ["albums": 1])
    #expect(try store.journalIsEmpty)
  }

  @Test("What an undo brings back does not follow once more what it refers to")
  func undone() throws {
    let store = try Music.store()
    let application = try store.database.session()
    try application.execute("BEGIN; INSERT INTO album VALUES('other', 'bob', NULL)")
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    let batch = try #require(try store.sweep().batch)
    _ = try store.writer.undo(batch, by: "me", at: 2)
    try application.execute("COMMIT")
    try store.settle()
    #expect(try store.texts("SELECT count(*) FROM album WHERE artist_id = 'anna'") == ["2"])
  }

  @Test("So does what refers to a row that a step deleted, however many steps come meanwhile")
  func lateReferenceToOwn() throws {
    let store = try Music.store()
    store.writer.rowsToAStep = 1
    let application = try store.database.session()
    try application.execute("BEGIN; INSERT INTO song(album_id) VALUES('a1')")
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    #expect(try store.sweep().byCollection["songs"] == 3)
    try application.execute("COMMIT")
    try store.waitForJournal()
    #expect(try store.sweep().byCollection == ["songs": 1])
  }

  @Test("A join row that an undo brings back without an end is no late one")
  func restoredJoinRow() throws {
    let store = try PostgresFixture(
      """
      { collections: { songs: { table: 'song', key: 'id' }, tags: { table: 'tag', key: 'id' } },
        relationships: [{ name: 'tags', from: 'songs', to: 'tags', toMany: true,
          join: { table: 'st', source: 'song', destination: 'tag' },
          rules: ['deleteDestinationIfAllSourcesDeleted'] }] }
      """,
      schema: """
        CREATE TABLE song(id int PRIMARY KEY); CREATE TABLE tag(id int PRIMARY KEY);
        CREATE TABLE st(song int, tag int); CREATE INDEX ON st(song); CREATE INDEX ON st(tag);
        INSERT INTO song VALUES(1); INSERT INTO tag VALUES(2); INSERT INTO st VALUES(1, 2);
        """)
    try store.sweep([.all])
    let application = try store.database.session()
    try application.execute("BEGIN; INSERT INTO song VALUES(9)")
    try store.bySQL("DELETE FROM song WHERE id = 1")
    let batch = try #require(try store.sweep().batch)
    _ = try store.writer.undo(batch, by: "me", at: 2)
    try application.execute("COMMIT")
    #expect(try store.sweep().deletedCount == 0)
    #expect(try store.texts("SELECT id FROM tag") == ["2"])
  }

  @Test("A reference that comes after a deletion was seen follows it at once")
  func arrivedReference() throws {
    let store = try Music.store()
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    try store.sweep()
    try store.bySQL("INSERT INTO album VALUES('new', 'anna', NULL), ('early', 'carl', NULL)")
    #expect(try store.sweep().byCollection == ["albums": 1])
    #expect(try store.texts("SELECT id FROM album WHERE artist_id = 'carl'") == ["early"])
  }

  // MARK: - What statement triggers do not see

  @Test(
    "Without its trigger, TRUNCATE leaves no trace; with it, tables are looked through",
    .enabled(if: TestedDialect.current == .fast, "the portable dialect has no such trigger"))
  func truncate() throws {
    let store = try Music.store()
    try store.bySQL("ALTER TABLE artist DISABLE TRIGGER cascade_truncated; TRUNCATE artist")
    #expect(try store.writer.rescanReason == nil)
    try store.bySQL("ALTER TABLE artist ENABLE TRIGGER cascade_truncated; TRUNCATE artist")
    #expect(try store.writer.rescanReason == .watchGap)
  }

  @Test("A replica's session passes triggers over, unless their owner says ALWAYS")
  func replica() throws {
    let store = try Music.store()
    let administrator = try store.database.session(as: "postgres")
    try administrator.execute("SET session_replication_role = replica")
    try administrator.execute("DELETE FROM artist WHERE id = 'anna'")
    #expect(try store.journalIsEmpty)
    try store.bySQL("ALTER TABLE artist ENABLE ALWAYS TRIGGER cascade_gone")
    try administrator.execute("DELETE FROM artist WHERE id = 'bob'")
    #expect(try store.writer.hasJournal)
    #expect(try store.reader.checkSetup().isEmpty)
  }

  // MARK: - Plans

  @Test("A step reads no whole table, where a session without its settings would")
  func plans() throws {
    let store = try Music.store()
    let counts = """
      SELECT sum(seq_scan) FROM pg_stat_user_tables WHERE relname IN ('album', 'song')
      """
    try store.bySQL("ANALYZE album; ANALYZE song")
    try store.reopen()
    let before = try store.texts(counts)
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    #expect(try store.sweep().outcome == .done)
    try store.reopen()
    #expect(try store.texts(counts) == before)
    try store.bySQL("DELETE FROM album WHERE artist_id = 'bob'; SELECT pg_stat_force_next_flush()")
    #expect(try store.texts(counts) != before)
  }

  // MARK: - Denials

  @Test("A denied deletion is refused at once, and names what denies it")
  func denial() throws {
    let model = Music.model().replacing(
      "rules: [\"deleteDestinationIfAllSourcesDeleted\"]",
      with: "rules: [\"denyDestinationDeletion\"]")
    let store = try PostgresFixture(model, schema: Music.schema)
    let error = #expect(throws: PostgresError.self) {
      try store.bySQL("DELETE FROM photo WHERE id = 1")
    }
    #expect(error?.sqlState == "23503")
    #expect(
      error?.message
        == "photos/1 must stay: albums/a1 holds it by \"photo\" (denyDestinationDeletion)")
    try store.bySQL("BEGIN; DELETE FROM album; DELETE FROM photo; COMMIT")
  }
}

extension Database {
  /// Runs statements that may have to wait on a thread of their own. With `committing`, the last
  /// thing is to commit when another session waits for a lock.
  func inBackground(
    _ role: String, _ statements: [String], committing: Bool = false
  ) -> BackgroundWork {
    BackgroundWork {
      do {
        let session = try self.session(as: role)
        for statement in statements { try session.execute(statement) }
        if !committing { return }
        try self.waitForBlocked()
        try session.execute("COMMIT")
      } catch {
        Issue.record(error)
      }
    }!
  }

  func waitForBlocked() throws {
    try wait("a session waits for a lock", "wait_event_type = 'Lock'")
  }

  /// Waits until a session of this database is as the condition says.
  func wait(_ what: String, _ condition: String) throws {
    let administrator = try session(as: "postgres")
    for _ in 0..<20_000 {
      let isAny = try administrator.run(
        """
        SELECT EXISTS (SELECT FROM pg_stat_activity
          WHERE datname = current_database() AND \(condition)), pg_sleep(0.001)
        """
      ).bool
      if isAny { return }
    }
    throw ClusterError(description: "not in time: \(what)")
  }
}
