import StoreDefinition
import StoreFixtures
import Glibc
import CascadeModel
import CascadeSQLite
import CascadeEngine
import CascadeStore
import SQLiteStore
import SQLiteTables
import CascadeSystem
import Testing
import SQLiteUndo
import SQLiteSweeps
import SQLiteJournal

@Suite("Files on the disk")
struct FileTests {
  let files: FileFixture

  init() throws { files = try FileFixture() }

  @Test("A file is moved into the trash when its last edge is gone, wherever that was")
  func lastEdge() throws {
    try files.write("covers/1.jpg", "covers/2.jpg", "b.jpg")
    try files.store.bySQL(
      """
      INSERT INTO album VALUES(1, 'covers/1.jpg', '["b.jpg"]'), (2, 'covers/1.jpg', NULL),
        (3, 'covers/2.jpg', '["b.jpg"]')
      """)
    try files.bySQL("DELETE FROM album WHERE id = 1")
    #expect(try files.tend().moved == 0)
    let batch = try #require(try files.bySQL("DELETE FROM album WHERE id > 1"))
    let work = try files.tend()
    #expect((work.moved, work.missing, work.stillNamed, work.hasMore) == (3, 0, 0, false))
    for path in ["covers/1.jpg", "covers/2.jpg", "b.jpg"] {
      #expect(!files.isThere(path) && files.text(".cascade-trash/\(batch)/\(path)") == path)
    }
    #expect(try files.rows("cascade_released_file") == 0)
    #expect(try files.rows("cascade_trash_file") == 3)
  }

  @Test("A file that an object names by another name stays, and so does the edge")
  func namedByObject() throws {
    try files.write("1")
    let note = Node("notes", .text("n"))
    try files.apply(.put(note, type: nil, value: nil, edges: nil), files.edge("n", "1"))
    try files.store.bySQL("INSERT INTO album VALUES(1, '1', NULL)")
    try files.bySQL("DELETE FROM album")
    try files.tend()
    #expect(try files.isThere("1") && files.store.edges().count == 1)
    try files.apply(.delete(note))
    #expect(try files.tend().moved == 1)
  }

  @Test("A path that no file can have is no file's", arguments: [(1, 300), (3_000, 1)])
  func tooLong(parts: Int, length: Int) throws {
    let part = String(repeating: "x", count: length)
    let path = Array(repeating: part, count: parts).joined(separator: "/")
    try files.store.bySQL("INSERT INTO album VALUES(1, '\(path)', NULL)")
    try files.bySQL("DELETE FROM album")
    let work = try files.tend()
    #expect(work.missing == 1 && work.waiting.isEmpty)
  }

  @Test("A changed column lets its file go, in a batch that the trash can forget")
  func changedColumn() throws {
    try files.write("1", "2")
    try files.store.bySQL("INSERT INTO album VALUES(1, '1', NULL)")
    let batch = try #require(try files.bySQL("UPDATE album SET cover = '2'"))
    #expect(try files.tend().moved == 1)
    #expect(files.isKept("1", batch) && files.isThere("2"))
    #expect(try files.rows("cascade_ledger WHERE seq = \(batch)") == 1)
  }

  @Test("A file that a stored edge, a column or a list names stays", arguments: [0, 1, 2])
  func stillNamed(place: Int) throws {
    try files.write("1")
    let note = Node("notes", .text("n"))
    try files.apply(
      .put(note, type: nil, value: nil, edges: nil), files.edge("n", "1"))
    let holders = [
      "INSERT INTO album VALUES(1, '1', NULL)", #"INSERT INTO album VALUES(1, NULL, '["2", "1"]')"#,
      "INSERT INTO album VALUES(1, CAST('1' AS BLOB), NULL)",
    ]
    try files.store.bySQL(holders[place])
    try files.apply(.delete(note))
    try files.tend()
    #expect(files.isThere("1"))
    #expect(try files.rows("cascade_released_file") == 0)
    try files.bySQL("UPDATE album SET cover = NULL, extra = NULL")
    try files.tend()
    #expect(!files.isThere("1"))
  }

  @Test("A path that is no UTF-8 names no other file")
  func noText() throws {
    try files.write("\u{FFFD}.jpg")
    try files.store.bySQL(
      "INSERT INTO album VALUES(1, CAST(x'ff2e6a7067' AS TEXT), NULL); DELETE FROM album")
    try files.bySQL("INSERT INTO album VALUES(2, NULL, NULL)")
    let work = try files.tend()
    #expect(work.unmovable == ["media:\u{FFFD}.jpg: its path is not UTF-8"])
    #expect(files.isThere("\u{FFFD}.jpg"))
    #expect(try files.rows("cascade_released_file") == 0)
  }

  @Test("A file comes back once its root is what it was")
  func otherRoot() throws {
    try files.write("1")
    try files.store.bySQL("INSERT INTO album VALUES(1, '1', NULL)")
    let batch = try #require(try files.bySQL("DELETE FROM album"))
    try files.tend()
    let trash = "\(files.root.path)/.cascade-trash"
    #expect(unsafe rename(trash, "\(files.outside)/away") == 0)
    try files.store.writer.group { _ = try files.store.writer.markFilesForRestore(batch, most: -1) }
    #expect(try files.tend().left.count == 1)
    #expect(unsafe rename("\(files.outside)/away", trash) == 0)
    try files.store.writer.group { _ = try files.store.writer.markFilesForRestore(batch, most: -1) }
    #expect(try files.tend().restored == 1)
    #expect(files.isThere("1"))
  }

  @Test("A file whose edge comes back before it is moved stays")
  func cameBack() throws {
    try files.write("1", "2")
    try files.store.bySQL("INSERT INTO album VALUES(1, '1', NULL), (2, '2', NULL)")
    try files.bySQL("DELETE FROM album")
    #expect(try files.rows("cascade_released_file") == 2)
    try files.store.bySQL("INSERT INTO album VALUES(3, '1', NULL)")
    let work = try files.tend()
    #expect((work.moved, work.stillNamed) == (1, 1))
    #expect(files.isThere("1") && !files.isThere("2"))
  }

  @Test(
    "What was killed behind the move is found, and ends as it would have", arguments: [true, false])
  func killed(cameBack: Bool) throws {
    try files.write("a/1")
    try files.store.bySQL("INSERT INTO album VALUES(1, 'a/1', NULL)")
    let batch = try #require(try files.bySQL("DELETE FROM album"))
    // As the first step leaves it.
    let trash = try files.root.makeDirectory(beneath: ".cascade-trash/\(batch)/a", mode: 0o700)
    try files.root.directory("a").rename("1", to: trash, as: "1")
    if cameBack { try files.store.bySQL("INSERT INTO album VALUES(2, 'a/1', NULL)") }
    try files.tend()
    #expect(files.isThere("a/1") == cameBack)
    #expect(files.isKept("a/1", batch) == !cameBack)
    #expect(try files.rows("cascade_trash_file") == (cameBack ? 0 : 1))
    #expect(try files.rows("cascade_released_file") == 0)
  }

  @Test("Without a trash a file is removed")
  func noTrash() throws {
    let files = try FileFixture(#"trash: "0""#)
    try files.write("a/1")
    try files.store.bySQL("INSERT INTO album VALUES(1, 'a/1', NULL)")
    let batch = try #require(try files.bySQL("DELETE FROM album"))
    #expect(try files.tend().moved == 1)
    #expect(!files.isThere("a/1") && !files.isKept("a/1", batch))
    #expect(try files.rows("cascade_trash_file") == 0)
    #expect(try files.content == ["a"])
  }

  @Test("A file that is not there is nothing to worry about")
  func missing() throws {
    try files.store.bySQL("INSERT INTO album VALUES(1, 'none', NULL), (2, 'no/where', NULL)")
    try files.bySQL("DELETE FROM album")
    #expect(try files.tend().missing == 2)
    #expect(try files.rows("cascade_released_file") == 0)
  }

  @Test("A file that was written after it was let go waits for its edge, as long as a lease")
  func young() throws {
    try files.store.bySQL("INSERT INTO album VALUES(1, 'new', NULL)")
    try files.bySQL("DELETE FROM album")
    let now = SystemClock.wall()
    try files.store.bySQL("UPDATE cascade_released_file SET at = 1000")
    try files.write("new")
    #expect(try files.tend(at: now).moved == 0)
    #expect(files.isThere("new"))
    files.store.writer.retryFiles()
    #expect(try files.tend(at: now + 16 * 60_000).moved == 1)
    #expect(!files.isThere("new"))
  }

  @Test("Many files go in parts")
  func many() throws {
    let names = (0..<300).map { "d\($0 % 7)/\($0)" }
    for name in names { try files.write(name) }
    let values = names.enumerated().map { "(\($0), '\($1)', NULL)" }.joined(separator: ", ")
    try files.store.bySQL("INSERT INTO album VALUES\(values)")
    try files.bySQL("DELETE FROM album")
    #expect(try files.tend().moved == 300)
    #expect(names.allSatisfy { !files.isThere($0) })
  }

  // MARK: - Out of the root

  @Test(
    "A path out of its root, or into the trash, is never touched",
    arguments: [
      "../victim", "/etc/passwd", "a/../../victim", ".cascade-trash/9/x", "", "a//b", "./1",
    ])
  func escapes(path: String) throws {
    let outer = try Directory.open(files.outside)
    try outer.file("victim", .createNew).writeAll([1])
    try files.write("a/b", "1", ".cascade-trash/9/x")
    try files.store.bySQL("INSERT INTO album VALUES(1, '\(path)', NULL)")
    try files.bySQL("DELETE FROM album")
    let work = try files.tend()
    #expect(work.moved == 0)
    #expect(work.unmovable.count == 1, "\(work)")
    #expect(try outer.status(of: "victim") != nil)
    #expect(files.isThere("a/b") && files.isThere("1") && files.isThere(".cascade-trash/9/x"))
  }

  @Test("No link is followed, and no link is moved")
  func links() throws {
    let outer = try Directory.openOrMake("\(files.outside)/outer")
    try outer.file("victim", .createNew).writeAll([1])
    try files.write("real/1")
    try link("../outer", "dir")
    try link("../outer/victim", "file")
    try link("real", "inner")
    try files.store.bySQL(
      """
      INSERT INTO album VALUES(1, 'dir/victim', NULL), (2, 'file', NULL), (3, 'inner/1', NULL),
        (4, 'real', NULL)
      """)
    try files.bySQL("DELETE FROM album")
    let work = try files.tend()
    #expect(work.moved == 0 && work.unmovable.count == 4, "\(work)")
    #expect(try outer.status(of: "victim") != nil)
    #expect(files.isThere("real/1") && files.isThere("file"))
  }

  @Test("While the trash is a link, files wait and say so", arguments: ["..", "/no/where", "real"])
  func linkedTrash(target: String) throws {
    try files.write("1", "2", "real/2")
    try link(target, ".cascade-trash")
    try files.store.bySQL("INSERT INTO album VALUES(1, '1', NULL), (2, '2', NULL)")
    try files.bySQL("DELETE FROM album WHERE id = 1")
    let work = try files.tend()
    #expect(work.moved == 0 && work.unmovable.isEmpty)
    #expect(work.waiting.first?.hasPrefix("\(files.root.path)/.cascade-trash cannot be") == true)
    #expect(files.isThere("1"))
    #expect(unsafe unlink("\(files.root.path)/.cascade-trash") == 0)
    files.store.writer.retryFiles()
    #expect(try files.tend().moved == 1)
    #expect(!files.isThere("1"))
  }

  @Test("A file in a trash that became a link comes back when the trash is there again")
  func trashBecomesLink() throws {
    try files.write("1")
    try files.store.bySQL("INSERT INTO album VALUES(1, '1', NULL)")
    let batch = try #require(try files.bySQL("DELETE FROM album"))
    try files.tend()
    let trash = "\(files.root.path)/.cascade-trash"
    #expect(unsafe rename(trash, "\(files.outside)/trash") == 0)
    try link("\(files.outside)/trash", ".cascade-trash")
    _ = try files.store.writer.undo(
      batch, by: "test", at: SystemClock.wall(), manners: .none)
    #expect(try files.tend().waiting.contains { $0.contains("cannot be used") })
    #expect(!files.isThere("1"))
    #expect(unsafe unlink(trash) == 0 && rename("\(files.outside)/trash", trash) == 0)
    #expect(try files.tend().restored == 1)
    #expect(files.isThere("1"))
  }

  @Test("A kernel that resolves paths only step by step follows no link either")
  func stepwise() throws {
    try files.write("a/b/1")
    try link("a", "l")
    #expect(try files.root.directory(stepwiseBeneath: "a/b").names() == ["1"])
    for path in ["l", "l/b", "../media/a", "a/../a", "a//b"] {
      #expect(throws: SystemError.self) { _ = try files.root.directory(stepwiseBeneath: path).path }
    }
    for path in ["l", "l/b", "../media/a"] {
      #expect(throws: SystemError.self) { _ = try files.root.directory(beneath: path).path }
    }
  }

  private func link(_ target: String, _ name: String) throws {
    #expect(unsafe symlink(target, "\(files.root.path)/\(name)") == 0)
  }

  @Test("The store, its spool and what else is Cascade's are never moved, whoever names them")
  func ours() throws {
    let files = try FileFixture(hasOwnDirectory: true)
    try files.write("spool/new/1.json", "free")
    let name = files.store.path.split(separator: "/").last!
    let model = try StoreModel(
      """
      { collections: { albums: { table: "album", key: "id" } },
        relationships: [{ name: "cover", from: "albums", to: { files: "shm" }, column: "cover",
          rules: ["deleteDestinationIfAllSourcesDeleted"] },
          { name: "extra", from: "albums", to: { files: "media" }, column: "extra",
            rules: ["deleteDestinationIfAllSourcesDeleted"] }],
        files: { shm: "\(files.store.path.dropLast(name.count + 1))", media: "\(files.root.path)" } }
      """)
    let writer = try Writer(path: files.store.path, model: model)
    // SQLite's log is beside the file, whatever link leads there.
    let alias = "\(files.outside)/alias.db"
    #expect(unsafe symlink(files.store.path, alias) == 0)
    let around = StorePaths(store: alias, spool: "\(files.root.path)/spool")
    try files.store.bySQL(
      """
      INSERT INTO album VALUES(1, '\(name)', 'spool/new/1.json'), (2, '\(name)-wal', 'free'),
        (3, '\(name)-shm', NULL), (4, 'none', NULL)
      """)
    try files.store.bySQL("DELETE FROM album")
    _ = try writer.sweep([.cascade, .refcount], at: SystemClock.wall())
    let work = try writer.processFiles(around, at: SystemClock.wall(), budget: .seconds(1))
    #expect(work.moved == 1 && work.missing == 1 && work.unmovable.count == 4, "\(work)")
    #expect(files.isThere("spool/new/1.json") && !files.isThere("free"))
    #expect(try FileStatus.of(files.store.path) != nil)
    let kinds = try Reader(path: files.store.path, model: model)
      .checkFiles(around, limit: 0)
    #expect(kinds.total > 1)
  }

  @Test("A root that is away costs only its own files, which wait")
  func rootAway() throws {
    let files = try FileFixture(model: #", other: "/nowhere/at/all""#)
    try files.write("1")
    let note = Node("notes", .text("n"))
    try files.apply(
      .put(note, type: nil, value: nil, edges: nil), files.edge("n", "1"),
      .link(name: "elsewhere", from: note, to: .file(root: "other", path: "1"), rules: 32))
    try files.apply(.delete(note))
    let work = try files.tend()
    #expect(work.moved == 1 && !work.waiting.isEmpty)
    #expect(try files.store.writer.filesToMove == 1)
    let kinds = try files.store.reader.checkFiles(files.surroundings).list.map(\.kind)
    #expect(kinds == ["fileRoot"])
  }

  @Test("What is mounted at a root may be away: the empty directory below it is not the root")
  func unmounted() throws {
    let files = try FileFixture()
    try files.write("1", "2")
    try files.store.bySQL("INSERT INTO album VALUES(1, '1', NULL), (2, '2', NULL)")
    try files.tend()
    let away = "\(files.outside)/away"
    #expect(unsafe rename(files.root.path, away) == 0 && mkdir(files.root.path, 0o777) == 0)
    try files.bySQL("DELETE FROM album WHERE id = 1")
    for _ in 0..<2 {
      let waiting = try files.tend().waiting
      #expect(waiting.contains { $0.contains("a file system may not be mounted there") })
      try files.store.reopen()
    }
    #expect(try files.rows("cascade_released_file") == 1)
    #expect(unsafe rmdir(files.root.path) == 0 && rename(away, files.root.path) == 0)
    #expect(try files.tend().moved == 1)
    #expect(!files.isThere("1") && files.isThere("2"))
  }

  @Test("A root that is empty by itself is a root, and so is another one with files")
  func emptied() throws {
    let files = try FileFixture()
    try files.write("1")
    try files.store.bySQL("INSERT INTO album VALUES(1, '1', NULL), (2, '2', NULL)")
    try files.tend()
    #expect(unsafe unlink("\(files.root.path)/1") == 0)
    try files.bySQL("DELETE FROM album WHERE id = 1")
    #expect(try files.tend().missing == 1)
    #expect(unsafe rename(files.root.path, "\(files.outside)/away") == 0)
    let other = try Directory.openOrMake(files.root.path)
    try other.file("2", .createNew).writeAll([])
    try files.bySQL("DELETE FROM album WHERE id = 2")
    #expect(try files.tend().moved == 1)
  }

  @Test("Roots that are one directory by a link are left alone")
  func overlap() throws {
    let files = try FileFixture(model: #", other: "OUTSIDE/link""#)
    try files.write("1")
    try files.store.bySQL("INSERT INTO album VALUES(1, '1', NULL)")
    try files.bySQL("DELETE FROM album")
    #expect(try files.tend().moved == 0)
    let kinds = try files.store.reader.checkFiles(files.surroundings).list.map(\.kind)
    #expect(kinds.contains("unsafeFileRoot"))
  }
}
