import CascadeModel
import CascadeSQLite
import CascadeStore
import CascadeSystem
import Glibc
import SQLiteStore
import SQLiteSweeps
import SQLiteTables
import SQLiteUndo
import StoreDefinition
import StoreFixtures
import Testing

/// To which store a root of files belongs, and what becomes of its files when the model calls it something
/// else, or the store is an older one.
@Suite("Roots of files")
struct RootTests {
  let files: FileFixture

  init() throws {
    files = try FileFixture(hasOwnDirectory: true)
    try files.write("1", "2")
    try files.store.bySQL("INSERT INTO album VALUES(1, '1', NULL), (2, '2', NULL)")
    _ = try files.store.writer.sweep([.all], at: 1)
    try files.tend()
  }

  private func copy(_ name: String) throws -> String {
    let path = "\(files.outside)/\(name).db"
    try files.store.bySQL("VACUUM INTO '\(path)'")
    return path
  }

  private func tend(_ writer: Writer, at path: String) throws -> FileWork {
    var work = FileWork()
    repeat {
      work.add(
        try writer.processFiles(
          StorePaths(store: path, spool: "\(path).spool"), at: SystemClock.wall(),
          budget: .seconds(1)))
    } while work.hasMore
    return work
  }

  // MARK: - Whose it is

  @Test(
    "A copy of a store, or another one, is told that the root is not its own, and moves nothing")
  func foreign() throws {
    let other = "\(files.outside)/other.db"
    try Connection(path: other, access: .create).execute(
      "\(FileFixture.schema); INSERT INTO album VALUES(1, '1', NULL), (2, '2', NULL)")
    for path in [try copy("copy"), other] {
      let writer = try Writer(path: path, model: StoreModel(files.model))
      _ = try writer.sweep([.all], at: 1)
      let waiting = try tend(writer, at: path).waiting
      #expect(waiting.count == 1)
      #expect(waiting.first?.contains("it belongs to another") == true)
      #expect(waiting.first?.contains(files.store.path) == true)
      try Connection(path: path, access: .readWrite).execute("DELETE FROM album WHERE id = 1")
      let batch = try #require(try writer.sweep([.cascade, .refcount], at: 2).batch)
      #expect(try tend(writer, at: path).moved == 0 && files.isThere("1"))
      _ = try writer.undo(batch, by: "me", at: 3)
      #expect(try !tend(writer, at: path).waiting.isEmpty)
      let reader = try Reader(path: path, model: StoreModel(files.model))
      let around = StorePaths(store: path, spool: "\(path).spool")
      let found = try reader.checkFiles(around).list.filter { $0.kind == "fileRoot" }
      #expect(found.map { $0.message.contains("it belongs to another") } == [true])
    }
    let batch = try #require(try files.bySQL("DELETE FROM album WHERE id = 1"))
    #expect(try files.tend().moved == 1 && files.isKept("1", batch))
    #expect(try files.tend().waiting.isEmpty)
  }

  @Test("A store may take the root, and then the first one is told", arguments: [[], ["media"]])
  func taken(names: [String]) throws {
    let path = try copy("copy")
    let writer = try Writer(path: path, model: StoreModel(files.model))
    #expect(try !tend(writer, at: path).waiting.isEmpty)
    let paths = StorePaths(store: path, spool: "\(path).spool")
    let taken = try writer.takeRoots(names, paths)
    #expect(taken.map(\.name) == ["media"] && taken.map(\.owner) == [files.store.path])
    #expect(try writer.takeRoots(names, paths).isEmpty)
    #expect(try tend(writer, at: path).waiting.isEmpty)
    try files.bySQL("DELETE FROM album WHERE id = 1")
    let waiting = try files.tend().waiting
    #expect(waiting.contains { $0.contains("another copy of this store") })
    #expect(files.isThere("1"))
  }

  @Test("A detach gives the root up")
  func detached() throws {
    try files.store.writer.detach()
    #expect(try files.root.status(of: ".cascade-trash") == nil)
    let path = try copy("copy")
    #expect(
      try tend(Writer(path: path, model: StoreModel(files.model)), at: path).waiting.isEmpty)
  }

  // MARK: - Another name, or another time

  private func renamed(_ model: String) -> String {
    model.replacing("media: \"", with: "pictures: \"").replacing(
      "files: \"media\"", with: "files: \"pictures\"")
  }

  @Test("Files come back into a root that the model calls something else")
  func renamed() throws {
    let batch = try #require(try files.bySQL("DELETE FROM album WHERE id = 1"))
    try files.tend()
    let path = files.store.path
    let writer = try Writer(path: path, model: StoreModel(renamed(files.model)))
    let undone = try writer.undo(batch, by: "me", at: 5)
    #expect(undone.files == 1 && undone.leftCount == 0)
    #expect(try tend(writer, at: path).restored == 1 && files.isThere("1"))
    try files.store.bySQL("DELETE FROM album WHERE id = 2")
    _ = try writer.sweep([.cascade, .refcount], at: 6)
    #expect(try tend(writer, at: path).moved == 1 && !files.isThere("2"))
  }

  @Test("Files of a root that the model has no more are left, and come back when it has it again")
  func gone() throws {
    let batch = try #require(try files.bySQL("DELETE FROM album WHERE id = 1"))
    try files.tend()
    let plain = "{ collections: { albums: { table: 'album', key: 'id' }, notes: {} } }"
    let writer = try Writer(path: files.store.path, model: StoreModel(plain))
    for _ in 0..<2 {
      let undone = try writer.undo(batch, by: "me", at: 5)
      #expect(undone.leftCount == 1 && undone.files == 0)
      #expect(undone.left.first?.reason == "the model has no root \"media\" any more")
    }
    #expect(files.isKept("1", batch))
    try files.store.reopen()
    #expect(try files.store.writer.undo(batch, by: "me", at: 5).files == 1)
    #expect(try files.tend().restored == 1 && files.isThere("1"))
  }

  @Test("After an older backup was restored, files of its rows come back, and others are kept")
  func backup() throws {
    let backup = try copy("backup")
    let batch = try #require(try files.bySQL("DELETE FROM album WHERE id = 1"))
    try files.write("3")
    try files.store.bySQL("INSERT INTO album VALUES(3, '3', NULL)")
    let later = try #require(try files.bySQL("DELETE FROM album WHERE id = 3"))
    try files.tend()
    #expect(files.isKept("1", batch) && files.isKept("3", later))
    let path = files.store.path
    files.store.writer.close()
    for suffix in ["-wal", "-shm"] { unsafe unlink(path + suffix) }
    #expect(unsafe rename(backup, path) == 0)
    try files.store.reopen()
    #expect(try files.tend().restored == 1)
    #expect(files.isThere("1") && files.isKept("3", later))
    #expect(try files.store.writer.undo(later, by: "me", at: 9).files == 1)
    #expect(try files.tend().restored == 1 && files.isThere("3"))
  }
}
