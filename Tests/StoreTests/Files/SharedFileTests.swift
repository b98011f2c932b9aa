import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteTables
import CascadeSystem
import Testing
import SQLiteUndo
import SQLiteSweeps

/// What an edge names again while it lies in the trash.
@Suite("Files that come back into use")
struct SharedFileTests {
  let files: FileFixture

  init() throws { files = try FileFixture(#"trash: "1h""#) }

  private func forgetTrash() throws {
    _ = try files.store.writer.sweep([.trash], at: SystemClock.wall() + 3_700_000)
    while try files.tend().hasMore {}
  }

  @Test("What an edge names again is not removed with the trash, but back in its place")
  func namedAgain() throws {
    try files.write("1", "2", "3")
    try files.store.bySQL(
      "INSERT INTO album VALUES(1, '1', NULL), (2, '2', NULL), (3, '3', NULL)")
    let batch = try #require(try files.bySQL("DELETE FROM album"))
    try files.tend()
    try files.store.bySQL("INSERT INTO album VALUES(4, '1', NULL), (5, '3', NULL)")
    // This one has got another file.
    try files.write("3")
    try forgetTrash()
    #expect(files.isThere("1") && files.isThere("3") && !files.isThere("2"))
    #expect(["1", "2", "3"].allSatisfy { !files.isKept($0, batch) })
    #expect(try files.rows("cascade_trash_file") == 0)
  }

  @Test("An undo brings a file back that went with another batch", arguments: 0...2)
  func sharedByBatches(way: Int) throws {
    try files.write("1")
    let rows = ["(1, '1', NULL), (2, '1', NULL)", #"(1, NULL, '["1"]'), (2, NULL, '["1"]')"#]
    if way < 2 { try files.store.bySQL("INSERT INTO album VALUES \(rows[way])") }
    let collection = way < 2 ? "albums" : "notes"
    let nodes = [1, 2].map { Node(collection, .integer($0)) }
    if way == 2 {
      for key in 1...2 { try files.apply(put("notes/\(key)", #"{"file":"1"}"#)) }
    }
    let batches = try nodes.map { try #require(files.apply(.delete($0)).batch) }
    try files.tend()
    #expect(files.isKept("1", batches[1]))
    for batch in batches {
      _ = try files.store.writer.undo(batch, by: "me", at: SystemClock.wall())
      try files.tend()
      #expect(files.isThere("1"))
    }
  }

  @Test("A path of digits that a column keeps as a number lets its file go")
  func digits() throws {
    try files.write("1001", "1002")
    try files.store.bySQL(
      """
      DROP TABLE album; CREATE TABLE album(id INTEGER PRIMARY KEY, cover STRING, extra TEXT);
      INSERT INTO album(id, cover) VALUES(1, '1001'), (2, '1002'), (3, '1002')
      """)
    _ = try files.store.writer.sweep([.all], at: 1)
    _ = try files.bySQL("DELETE FROM album WHERE id < 3")
    try files.tend()
    #expect(!files.isThere("1001") && files.isThere("1002"))
  }
}
