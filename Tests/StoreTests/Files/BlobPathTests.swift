import CascadeModel
import CascadeEngine
import CascadeStore
import CascadeSystem
import SQLiteStore
import SQLiteSweeps
import SQLiteUndo
import StoreDefinition
import StoreFixtures
import Testing

/// Paths as beets writes them: the bytes of the path, in a column of type BLOB.
@Suite("Paths that are stored as blobs")
struct BlobPathTests {
  private let files: FileFixture

  private static let album = Node("albums", .integer(1))

  init() throws {
    files = try FileFixture(
      #"trash: "1h""#,
      schema: """
        CREATE TABLE album(id INTEGER PRIMARY KEY, cover BLOB, extra TEXT);
        CREATE INDEX album_cover ON album(cover);
        """)
  }

  private func insert(_ id: Int, _ path: String) throws {
    try files.store.bySQL("INSERT INTO album VALUES(\(id), CAST('\(path)' AS BLOB), NULL)")
  }

  private func holders(_ path: String) throws -> [Node] {
    guard case .alive(let holders, _, _) = try files.store.reader.why(files.file(path)) else {
      return []
    }
    return holders.map(\.source)
  }

  private func causes(_ path: String) throws -> [Destination] {
    guard case .deleted(let deletion) = try files.store.reader.why(files.file(path)) else {
      return []
    }
    return deletion.chain.map(\.subject)
  }

  @Test("The last row takes its file along, and undo brings both back")
  func lastRow() throws {
    try files.write("Nina/Ä 1.mp3")
    try insert(1, "Nina/Ä 1.mp3")
    try insert(2, "Nina/Ä 1.mp3")
    try files.bySQL("DELETE FROM album WHERE id = 2")
    try files.tend()
    #expect(files.isThere("Nina/Ä 1.mp3"))
    let batch = try #require(try files.bySQL("DELETE FROM album"))
    try files.tend()
    #expect(files.isKept("Nina/Ä 1.mp3", batch))
    #expect(
      try causes("Nina/Ä 1.mp3") == [files.file("Nina/Ä 1.mp3"), .node(BlobPathTests.album)])
    _ = try files.store.writer.undo(batch, by: "test", at: SystemClock.wall())
    try files.tend()
    #expect(files.isThere("Nina/Ä 1.mp3"))
  }

  @Test("A row names its file in why and in edges")
  func named() throws {
    try files.write("1.mp3")
    try insert(1, "1.mp3")
    #expect(try holders("1.mp3") == [BlobPathTests.album])
    let query = EdgeQuery(to: files.file("1.mp3"))
    #expect(try files.store.reader.edges(query, after: nil, limit: 10).edges.count == 1)
    #expect(try files.store.reader.count(query) == 1)
    #expect(
      try files.store.reader.edges(EdgeQuery(from: BlobPathTests.album), after: nil, limit: 10)
        .edges.map(\.destination) == [files.file("1.mp3")])
  }

  @Test("A blob and a text of the same bytes are one path")
  func sameBytes() throws {
    try files.write("1.mp3")
    try insert(1, "1.mp3")
    try files.store.bySQL("INSERT INTO album VALUES(2, '1.mp3', NULL)")
    try files.bySQL("UPDATE album SET cover = CAST(cover AS TEXT) WHERE id = 1")
    try files.bySQL("DELETE FROM album WHERE id = 2")
    try files.tend()
    #expect(files.isThere("1.mp3"))
    try files.bySQL("UPDATE album SET cover = CAST(cover AS BLOB)")
    try files.tend()
    #expect(files.isThere("1.mp3"))
    try files.bySQL("DELETE FROM album")
    try files.tend()
    #expect(!files.isThere("1.mp3"))
  }

  @Test("Check knows which file a row names, and which it misses")
  func check() throws {
    try files.write("1.mp3", "unnamed.mp3")
    try insert(1, "1.mp3")
    try insert(2, "missing.mp3")
    let findings = try files.store.reader.checkFiles(files.surroundings)
    #expect(
      findings.list.compactMap(\.file).sorted { "\($0)" < "\($1)" }
        == [files.file("missing.mp3"), files.file("unnamed.mp3")])
  }

  @Test("A file of a row that is gone is no file that was never named")
  func neverNamed() throws {
    try files.write("1.mp3", "2.mp3", "unnamed.mp3")
    try insert(1, "1.mp3")
    try insert(2, "2.mp3")
    try files.store.bySQL("DELETE FROM album WHERE id = 1")
    #expect(
      try files.store.reader.unreferencedFiles(files.surroundings).files
        == [files.file("unnamed.mp3")])
  }

  @Test("The sweep of files lets a file go that no rule releases")
  func sweepOfFiles() throws {
    let files = try FileFixture(
      #"trash: "1h""#, rules: "[]",
      schema: "CREATE TABLE album(id INTEGER PRIMARY KEY, cover BLOB, extra TEXT)")
    try files.write("1.mp3", "2.mp3")
    try files.store.bySQL("INSERT INTO album VALUES(1, CAST('1.mp3' AS BLOB), NULL)")
    try files.store.bySQL("INSERT INTO album VALUES(2, CAST('2.mp3' AS BLOB), NULL)")
    try files.bySQL("DELETE FROM album WHERE id = 1")
    #expect(try files.store.writer.sweep([.files], at: SystemClock.wall()).files == 1)
    try files.tend()
    #expect(!files.isThere("1.mp3") && files.isThere("2.mp3"))
  }
}
