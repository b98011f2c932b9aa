import CascadeModel
import CascadePostgres
import CascadeStore
import PostgresStore
import PostgresSupport
import StoreDefinition
import Testing

/// What a held plan owns on PostgreSQL: rows of the journal, what waits, and files.
@Suite(
  "Causes of held plans on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct HeldCauseTests {
  private static let schema = """
    CREATE TABLE artist(id int PRIMARY KEY); CREATE TABLE cover(id int PRIMARY KEY);
    CREATE TABLE song(id int PRIMARY KEY, artist int, cover int);
    CREATE TABLE play(id int PRIMARY KEY, song int, cover int);
    CREATE TABLE song_tag(song int, tag int, PRIMARY KEY(song, tag));
    CREATE TABLE tag(id int PRIMARY KEY);
    CREATE INDEX ON song(artist); CREATE INDEX ON song(cover); CREATE INDEX ON play(song);
    CREATE INDEX ON play(cover); CREATE INDEX ON song_tag(tag);
    INSERT INTO artist SELECT generate_series(1, 4); INSERT INTO cover SELECT generate_series(1, 80);
    INSERT INTO song SELECT n, (n + 19) / 20, n FROM generate_series(1, 80) n;
    INSERT INTO tag SELECT generate_series(1, 80);
    INSERT INTO song_tag SELECT n, n FROM generate_series(1, 80) n;
    """

  /// Each song is of an artist, and has a cover and a tag for itself. More than ten nodes are held.
  func store(_ more: String = "", free: Bool = false) throws -> PostgresFixture {
    let store = try PostgresFixture(
      """
      { collections: { artists: { table: 'artist', key: 'id' },
          songs: { table: 'song', key: 'id' }, plays: { table: 'play', key: 'id' },
          covers: { table: 'cover', key: 'id', unreferenced: \(free) },
          tags: { table: 'tag', key: 'id' } },
        relationships: [
          { name: 'artist', from: 'songs', to: 'artists', column: 'artist',
            rules: ['deleteSourceIfDestinationDeleted'] },
          { name: 'cover', from: 'songs', to: 'covers', column: 'cover',
            rules: ['deleteDestinationIfAllSourcesDeleted'] },
          { name: 'played', from: 'plays', to: 'songs', column: 'song',
            rules: ['denyDestinationDeletion'] },
          { name: 'tag', from: 'songs', to: 'tags', toMany: true,
            join: { table: 'song_tag', source: 'song', destination: 'tag' } }],
        \(more) limits: { hold: { deletes: 10, share: 0.1 } } }
      """, schema: Self.schema, lenient: false)
    try store.sweep([.all])
    return store
  }

  func hold(_ store: PostgresFixture, _ sql: String, _ count: Int) throws -> Int64 {
    try store.bySQL(sql)
    let held = try store.sweep()
    #expect(held.outcome == .held && held.heldCount == count)
    return try #require(held.plan)
  }

  func count(_ store: PostgresFixture, _ rows: String) throws -> Int {
    Int(try store.texts("SELECT count(*) FROM \(rows)")[0])!
  }

  func waiting(_ store: PostgresFixture) throws -> [Int64?] {
    try store.writer.heldSweeps.map(\.plan)
  }

  // MARK: - Scans

  @Test("What only a held plan would let go is not unreferenced", arguments: [false, true])
  func unreferenced(rejected: Bool) throws {
    let store = try store(free: true)
    let plan = try hold(store, "DELETE FROM song WHERE artist = 1", 20)
    if rejected {
      #expect(try store.writer.reject(plan: plan, at: 2)?.givenUp == 40)
    }
    #expect(try store.sweep([.unreferenced]).deletedCount == 0)
    #expect(try store.reader.countUnreferenced().isEmpty)
    #expect(try count(store, "cover") == 80)
    if rejected {
      #expect(try store.sweep([.all, .unreferenced]).deletedCount == 0)
      // The reference of another node makes it a node like others.
      try store.bySQL("INSERT INTO song(id, cover) VALUES(500, 1)")
      try store.sweep([.dangling])
      try store.bySQL("DELETE FROM song WHERE id = 500")
      #expect(try store.sweep().byCollection == ["covers": 1])
      return
    }
    _ = try store.writer.approve(plan: plan)
    #expect(try store.sweep().byCollection == ["covers": 20])
  }

  @Test("What only a held plan would let go is reached")
  func unreachable() throws {
    let store = try store("roots: ['artists', 'plays'],")
    let plan = try hold(store, "DELETE FROM artist WHERE id = 1", 40)
    for kinds in [[SweepKind.unreachable], [.all]] {
      #expect(try store.sweep(kinds).deletedCount == 0)
    }
    #expect(try count(store, "song") == 80 && waiting(store) == [plan])
    _ = try store.writer.approve(plan: plan)
    #expect(try store.sweep().deletedCount == 40)
  }

  @Test("What a search finds is swept or held without what the journal has")
  func parts() throws {
    let store = try store()
    try store.bySQL("INSERT INTO song(id, artist) VALUES(500, 77)")
    try store.bySQL("DELETE FROM artist WHERE id = 1")
    let result = try store.sweep([.dangling])
    #expect(result.outcome == .held && result.heldCount == 40 && result.deletedCount == 1)
    #expect(try count(store, "song") == 80)
    _ = try store.writer.approve(plan: #require(result.plan))
    #expect(try store.sweep().deletedCount == 40)
  }

  @Test("An edge that comes to what a plan owns takes along nothing of it")
  func arrivals() throws {
    let store = try store()
    // A sweep deletes the artist once, so that it is known to have been deleted.
    try store.bySQL("INSERT INTO artist VALUES(9); INSERT INTO song(id, artist) VALUES(500, 9)")
    try store.bySQL("DELETE FROM artist WHERE id = 9")
    #expect(try store.sweep().deletedCount == 1)
    try store.bySQL(
      "INSERT INTO artist VALUES(9); UPDATE song SET artist = 9 WHERE artist = 1")
    try store.sweep()
    let plan = try hold(store, "DELETE FROM artist WHERE id = 9", 40)
    try store.bySQL("INSERT INTO song(id, artist) VALUES(501, 9)")
    try store.sweep()
    for _ in 0..<3 { try store.sweep([.cascade, .refcount, .dangling]) }
    #expect(try count(store, "song WHERE artist = 9") == 21 && waiting(store) == [plan])
    _ = try store.writer.approve(plan: plan)
    #expect(try store.sweep().byCollection == ["songs": 21, "covers": 20])
  }

  // MARK: - Used keys

  @Test("What is lost is of the new node, also while a plan owns the deletion of the old one")
  func usedAgain() throws {
    let store = try store()
    // 20 covers go; of cover 1 the application deletes the row.
    let plan = try hold(
      store, "DELETE FROM cover WHERE id = 1; DELETE FROM song WHERE artist = 1", 19)
    try store.bySQL("INSERT INTO cover VALUES(1); INSERT INTO song(id, cover) VALUES(500, 1)")
    try store.sweep()
    #expect(try count(store, "cover WHERE id = 1") == 1)
    try store.bySQL("DELETE FROM song WHERE id = 500")
    #expect(try store.sweep().byCollection == ["covers": 1])
    try store.bySQL("INSERT INTO cover VALUES(1)")
    _ = try store.writer.approve(plan: plan)
    #expect(try store.sweep().byCollection == ["covers": 19])
    #expect(try store.texts("SELECT id FROM cover WHERE id < 21") == ["1"])
  }

  @Test("A deletion afterwards ends what a plan owns of the node")
  func endsLosses() throws {
    let store = try store()
    let plan = try hold(store, "DELETE FROM song WHERE artist = 1", 20)
    try store.bySQL("DELETE FROM cover WHERE id = 1")
    try store.sweep()
    try store.bySQL("INSERT INTO cover VALUES(1)")
    _ = try store.writer.approve(plan: plan)
    #expect(try store.sweep().byCollection == ["covers": 19])
  }

  @Test("A join row from what a plan deletes is no edge of a node that came later")
  func joinRows() throws {
    let store = try store()
    let plan = try hold(store, "DELETE FROM artist WHERE id = 1", 40)
    try store.bySQL("DELETE FROM song WHERE id = 1")
    try store.bySQL("DELETE FROM tag WHERE id = 1; INSERT INTO tag VALUES(1)")
    try store.sweep()
    _ = try store.writer.approve(plan: plan)
    #expect(try store.sweep().byCollection == ["songs": 19, "covers": 19])
    #expect(try count(store, "tag") == 80 && count(store, "song_tag") == 60)
  }

  // MARK: - What waits

  @Test("What was held back, and would go now, belongs to the plan", arguments: [false, true])
  func candidates(reopens: Bool) throws {
    let store = try store()
    try store.bySQL("INSERT INTO play(id, song) VALUES(1, 1), (2, 21)")
    try store.bySQL("UPDATE song SET artist = 5 WHERE id IN (1, 21)")
    try store.bySQL("INSERT INTO artist VALUES(5)")
    try store.bySQL("DELETE FROM artist WHERE id = 5")
    #expect(try store.sweep().outcome == .blocked)
    // One may go now, together with much else.
    try store.bySQL("DELETE FROM play WHERE id = 1")
    let plan = try hold(store, "DELETE FROM artist WHERE id = 3", 42)
    if reopens { try store.reopen() }
    try store.sweep()
    #expect(try count(store, "song WHERE id IN (1, 21)") == 2)
    // The other one goes as soon as its own denial has ended.
    try store.bySQL("DELETE FROM play WHERE id = 2")
    #expect(try store.sweep().byCollection == ["songs": 1, "covers": 1])
    #expect(try count(store, "song WHERE id = 1") == 1 && waiting(store) == [plan])
    _ = try store.writer.approve(plan: plan)
    #expect(try store.sweep().byCollection == ["songs": 21, "covers": 21])
    #expect(try !store.hasWork && count(store, "cascade.journal") == 0)
  }

  @Test("What an approved plan has to leave goes when it may")
  func deniedThen() throws {
    let store = try store()
    let plan = try hold(store, "DELETE FROM artist WHERE id = 1", 40)
    try store.bySQL("INSERT INTO play(id, song) VALUES(1, 1)")
    _ = try store.writer.approve(plan: plan)
    let result = try store.sweep()
    #expect(result.deletedCount == 38 && result.blocked.count == 1)
    #expect(try waiting(store).isEmpty)
    try store.bySQL("DELETE FROM play")
    #expect(try store.sweep().byCollection == ["songs": 1, "covers": 1])
  }

  // MARK: - Stops

  @Test("An approved sweep that was stopped goes on as approved, and counts with no other")
  func stopped() throws {
    let store = try store()
    let plan = try hold(store, "DELETE FROM artist WHERE id = 1", 40)
    #expect(try !store.writer.hasJournal)
    _ = try store.writer.approve(plan: plan)
    try store.reopen()
    #expect(try store.writer.hasJournal)
    store.writer.rowsToAStep = 1
    struct Stop: Error {}
    var steps = 0
    #expect(throws: Stop.self) {
      _ = try store.writer.sweep(
        [.all], at: 1,
        manners: StepPolicy { _ in
          steps += 1
          if steps == 5 { throw Stop() }
        })
    }
    try store.reopen()
    // An other deletion is no part of it.
    try store.bySQL("DELETE FROM artist WHERE id = 2")
    let rest = try store.sweep()
    #expect(rest.outcome == .done || rest.outcome == .held)
    #expect(try count(store, "song WHERE artist = 1") == 0)
    try store.sweep()
    #expect(try count(store, "song WHERE artist = 2") == 20)
    #expect(try waiting(store).count == 1)
    #expect(try count(store, "cascade.recent_deletion") == 0)
    #expect(try count(store, "cascade.plan") == 1)
  }

  @Test("What another session had locked is approved still, when the lock ends")
  func locked() throws {
    let store = try store()
    let plan = try hold(store, "DELETE FROM song WHERE artist = 1", 20)
    let application = try store.database.session()
    try application.execute("BEGIN; SELECT FROM cover WHERE id = 1 FOR UPDATE")
    _ = try store.writer.approve(plan: plan)
    let result = try store.sweep()
    #expect(result.deletedCount == 19)
    #expect(try waiting(store).isEmpty && count(store, "cover") == 61)
    try store.reopen()
    try application.execute("COMMIT")
    // More than is left was approved for others.
    try store.bySQL("DELETE FROM song WHERE artist = 2")
    #expect(try store.sweep().deletedCount == 1 && waiting(store).count == 1)
    #expect(try count(store, "cover") == 60)
    #expect(try count(store, "cascade.held_cause") == 40)
  }

  @Test("What is carried out cannot be rejected any more")
  func rejectsTooLate() throws {
    let store = try store()
    let plan = try hold(store, "DELETE FROM artist WHERE id = 1", 40)
    _ = try store.writer.approve(plan: plan)
    struct Stop: Error {}
    store.writer.rowsToAStep = 1
    #expect(throws: Stop.self) {
      _ = try store.writer.sweep([.all], at: 1, manners: StepPolicy { _ in throw Stop() })
    }
    #expect(try store.writer.reject(plan: plan, at: 2) == nil)
    #expect(try count(store, "song WHERE artist = 1") < 20)
    try store.sweep()
    #expect(try count(store, "song WHERE artist = 1") == 0)
    #expect(try count(store, "cascade.held_cause") == 0)
  }

  @Test("A plan is listed by what it would delete, and a dry run has nothing of it")
  func lists() throws {
    let store = try store()
    let plan = try hold(store, "DELETE FROM artist WHERE id = 1", 40)
    try store.bySQL("DELETE FROM song WHERE id = 80")
    #expect(try store.reader.planSweep([.all]).byCollection == ["covers": 1])
    let held = try store.reader.plan(ofHeld: plan, kinds: [.cascade, .refcount])
    #expect(held.byCollection == ["songs": 20, "covers": 20] && held.isOverLimit)
    #expect(try store.reader.journal() != nil)
    try store.sweep()
    #expect(try store.reader.journal() == nil)
  }

  // MARK: - Files

  @Test("The files of rows that a plan owns wait with it", arguments: [false, true])
  func files(rejected: Bool) throws {
    let covers = try Covers(
      "limits: { hold: { deletes: 1, share: 0.1 } }",
      schema: """
        INSERT INTO artist VALUES('eve'), ('joe');
        INSERT INTO album VALUES('e1', 'eve', 'e.jpg'), ('j1', 'joe', 'j.jpg'), ('f1', 'joe', 'f.jpg');
        """)
    try covers.write("e.jpg", "j.jpg")
    let store = covers.store
    let plan = try hold(
      store, "DELETE FROM artist WHERE id = 'anna'; DELETE FROM album WHERE id = 'e1'", 2)
    try covers.settleFiles()
    try store.bySQL("DELETE FROM album WHERE id = 'j1'")
    let other = try store.sweep()
    for kinds in [[SweepKind.files], [.all]] { try store.sweep(kinds) }
    try covers.settleFiles()
    #expect(covers.text("e.jpg") != nil && covers.isKept("j.jpg", other.batch))
    if rejected {
      #expect(try store.writer.reject(plan: plan, at: 2)?.givenUp == 2)
      try store.sweep([.all])
      try covers.settleFiles()
      #expect(covers.text("e.jpg") != nil && covers.text("covers/1.jpg") != nil)
      return
    }
    _ = try store.writer.approve(plan: plan)
    // What an application deletes during a sweep may be held by the next one.
    store.writer.rowsToAStep = 1
    var isFirst = true
    let done = try store.writer.sweep(
      [.cascade, .refcount], at: 1,
      manners: StepPolicy { _ in
        if isFirst { try store.bySQL("DELETE FROM album WHERE id = 'f1'") }
        isFirst = false
      })
    let batch = try #require(done.batch)
    #expect(
      try store.texts("SELECT path FROM cascade.file WHERE batch > \(batch)") == ["f.jpg"])
    try covers.settleFiles()
    #expect(covers.isKept("e.jpg", done.batch) && covers.isKept("covers/1.jpg", done.batch))
  }
}

extension Covers {
  /// Goes on until no file has work that belongs to no plan.
  fileprivate func settleFiles() throws {
    for _ in 0..<10_000 {
      store.writer.retryFiles()
      try tend()
      let open = """
        SELECT count(*) FROM cascade.file
        WHERE state = 1 OR state = 0 AND batch IS NOT NULL
        """
      if try store.texts(open) == ["0"] { return }
      _ = try store.texts("SELECT pg_sleep(0.001)")
    }
  }
}
