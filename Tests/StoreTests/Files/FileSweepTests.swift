import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteTables
import CascadeSystem
import Testing
import SQLiteJournal
import SQLiteUndo
import SQLiteSweeps

@Suite("Trash and sweeps of files")
struct FileSweepTests {
  let files: FileFixture

  init() throws { files = try FileFixture(#"trash: "1h""#) }

  private func letGo(_ path: String) throws -> Int64 {
    try files.write(path)
    try files.store.bySQL("INSERT INTO album VALUES(1, '\(path)', NULL)")
    return try #require(try files.bySQL("DELETE FROM album"))
  }

  @Test("The trash forgets its files, and leaves no directory behind")
  func forgets() throws {
    let batch = try letGo("a/b/1")
    try files.tend()
    #expect(files.isKept("a/b/1", batch))
    _ = try files.store.writer.sweep([.trash], at: SystemClock.wall())
    try files.tend()
    #expect(files.isKept("a/b/1", batch))
    _ = try files.store.writer.sweep([.trash], at: SystemClock.wall() + 3_700_000)
    #expect(try files.tend().deletedFromTrash == 1)
    #expect(try files.content == ["a"])
    #expect(try files.rows("cascade_trash_file") == 0)
  }

  @Test("The trash of an earlier life is in nobody's way")
  func earlierLife() throws {
    try files.write(".cascade-trash/1/a", ".cascade-trash/40/a")
    try files.store.reopen()
    let batch = try letGo("a")
    #expect(batch > 40)
    #expect(try files.tend().moved == 1)
    #expect(files.isKept("a", batch) && files.isThere(".cascade-trash/1/a"))
  }

  @Test(
    "A path that leads out of its root is refused, in a column and in a list of a column",
    arguments: ["../x", "/etc/passwd", "a//b", ""])
  func outside(path: String) throws {
    for value in [#"{"cover":"\#(path)"}"#, #"{"extra":["a","\#(path)"]}"#] {
      #expect(throws: Rejection.self) {
        try files.apply(
          .put(Node("albums", .integer(1)), type: nil, value: JSONText(valid: value), edges: nil))
      }
    }
    #expect(try files.rows("album") == 0)
  }

  @Test("What lost its last edge goes with the sweep of files, though no other has seen that")
  func beforeOthers() throws {
    try files.write("1", "2", "3", "4")
    try files.store.bySQL(
      """
      INSERT INTO album VALUES(1, '1', NULL), (2, '2', '["2"]'), (3, '3', NULL), (4, '3', NULL)
      """)
    try files.store.bySQL(
      "DELETE FROM album WHERE id = 1; UPDATE album SET cover = NULL WHERE id < 4")
    let unknown = try files.store.reader.unreferencedFiles(files.surroundings).files
    #expect(unknown == [.file(root: "media", path: "4")])
    let swept = try files.store.writer.sweep([.files], at: SystemClock.wall())
    #expect(swept.files == 1)
    #expect(try files.tend().moved == 1)
    #expect(!files.isThere("1") && files.isThere("2") && files.isThere("3"))
    _ = try files.store.writer.sweep([.all], at: SystemClock.wall())
    try files.tend()
    #expect(files.isThere("2") && files.isThere("3"))
  }

  @Test(
    "Without a rule a file goes with the sweep of files, when nothing names it",
    arguments: [nil, 1] as [Int64?])
  func withoutRule(rows: Int64?) throws {
    let files = try FileFixture(#"trash: "1h""#, rules: "[]")
    if let rows { files.store.sweepsInSteps(of: rows) }
    try files.write("1", "2", "3", "4", "5", "never")
    try files.store.bySQL(
      """
      INSERT INTO album VALUES(1, '1', NULL), (2, '2', '["3", "5"]'), (3, '5', NULL), (4, '4', NULL)
      """)
    try files.store.bySQL("DELETE FROM album WHERE id < 3; UPDATE album SET cover = '5'")
    _ = try files.store.writer.sweep([.cascade, .refcount], at: SystemClock.wall())
    try files.apply(.delete(Node("albums", .integer(4))))
    _ = try files.store.writer.sweep([.all], at: SystemClock.wall())
    #expect(try files.tend().moved == 4)
    #expect(files.isThere("5") && files.isThere("never") && !files.isThere("4"))
  }

  @Test("A file that is brought back is where it was")
  func restores() throws {
    let batch = try letGo("a/1")
    try files.tend()
    try files.root.directory(".").removeDirectory("a")
    #expect(
      try files.store.writer.group { try files.store.writer.markFilesForRestore(batch, most: 9) }
        == 1)
    #expect(try files.tend().restored == 1)
    #expect(files.text("a/1") == "a/1")
    #expect(try files.rows("cascade_trash_file") == 0)
    #expect(try files.content == ["a"])
  }

  @Test("What is in its place now is listed and left alone")
  func occupied() throws {
    let batch = try letGo("1")
    try files.tend()
    try files.write("1")
    #expect(
      try files.store.writer.group { try files.store.writer.markFilesForRestore(batch, most: 9) }
        == 1)
    #expect(try files.tend().left.map(\.file) == [files.file("1")])
    #expect(files.isThere("1") && files.isKept("1", batch))
    #expect(try files.rows("cascade_trash_file WHERE fate = 0") == 1)
  }

  @Test("What an undo wanted back and did not get is told; the rest is back")
  func left() throws {
    try files.write("1", "2", "d/3")
    try files.store.bySQL(
      "INSERT INTO album VALUES(1, '1', NULL), (2, '2', NULL), (3, 'd/3', NULL)")
    let batch = try #require(try files.bySQL("DELETE FROM album"))
    try files.tend()
    let trash = try files.root.directory(".cascade-trash/\(batch)")
    try trash.remove("2")
    try files.root.directory(".").removeDirectory("d")
    try files.write("d")
    var result = try files.store.writer.undo(batch, by: "me", at: SystemClock.wall())
    for file in try files.tend().left { result.leave(file.file, because: file.reason) }
    #expect(result.left.map(\.what) == [#"{"file":"2","root":"media"}"#])
    #expect(try files.store.writer.filesToRestore(of: batch) == [files.file("d/3")])
    #expect(result.files == 2)
    try files.root.directory(".").remove("d")
    try files.tend()
    #expect(files.isThere("1") && files.isThere("d/3"))
  }

  @Test("A batch of files alone can be undone, and is forgotten in its time")
  func batchOfFiles() throws {
    let batch = try letGo("1")
    func listed() throws -> [Bool] {
      try files.store.reader.batches(after: 0, limit: 9).filter { $0.batch == batch }
        .map { $0.undoUntil != nil }
    }
    #expect(try listed() == [true])
    try files.tend()
    #expect(try listed() == [true])
    let later = SystemClock.wall() + 3_700_000
    #expect(try files.store.reader.planSweep([.trash]).batchesToDelete == 0)
    #expect(try files.store.reader.planSweep([.trash], at: later).batchesToDelete == 1)
    _ = try files.store.writer.undo(batch, by: "me", at: SystemClock.wall())
    try files.tend()
    #expect(try listed() == [false])
  }

  @Test("A file that was not moved yet stays when its batch is brought back")
  func restoresBeforeMove() throws {
    let batch = try letGo("1")
    #expect(
      try files.store.writer.group { try files.store.writer.markFilesForRestore(batch, most: 9) }
        == 1)
    try files.tend()
    #expect(files.isThere("1"))
    #expect(try files.rows("cascade_trash_file") == 0)
  }

  @Test("A sweep lets go what no edge names any more, whatever its rules were, in a batch")
  func sweep() throws {
    try files.write("1", "2")
    let note = Node("notes", .text("n"))
    let edges = ["1", "2"].map {
      Change.link(name: "by hand", from: note, to: files.file($0), rules: [])
    }
    try files.apply(.put(note, type: nil, value: nil, edges: nil), edges[0], edges[1])
    try files.apply(
      .unlink(name: "by hand", from: note, to: files.file("1"), as: .edgeDeleted))
    try files.tend()
    #expect(files.isThere("1"))
    #expect(try files.store.reader.planSweep([.files]).files == 1)
    #expect(try files.store.writer.sweep([.cascade], at: SystemClock.wall()).outcome == .nothing)
    let result = try files.store.writer.sweep([.files], at: SystemClock.wall())
    #expect(result.outcome == .done && result.files == 1)
    try files.tend()
    #expect(!files.isThere("1") && files.isThere("2"))
    #expect(files.isKept("1", try #require(result.batch)))
    #expect(try files.store.writer.sweep([.all], at: SystemClock.wall()).outcome == .nothing)
    try files.apply(files.edge("n", "1"))
    #expect(try files.store.edges().count == 2)
  }

  @Test("A file that was named and not named within one transaction was never named")
  func neverNamed() throws {
    try files.write("1")
    let note = Node("notes", .text("n"))
    try files.apply(
      .put(note, type: nil, value: nil, edges: nil), files.edge("n", "1"),
      .unlink(name: "of", from: note, to: files.file("1"), as: .sourceDeleted),
      files.edge("n", "2"), .unlink(name: "of", from: note, to: files.file("2"), as: .edgeDeleted),
      files.edge("n", "2"))
    #expect(try files.store.edges().count == 1)
    #expect(try files.store.writer.sweep([.files], at: SystemClock.wall()).files == 0)
    #expect(try files.store.reader.unreferencedFiles(files.surroundings).count == 1)
  }

  @Test("What no edge ever named is listed, and never removed")
  func unreferenced() throws {
    try files.write("a/1", "a/2", "b/3", "x", "y")
    try files.store.bySQL(#"INSERT INTO album VALUES(1, 'a/1', '["x"]')"#)
    let note = Node("notes", .text("n"))
    try files.apply(.put(note, type: nil, value: nil, edges: nil), files.edge("n", "b/3"))
    let found = try files.store.reader.unreferencedFiles(files.surroundings)
    #expect(found.count == 2)
    #expect(found.files == [files.file("a/2"), files.file("y")])
    _ = try files.store.writer.sweep([.all], at: SystemClock.wall())
    try files.tend()
    #expect(files.isThere("a/2") && files.isThere("y"))
    // What is on its way into the trash, and what is there, is none of them.
    try files.bySQL("DELETE FROM album")
    #expect(try files.store.reader.unreferencedFiles(files.surroundings).count == 2)
    try files.tend()
    #expect(try files.store.reader.unreferencedFiles(files.surroundings).count == 2)
  }

  @Test("Files without edges and edges without files are found, up to a limit")
  func check() throws {
    try files.write("1", "2", "3")
    try files.store.bySQL(
      #"INSERT INTO album VALUES(1, '1', NULL), (2, 'none', '["../up"]')"#)
    let findings = try files.store.reader.checkFiles(files.surroundings)
    #expect(findings.total == 4)
    #expect(
      findings.list.map(\.kind)
        == ["edgeWithoutFile", "edgeWithoutFile", "fileWithoutEdge", "fileWithoutEdge"])
    #expect(
      findings.list.map(\.message) == [
        "media:../up: the path leads out of its root: it has \"..\", but \"extra\" of albums/2 references it",
        "media:none: it does not exist, but \"cover\" of albums/2 references it",
        "no edge references media:2", "no edge references media:3",
      ])
    let few = try files.store.reader.checkFiles(files.surroundings, limit: 1)
    #expect((few.list.count, few.total) == (1, 4))
  }

  @Test("A model that names files otherwise lets none of them go")
  func otherModel() throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { relationships: [{ name: "f", from: "notes", to: { files: "media" }, property: "file",
            rules: ["deleteDestinationIfAllSourcesDeleted"] }],
          files: { media: "\(files.root.path)" } }
        """))
    try files.write("1")
    try store.apply([
      .put(
        Node("notes", .text("n")), type: nil, value: JSONText(valid: #"{"file": "1"}"#),
        edges: nil)
    ])
    let model = try StoreModel("{ files: { media: \"\(files.root.path)\" } }")
    let writer = try Writer(path: store.path, model: model)
    #expect(try writer.sweep([.files], at: SystemClock.wall()).files == 0)
    #expect(files.isThere("1"))
  }
}
