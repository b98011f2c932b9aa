import CascadeModel
import CascadePostgres
import CascadeStore
import PostgresStore
import PostgresSupport
import Testing

@Suite(
  "Rows that nothing refers to, on PostgreSQL",
  .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct UnreferencedTests {
  private static let photos = "SELECT id FROM photo ORDER BY id"

  private func store(_ collection: String = "") throws -> PostgresFixture {
    let schema = """
      \(Music.schema) INSERT INTO photo VALUES(3), (4);
      CREATE TABLE fan(id int PRIMARY KEY, photo_id int); CREATE INDEX ON fan(photo_id);
      INSERT INTO fan VALUES(1, 4);
      """
    let model = Music.model()
      .replacing("table: \"photo\", key: \"id\"", with: "table: 'photo', key: 'id'\(collection)")
      .replacing("collections: {", with: "collections: { fans: { table: 'fan', key: 'id' },")
      .replacing(
        "relationships: [",
        with: "relationships: [{ name: 'of', from: 'fans', to: 'photos', column: 'photo_id' },")
    let store = try PostgresFixture(model, schema: schema)
    try store.sweep([.all])
    return store
  }

  @Test("What a counting rule never saw waits for approval, and goes once it is approved")
  func approved() throws {
    let store = try store()
    #expect(try store.reader.countUnreferenced().map(\.count) == [1])
    #expect(try store.reader.planSweep([.unreferenced]).deletedCount == 1)
    let held = try store.sweep([.unreferenced])
    #expect(held.outcome == .held && held.heldKinds == [.unreferenced])
    #expect(try store.texts(Self.photos) == ["1", "2", "3", "4"])
    #expect(try store.sweep([.all]).outcome == .nothing)
    _ = try store.writer.approve(plan: #require(held.plan))
    let result = try store.sweep([.unreferenced])
    #expect(result.byCollection == ["photos": 1])
    #expect(try store.texts(Self.photos) == ["1", "2", "4"])
    let undone = try store.writer.undo(#require(result.batch), by: "me", at: 2)
    #expect(undone.byCollection == ["photos": 1])
  }

  @Test("A collection that says so needs no approval, and what is leased is none of them")
  func free() throws {
    let store = try store(", unreferenced: true")
    try store.bySQL(
      "INSERT INTO photo VALUES(5); INSERT INTO cascade.lease(collection, key) VALUES('photos', 5)")
    #expect(try store.sweep([.unreferenced]).byCollection == ["photos": 1])
    #expect(try store.texts(Self.photos) == ["1", "2", "4", "5"])
    try store.bySQL("DELETE FROM cascade.lease; DELETE FROM fan")
    #expect(try store.sweep([.unreferenced]).byCollection == ["photos": 2])
    #expect(try store.sweep([.unreferenced]).outcome == .nothing)
  }

  @Test("What a session is about to refer to, by whatever name, stays")
  func race() throws {
    let store = try store(", unreferenced: true")
    let application = try store.database.session()
    try application.execute("BEGIN; INSERT INTO fan VALUES(2, 3)")
    #expect(try store.sweep([.unreferenced]).deletedCount == 0)
    try application.execute("COMMIT")
    #expect(try store.sweep([.unreferenced]).outcome == .nothing)
    #expect(try store.texts(Self.photos) == ["1", "2", "3", "4"])
  }

  @Test("Looking and deleting in one statement deletes what a session is about to refer to")
  func uncured() throws {
    let store = try store()
    let application = try store.database.session()
    try application.execute("BEGIN; INSERT INTO fan VALUES(2, 3)")
    let deletion = store.database.inBackground(
      "cascaded",
      [
        """
        DELETE FROM photo p WHERE NOT EXISTS (SELECT FROM album WHERE photo_id = p.id)
        AND NOT EXISTS (SELECT FROM fan WHERE photo_id = p.id)
        """
      ])
    try store.database.waitForBlocked()
    try application.execute("COMMIT")
    _ = consume deletion
    #expect(try store.texts(Self.photos) == ["1", "2", "4"])
  }

  @Test("A source that has no destination left is none, if a rule would keep it for one")
  func sources() throws {
    let model = Music.model("sweeps: { unreferenced: '@daily' }").replacing(
      "rules: [\"deleteDestinationIfAllSourcesDeleted\"]",
      with: "rules: [\"deleteSourceIfAllDestinationsDeleted\"]")
    let store = try PostgresFixture(model, schema: Music.schema)
    try store.sweep([.all])
    try store.bySQL("INSERT INTO album VALUES('bare', NULL, NULL)")
    #expect(try store.reader.planSweep([.unreferenced]).byCollection == ["albums": 1])
  }
}
