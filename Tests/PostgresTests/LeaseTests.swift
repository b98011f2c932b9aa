import CascadeModel
import CascadePostgres
import CascadeStore
import PostgresStore
import PostgresSupport
import StoreDefinition
import Testing

@Suite("Leases on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct LeaseTests {
  private static let lease = "INSERT INTO cascade.lease(collection, key, owner) VALUES"
  private static let albums = "SELECT id FROM album ORDER BY id"

  @Test("What an application leases stays, with what hangs on it, and goes when the lease ends")
  func spares() throws {
    let store = try Music.store()
    try store.bySQL("\(Self.lease)('albums', 'a1', 'upload'); DELETE FROM artist WHERE id = 'anna'")
    #expect(try store.sweep().byCollection == ["albums": 1, "songs": 1])
    #expect(try store.texts(Self.albums) == ["a1", "b1"])
    #expect(try store.texts("SELECT count(*) FROM song WHERE album_id = 'a1'") == ["2"])
    #expect(try store.reader.planSweep([.cascade]).deletedCount == 0)
    guard
      case .alive(_, _, let leases) = try store.reader.why(.node(Node("albums", .text("a1"))))
    else {
      Issue.record("not alive")
      return
    }
    #expect(leases.map(\.owner) == ["upload"])
    #expect(try !store.writer.hasReleasedCandidate(at: 1))
    try store.bySQL("DELETE FROM cascade.lease")
    #expect(try store.writer.hasReleasedCandidate(at: 1))
    #expect(try store.sweep().byCollection == ["albums": 1, "songs": 2, "photos": 1])
    #expect(try !store.writer.hasReleasedCandidate(at: 1))
    #expect(try store.journalIsEmpty)
  }

  @Test("A lease counts like a reference, and ends at its time")
  func counted() throws {
    let store = try Music.store()
    let node = Node("photos", .integer(1))
    let taken = try store.writer.lease(
      [.node(node)], owner: "me", seconds: 600, connection: nil, at: 1)
    #expect(try store.reader.leases() == taken)
    try store.bySQL("DELETE FROM album WHERE id = 'a1'")
    #expect(try store.sweep().byCollection == ["songs": 2])
    let (wereAny, next) = try store.writer.deleteExpiredLeases(at: 0)
    #expect(!wereAny && (590_000...600_000).contains(next ?? 0))
    try store.bySQL("UPDATE cascade.lease SET expires = 1")
    let end = try store.writer.deleteExpiredLeases(at: 0)
    #expect(end.wereAny && end.next == nil)
    #expect(try store.reader.leases().isEmpty)
    #expect(try store.sweep().byCollection == ["photos": 1])
  }

  @Test("A lease is renewed by its owner, and ends with its connection")
  func renewed() throws {
    let store = try Music.store()
    let subjects: [Lease.Subject] = [.node(Node("albums", .text("a1"))), .collection("songs")]
    for connection in [nil, 7, 7] as [Int64?] {
      try store.writer.lease(subjects, owner: "me", seconds: 60, connection: connection, at: 1)
    }
    #expect(try store.reader.leases().count == 4)
    try store.writer.releaseConnection(7)
    #expect(try store.reader.leases().map(\.isOfConnection) == [false, false])
    #expect(try store.writer.release(subjects, owner: "another") == 0)
    #expect(try store.writer.release(subjects, owner: "me") == 2)
  }

  @Test("A lease of a collection holds all its rows, and those alone")
  func collection() throws {
    let store = try Music.store()
    try store.bySQL("\(Self.lease)('songs', NULL, 'x'); DELETE FROM artist WHERE id = 'anna'")
    #expect(try store.sweep().byCollection == ["albums": 2, "photos": 1])
    try store.bySQL("DELETE FROM cascade.lease")
    #expect(try store.sweep().byCollection == ["songs": 3])
  }

  @Test("A change file deletes what it names although it is leased, and spares what would follow")
  func changeFile() throws {
    let store = try Music.store()
    try store.bySQL("\(Self.lease)('artists', 'anna', 'x'), ('albums', 'a1', 'x')")
    let receipt = try store.apply([.delete(Node("artists", .text("anna")))])
    #expect(receipt.deletedCount == 3)
    #expect(try store.texts(Self.albums) == ["a1", "b1"])
    #expect(try store.sweep().deletedCount == 0)
    try store.bySQL("DELETE FROM cascade.lease")
    #expect(try store.writer.hasReleasedCandidate(at: 1))
    #expect(try store.sweep().byCollection == ["albums": 1, "songs": 2, "photos": 1])
  }

  @Test("A key is leased in whatever way its type writes it; one that no row can have is refused")
  func keys() throws {
    let store = try Music.store()
    let song = try store.texts("SELECT id FROM song WHERE album_id = 'a2'")[0]
    try store.bySQL("\(Self.lease)('songs', '{\(song.uppercased())}', 'x'), ('photos', ' 01', 'x')")
    #expect(try store.texts("SELECT key FROM cascade.lease ORDER BY id") == [song, "1"])
    #expect(throws: PostgresError.self) { try store.bySQL("\(Self.lease)('photos', 'one', 'x')") }
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    #expect(try store.sweep().byCollection == ["albums": 2, "songs": 2])
  }

  @Test("A lease runs on when the server's clock is set")
  func clock() throws {
    let store = try Music.store()
    try store.bySQL("\(Self.lease)('songs', NULL, 'x')")
    func end() throws -> Int64 { try Int64(store.texts("SELECT expires FROM cascade.lease")[0])! }
    let before = try end()
    try store.writer.noteTime(wall: 0, elapsed: 0)
    try store.writer.noteTime(wall: 0, elapsed: 100_000)
    #expect((-100 ... -98).contains(try end() - before))
  }
}
