import CascadeModel
import CascadePostgres
import CascadeStore
import PostgresStore
import PostgresSupport
import Testing

/// Changes of tables by an application, with and without `migrate begin`.
@Suite("Migrations on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct MigrationTests {
  private static func begin(_ store: PostgresFixture) throws {
    try store.writer.set(OperatorPause(at: 1, user: 0, isForMigration: true))
  }

  private static func end(_ store: PostgresFixture) throws -> AttachReport {
    try store.writer.set(nil)
    return try store.writer.attach(createIndexes: false)
  }

  private static let widen = "ALTER TABLE album ALTER photo_id TYPE bigint"

  @Test("A trigger keeps a column from getting another type; during a migration there is none")
  func types() throws {
    let store = try Music.store()
    let error = #expect(throws: PostgresError.self) { try store.bySQL(Self.widen) }
    #expect(error?.message.contains("used in a trigger definition") == true)
    try Self.begin(store)
    try store.bySQL(Self.widen)
    #expect(try Self.end(store).triggersMade.contains("cascade_changed on public.album"))
    try store.sweep([.all])
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    #expect(try store.sweep().byCollection == ["albums": 2, "songs": 3, "photos": 1])
  }

  @Test("Tables may be rebuilt, one after the other, and what happens meanwhile is looked for then")
  func rebuilt() throws {
    let store = try Music.store()
    try Self.begin(store)
    for statement in [
      "CREATE TABLE a2(id text PRIMARY KEY, artist_id text, photo_id int)",
      "INSERT INTO a2 SELECT * FROM album", "DROP TABLE album",
      "DELETE FROM artist WHERE id = 'anna'", "ALTER TABLE a2 RENAME TO album",
      "CREATE INDEX ON album(artist_id)", "CREATE INDEX ON album(photo_id)",
      "GRANT ALL ON album TO cascaded",
    ] { try store.bySQL(statement) }
    #expect(try Self.end(store).hasWatchGap)
    #expect(try store.writer.rescanReason == .watchGap)
    #expect(try store.sweep([.all]).byCollection == ["albums": 2, "songs": 3, "photos": 1])
  }

  @Test("A daemon that starts during a migration makes no trigger, and what could be undone stays")
  func restarted() throws {
    let store = try Music.store()
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    let batch = try #require(try store.sweep().batch)
    try Self.begin(store)
    try store.reopen()
    #expect(try store.writer.operatorPause?.isForMigration == true)
    try store.writer.followSchema()
    try store.bySQL(Self.widen)
    #expect(try store.texts("SELECT count(*) FROM cascade.deleted_node") == ["7"])
    _ = try Self.end(store)
    #expect(try store.writer.operatorPause == nil)
    #expect(try store.reader.checkSetup().isEmpty)
    #expect(try store.writer.undo(batch, by: "me", at: 2).restored == 6)
  }

  @Test("What a rule denies can be deleted during a migration, and leases are kept as ever")
  func denied() throws {
    let rule = "rules: [\"deleteDestinationIfAllSourcesDeleted\"]"
    let model = Music.model().replacing(rule, with: "rules: [\"denyDestinationDeletion\"]")
    let store = try PostgresFixture(model, schema: Music.schema)
    try store.sweep([.all])
    #expect(throws: PostgresError.self) { try store.bySQL("DELETE FROM photo") }
    try Self.begin(store)
    try store.bySQL("DELETE FROM photo; DROP TABLE song CASCADE")
    try store.bySQL("INSERT INTO cascade.lease(collection, key) VALUES('albums', 'a1')")
    try store.bySQL("CREATE TABLE song(id uuid PRIMARY KEY, album_id text)")
    try store.bySQL("CREATE INDEX ON song(album_id); GRANT ALL ON song TO cascaded")
    _ = try Self.end(store)
    try store.bySQL("DELETE FROM artist")
    try store.sweep()
    #expect(try store.texts("SELECT id FROM album") == ["a1"])
  }
}
