import CascadeModel
import CascadePostgres
import CascadeStore
import PostgresStore
import PostgresSupport
import Testing

/// A session that takes a lease, one that deletes what led to the row, and the sweep.
@Suite("Races of leases on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct LeaseRaceTests {
  private static let lease =
    "BEGIN; INSERT INTO cascade.lease(collection, key) VALUES('albums', 'a1')"
  private static let albums = "SELECT id FROM album ORDER BY id"

  @Test("A statement that looks for leases and deletes, deletes what is leased while it waits")
  func uncured() throws {
    let store = try Music.store()
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    let application = try store.database.session()
    try application.execute(Self.lease)
    let deletion = store.database.inBackground(
      "cascaded",
      [
        """
        DELETE FROM album a WHERE artist_id = 'anna' AND NOT EXISTS (
          SELECT FROM cascade.lease l WHERE l.collection = 'albums' AND l.key = a.id)
        """
      ])
    try store.database.waitForBlocked()
    try application.execute("COMMIT")
    _ = consume deletion
    #expect(try store.texts(Self.albums) == ["b1"])
  }

  @Test("A sweep leaves what is leased while it waits for the lease's transaction")
  func cured() throws {
    let store = try Music.store()
    let application = store.database.inBackground("application", [Self.lease], committing: true)
    try store.database.wait("a transaction is open", "state = 'idle in transaction'")
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    #expect(try store.sweep().byCollection == ["albums": 1, "songs": 1])
    _ = consume application
    #expect(try store.texts(Self.albums) == ["a1", "b1"])
    try store.bySQL("DELETE FROM cascade.lease")
    #expect(try store.sweep().byCollection == ["albums": 1, "songs": 2, "photos": 1])
  }

  @Test("A sweep deletes nothing while a lease of a whole collection is about to be committed")
  func collection() throws {
    let store = try Music.store()
    let application = try store.database.session()
    try application.execute("BEGIN; INSERT INTO cascade.lease(collection) VALUES('songs')")
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    let error = #expect(throws: PostgresError.self) { try store.sweep() }
    #expect(error?.isConflict == true)
    try application.execute("COMMIT")
    #expect(try store.sweep().byCollection == ["albums": 2, "photos": 1])
  }

  @Test("A lease that is rolled back held nothing")
  func rolledBack() throws {
    let store = try Music.store()
    let application = try store.database.session()
    try application.execute(Self.lease)
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    try application.execute("ROLLBACK")
    #expect(try store.sweep().byCollection == ["albums": 2, "songs": 3, "photos": 1])
  }

  @Test("A lease that comes after a step has deleted its row waits for the step, and names nothing")
  func tooLate() throws {
    let store = try Music.store()
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    store.writer.rowsToAStep = 1
    var isTaken = false
    let result = try store.writer.sweep(
      [.cascade, .refcount], at: 1,
      manners: StepPolicy { _ in
        let isGone = try store.texts("SELECT id FROM album WHERE id = 'a1'").isEmpty
        if isTaken || !isGone { return }
        try store.bySQL("\(Self.lease); COMMIT")
        isTaken = true
      })
    #expect(isTaken)
    #expect(result.byCollection == ["albums": 2, "songs": 3, "photos": 1])
  }
}
