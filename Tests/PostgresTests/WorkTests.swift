import CascadeModel
import CascadePostgres
import CascadeStore
import PostgresStore
import PostgresSupport
import StoreDefinition
import Testing

/// What a sweep writes, and what the daemon asks, besides what goes.
@Suite("The daemon's work on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct WorkTests {
  @Test("What a sweep deletes itself is followed without a row of the journal or of work for it")
  func ownRows() throws {
    let store = try Music.store()
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    #expect(try store.texts("SELECT key FROM cascade.journal") == ["anna"])
    store.writer.rowsToAStep = 1
    var most = 0
    _ = try store.writer.sweep(
      [.all], at: 1,
      manners: StepPolicy { _ in
        let gone = "SELECT count(*) FROM cascade.work WHERE what = 1"
        most = max(most, Int(try store.texts(gone)[0])!)
      })
    #expect(most == 1)
    #expect(try store.texts("SELECT id FROM song WHERE album_id LIKE 'a%'").isEmpty)
    #expect(try !store.hasWork)
    #expect(try store.texts("SELECT count(*) FROM cascade.followed") == ["0"])
  }

  @Test("What a sweep has deleted is explained also while the sweep goes on")
  func whyMeanwhile() throws {
    let store = try Music.store()
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    store.writer.rowsToAStep = 1
    var explained = 0
    _ = try store.writer.sweep(
      [.all], at: 1,
      manners: StepPolicy { _ in
        for key in try store.texts("SELECT keys[1] FROM cascade.deleted WHERE rule = 4 LIMIT 1") {
          let album = try store.reader.why(.node(Node("albums", .text(key))))
          if case .deleted(let deletion) = album, deletion.chain.count == 2 { explained += 1 }
        }
      })
    #expect(explained > 1)
  }

  @Test(
    "Of edges that are only counted, the journal gets one to each destination from a statement",
    .enabled(if: TestedDialect.current == .fast, "the portable dialect has triggers of rows"))
  func countedEdges() throws {
    let store = try Music.store()
    try store.bySQL("UPDATE album SET photo_id = 2")
    try store.sweep()
    try store.bySQL("DELETE FROM album")
    #expect(try store.texts("SELECT key || other FROM cascade.journal WHERE what = 2") == ["a12"])
    #expect(try store.sweep().byCollection == ["songs": 4, "photos": 1])
  }

  @Test("A small sweep takes the journal and deletes in one transaction")
  func atOnce() throws {
    let store = try Music.store()
    // Other tests may keep the server busy.
    store.writer.longestAtOnce = .seconds(60)
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    #expect(try store.sweep().deletedCount == 6)
    #expect(try store.texts("SELECT count(DISTINCT xmin::text) FROM cascade.deleted") == ["1"])
  }

  @Test("A step that meets too many rows for its time takes fewer, and the sweep ends the same")
  func slow() throws {
    let store = try Music.store()
    try store.bySQL(
      """
      INSERT INTO song(album_id) SELECT 'a1' FROM generate_series(1, 60);
      CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_sleep(0.01); RETURN OLD; END $$;
      CREATE TRIGGER slow BEFORE DELETE ON song FOR EACH ROW EXECUTE FUNCTION slow();
      DELETE FROM album WHERE id = 'a1'
      """)
    let result = try store.sweep()
    #expect(result.byCollection["songs"] == 62)
    #expect(result.lockMilliseconds.count > 2)
  }

  @Test("While the daemon works no row asks for notifications, however much others commit")
  func busy() throws {
    let store = try Music.store()
    let watch = try #require(try PostgresEngine().watchCommits(of: store.database.location))
    for round in 0..<3 {
      try store.bySQL("INSERT INTO artist VALUES('\(round)')")
      try store.bySQL("DELETE FROM artist WHERE name IS NULL")
      #expect(try watch.next())
      #expect(try store.texts("SELECT count(*) FROM cascade.asleep") == ["0"])
    }
    try store.sweep()
    try store.settle()
    let isNews = try watch.next()
    let wanted = store.database.dialect == .fast ? ["1"] : ["0"]
    #expect(try !isNews && store.texts("SELECT count(*) FROM cascade.asleep") == wanted)
  }

  @Test("A table that was made anew is bound again, and a trigger that was disabled comes back")
  func schema() throws {
    let store = try Music.store()
    let triggers = """
      SELECT count(*) FROM pg_trigger WHERE tgrelid = 'song'::regclass AND tgname LIKE 'cascade%'
        AND tgenabled <> 'D'
      """
    _ = try store.writer.followSchema()
    let before = try store.texts(triggers)
    try store.bySQL(
      """
      DROP TABLE song; CREATE TABLE song(id uuid PRIMARY KEY, album_id varchar(20));
      CREATE INDEX ON song(album_id)
      """)
    _ = try store.writer.followSchema()
    #expect(try store.texts(triggers) == before)
    try store.bySQL("ALTER TABLE song DISABLE TRIGGER cascade_changed")
    _ = try store.writer.followSchema()
    #expect(try store.texts(triggers) == before)
    try store.bySQL("ALTER TABLE song DROP COLUMN album_id CASCADE")
    _ = try store.writer.followSchema()
    #expect(!store.writer.bindingProblems.isEmpty)
  }

  @Test("A plan counts a node once that is named beside what takes it along")
  func leaves() throws {
    let store = try Music.store()
    let song = try store.texts("SELECT id FROM song WHERE album_id = 'a1' LIMIT 1")[0]
    let plan = try store.reader.plan(
      deleting: [Node("songs", .text(song)), Node("artists", .text("anna"))])
    #expect(plan.byCollection == ["artists": 1, "albums": 2, "songs": 3, "photos": 1])
    #expect(plan.deletedCount == 7)
    #expect(plan.steps.count == 7)
    #expect(plan.byRule["deleteSourceIfDestinationDeleted"] == 4)
  }

  @Test("A held plan of leaves keeps its number although other leaves would go")
  func leavesOfPlans() throws {
    let store = try Music.store("limits: { hold: { deletes: 1, share: 0.1 } }", lenient: false)
    try store.bySQL("DELETE FROM album WHERE id = 'a1'")
    let first = try store.sweep()
    #expect(first.heldCount == 3)
    try store.bySQL("UPDATE song SET id = gen_random_uuid() WHERE album_id = 'a1'")
    _ = try store.sweep()
    #expect(try store.writer.heldSweeps.map(\.plan) == [first.plan])
    _ = try store.writer.approve(plan: #require(first.plan))
    #expect(try store.sweep().deletedCount == 3)
  }
}
