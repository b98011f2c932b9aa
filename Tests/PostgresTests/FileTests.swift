import CascadeModel
import CascadePostgres
import CascadeStore
import CascadeSystem
import PostgresStore
import PostgresSupport
import StoreDefinition
import TestSupport
import Testing

/// A store with a root of files: covers that albums name in a column.
final class Covers {
  let store: PostgresFixture
  let root: Directory
  private let directory: Directory

  private static let schema = """
    CREATE TABLE artist(id text PRIMARY KEY);
    CREATE TABLE album(id text PRIMARY KEY, artist_id text, cover text);
    CREATE INDEX ON album(artist_id); CREATE INDEX ON album(cover);
    INSERT INTO artist VALUES('anna'), ('bob');
    INSERT INTO album VALUES('a1', 'anna', 'covers/1.jpg'), ('a2', 'anna', '2.jpg'),
      ('b1', 'bob', '2.jpg');
    """

  /// `place` is where an album names its covers, `type` that of the column.
  init(
    _ more: String = "", rule: String = "deleteDestinationIfAllSourcesDeleted",
    place: String = "column: 'cover'", schema: String = "", collections: String = "",
    relationships: String = ""
  ) throws {
    let random = try Process.randomBytes(8).map { String($0, radix: 16) }.joined()
    directory = try Directory.openOrMake("/tmp/cascade-covers-\(random)")
    root = try Directory.openOrMake("\(directory.path)/media")
    _ = try Directory.openOrMake("\(directory.path)/spool")
    let model = """
      { collections: { \(collections)
          artists: { table: "artist", key: "id" }, albums: { table: "album", key: "id" } },
        relationships: [ \(relationships)
          { name: "artist", from: "albums", to: "artists", column: "artist_id",
            rules: ["deleteSourceIfDestinationDeleted"] },
          { name: "cover", from: "albums", to: { files: "media" }, \(place),
            rules: ["\(rule)"] }],
        files: { media: "\(directory.path)/media" }, \(more) }
      """
    store = try PostgresFixture(model, schema: Covers.schema + schema)
    try store.sweep([.all])
    try write("covers/1.jpg", "2.jpg")
  }

  deinit {
    try? directory.removeContents()
    _ = try? Directory.open("/tmp").removeDirectory(FileName(String(directory.path.dropFirst(5))))
  }

  var paths: StorePaths {
    StorePaths(store: store.database.location, spool: "\(directory.path)/spool")
  }

  func write(_ paths: String...) throws { try root.write(paths) }

  func text(_ path: String) -> String? { root.text(path) }

  func isKept(_ path: String, _ batch: Int64?) -> Bool {
    batch.map { text(".cascade-trash/\($0)/\(path)") == path } ?? false
  }

  /// One round of the work on files.
  @discardableResult
  func tend(at time: Int64 = SystemClock.wall()) throws -> FileWork {
    var work = FileWork()
    repeat {
      work.add(try store.writer.processFiles(paths, at: time, budget: .seconds(1)))
    } while work.hasMore && work.isProgress
    return work
  }

  /// Goes on until no file has to be looked at again, as if so many milliseconds had passed.
  /// Transactions of other tests delay it.
  func settle(after delay: Int64 = 0) throws {
    for _ in 0..<10_000 {
      store.writer.retryFiles()
      try tend(at: SystemClock.wall() + delay)
      if try store.texts("SELECT count(*) FROM cascade.file WHERE state IN (0, 1)") == ["0"] {
        return
      }
      _ = try store.texts("SELECT pg_sleep(0.001)")
    }
    throw ClusterError(description: "not in time: no file has to be looked at again")
  }
}

@Suite("Files beside PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct FileTests {
  struct Place: CustomTestStringConvertible {
    let place: String
    let schema: String
    var testDescription: String { place }
  }

  /// Where a row names its files.
  static let places = [
    Place(place: "column: 'cover'", schema: ""),
    Place(
      place: "property: 'paths', toMany: true",
      schema: """
        ALTER TABLE album ADD paths text[]; CREATE INDEX ON album USING gin (paths);
        UPDATE album SET paths = ARRAY[cover, cover, NULL];
        """),
    Place(
      place: "property: 'paths', toMany: true",
      schema: """
        ALTER TABLE album ADD paths jsonb; CREATE INDEX ON album USING gin (paths);
        UPDATE album SET paths = jsonb_build_array(cover, 7, cover);
        """),
    Place(
      place: "property: 'doc.in.path'",
      schema: """
        ALTER TABLE album ADD doc text;
        UPDATE album SET doc = jsonb_build_object('in', jsonb_build_object('path', cover));
        """),
  ]

  @Test("A root of another store is told of, and nothing of it is moved until it is taken")
  func foreign() throws {
    let covers = try Covers()
    try covers.write(".cascade-trash/owner")
    try covers.store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    let batch = try covers.store.sweep().batch
    let waiting = try covers.tend().waiting
    #expect(waiting.contains { $0.contains("it belongs to another store") })
    #expect(covers.text("covers/1.jpg") != nil)
    let findings = try covers.store.reader.checkFiles(covers.paths, limit: 10).list
    #expect(findings.filter { $0.kind == "fileRoot" }.count == 1)
    #expect(try covers.store.writer.takeRoots([], covers.paths).map(\.owner) == ["unknown"])
    try covers.settle()
    #expect(covers.isKept("covers/1.jpg", batch))
    try covers.store.reopen()
    #expect(try covers.tend().waiting.isEmpty)
  }

  @Test("What a database does not know of its trash comes back if a row names it, or is kept")
  func unknownTrash() throws {
    let covers = try Covers()
    let store = covers.store
    try covers.root.directory("covers").remove("1.jpg")
    try covers.write(".cascade-trash/7/covers/1.jpg", ".cascade-trash/7/x.jpg")
    try store.reopen()
    #expect(try covers.tend().restored == 1)
    #expect(covers.text("covers/1.jpg") == ".cascade-trash/7/covers/1.jpg")
    #expect(covers.text(".cascade-trash/7/x.jpg") != nil)
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    #expect(try store.sweep().batch == 8)
    #expect(try store.writer.undo(7, by: "test", at: 1).files == 1)
    try covers.settle()
    #expect(covers.text("x.jpg") == ".cascade-trash/7/x.jpg")
    #expect(try store.texts("SELECT FROM cascade.meta WHERE key = 'trash_unknown'").isEmpty)
  }

  @Test(
    "A file is moved into the trash when its last edge is gone, and an undo brings it back",
    arguments: places)
  func lastEdge(place: Place) throws {
    let covers = try Covers(place: place.place, schema: place.schema)
    let store = covers.store
    #expect(try store.reader.checkSetup().isEmpty)
    let plan = try store.reader.plan(deleting: [Node("artists", .text("anna"))])
    #expect(plan.files == 1)
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    let result = try store.sweep()
    #expect(result.byCollection == ["albums": 2])
    try covers.settle()
    #expect(covers.text("covers/1.jpg") == nil)
    #expect(covers.isKept("covers/1.jpg", result.batch))
    #expect(covers.text("2.jpg") == "2.jpg")
    let file = Destination.file(root: "media", path: "covers/1.jpg")
    guard case .deleted(let why) = try store.reader.why(file) else {
      Issue.record("not deleted")
      return
    }
    #expect(why.batch == result.batch)
    let undone = try store.writer.undo(#require(result.batch), by: "me", at: 2)
    #expect(undone.restored == 2 && undone.files == 1)
    try covers.tend()
    #expect(covers.text("covers/1.jpg") == "covers/1.jpg")
    guard case .alive(let holders, 1, _) = try store.reader.why(file) else {
      Issue.record("not alive")
      return
    }
    #expect(holders.map(\.source.description) == ["albums/a1"])
    #expect(try store.reader.count(EdgeQuery(name: "cover")) == 3)
    #expect(
      try store.reader.edges(EdgeQuery(), after: nil, limit: 4).edges.map(\.kind)
        == [.column, .column, .column, .file])
  }

  @Test("A list that gets shorter lets a file go, and objects name files, too")
  func lists() throws {
    let covers = try Covers(
      place: "property: 'paths', toMany: true", schema: FileTests.places[1].schema)
    let store = covers.store
    try covers.write("3.jpg")
    try store.bySQL("UPDATE album SET paths = ARRAY['3.jpg', '2.jpg'] WHERE id = 'a1'")
    let result = try store.sweep()
    try covers.settle()
    #expect(covers.isKept("covers/1.jpg", result.batch))
    #expect(covers.text("3.jpg") == "3.jpg")
    let first = try store.reader.edges(EdgeQuery(name: "cover"), after: nil, limit: 2)
    let rest = try store.reader.edges(EdgeQuery(name: "cover"), after: first.next, limit: 9)
    #expect(first.edges.count == 2 && rest.edges.count == 2)
    #expect(Set((first.edges + rest.edges).map(\.json.text)).count == 4)
    let unreferenced = try store.reader.unreferencedFiles(covers.paths)
    #expect(unreferenced.count == 0)
  }

  @Test("Objects name files in their values, as long as they are of that type")
  func objects() throws {
    let covers = try Covers(
      place: "property: 'paths', toMany: true", schema: FileTests.places[1].schema,
      collections: "notes: { types: { photo: 'photos' } },",
      relationships: """
        { name: "image", from: "photos", to: { files: "media" }, property: "image",
          rules: ["deleteDestinationIfSourceDeleted"] },
        """)
    try covers.write("3.jpg", "4.jpg")
    let store = covers.store
    let note = #"{"image":"3.jpg"}"#
    try store.apply([
      put("notes/1", note, type: "photo"), put("notes/2", #"{"image":"4.jpg"}"#, type: "text"),
    ])
    let edges = try store.reader.edges(EdgeQuery(name: "image")).edges
    #expect(edges.map(\.destination) == [.file(root: "media", path: "3.jpg")])
    let receipt = try store.apply([put("notes/1", note, type: "text")])
    try covers.settle()
    #expect(covers.isKept("3.jpg", receipt.batch))
    #expect(covers.text("4.jpg") == "4.jpg")
  }

  @Test("What an application deletes or names otherwise by SQL lets its file go, without a rule")
  func bySQL() throws {
    let covers = try Covers(rule: "deleteDestinationIfSourceDeleted")
    let store = covers.store
    try store.bySQL("UPDATE album SET cover = 'new.jpg' WHERE id = 'a1'")
    #expect(try store.writer.hasJournal)
    let result = try store.sweep()
    #expect(result.outcome == .done && result.files == 1)
    try covers.settle()
    #expect(covers.isKept("covers/1.jpg", result.batch))
    #expect(try store.reader.newestBatches(limit: 1).first?.undoUntil != nil)
    try store.bySQL("DELETE FROM album WHERE cover = '2.jpg'")
    let batch = try store.sweep([.files]).batch
    try covers.settle()
    #expect(covers.isKept("2.jpg", batch))
  }

  @Test("A change file that deletes a row lets its file go in the same batch")
  func changeFile() throws {
    let covers = try Covers()
    let receipt = try covers.store.apply([.delete(Node("albums", .text("a1")))])
    #expect(receipt.files == 1)
    try covers.settle()
    #expect(covers.isKept("covers/1.jpg", receipt.batch))
  }

  @Test("A file that a transaction names while it is moved comes back when that is committed")
  func race() throws {
    let covers = try Covers()
    let store = covers.store
    let application = try store.database.session()
    try application.execute("BEGIN; INSERT INTO album VALUES('new', 'bob', 'covers/1.jpg')")
    try store.bySQL("DELETE FROM album WHERE id = 'a1'")
    let batch = try store.sweep().batch
    let work = try covers.tend()
    #expect(work.moved == 1 && work.writtenRecently > 0)
    #expect(covers.isKept("covers/1.jpg", batch))
    // Looking once would be the end of it.
    try application.execute("COMMIT")
    try covers.settle()
    #expect(covers.text("covers/1.jpg") == "covers/1.jpg")
    #expect(try store.texts("SELECT count(*) FROM cascade.file") == ["0"])
  }

  @Test("A file that is named again before it is moved stays")
  func namedAgain() throws {
    let covers = try Covers()
    try covers.store.bySQL("DELETE FROM album WHERE id = 'a1'")
    try covers.store.sweep()
    try covers.store.bySQL("INSERT INTO album VALUES('new', 'bob', 'covers/1.jpg')")
    #expect(try covers.tend().stillNamed == 1)
    #expect(covers.text("covers/1.jpg") == "covers/1.jpg")
  }

  @Test("The trash forgets files with their batch, and without a trash they are deleted at once")
  func trash() throws {
    let covers = try Covers()
    try covers.store.bySQL("DELETE FROM album WHERE id = 'a1'")
    let batch = try covers.store.sweep().batch
    try covers.settle()
    _ = try covers.store.writer.sweep([.trash], at: SystemClock.wall(), manners: .none)
    #expect(try covers.tend().deletedFromTrash == 1)
    #expect(!covers.isKept("covers/1.jpg", batch))
    let none = try Covers("trash: '0'")
    try none.store.bySQL("DELETE FROM album WHERE id = 'a1'")
    let other = try none.store.sweep().batch
    try none.settle()
    #expect(none.text("covers/1.jpg") == nil && !none.isKept("covers/1.jpg", other))
  }

  @Test("Check tells of edges without files, and of files without edges")
  func check() throws {
    let covers = try Covers()
    #expect(try covers.store.reader.checkFiles(covers.paths, limit: 9).total == 0)
    try covers.write("alone.jpg")
    try covers.store.bySQL("INSERT INTO album VALUES('x', 'bob', 'none.jpg')")
    let findings = try covers.store.reader.checkFiles(covers.paths, limit: 9)
    #expect(findings.list.map(\.kind) == ["edgeWithoutFile", "fileWithoutEdge"])
    #expect(try covers.store.reader.unreferencedFiles(covers.paths).count == 1)
  }

  @Test("An empty directory in place of a root that had files is taken for one that is not mounted")
  func unmounted() throws {
    let covers = try Covers()
    try covers.tend()
    let parent = try Directory.open(String(covers.root.path.dropLast("/media".utf8.count)))
    try parent.rename("media", to: parent, as: "away")
    try parent.makeDirectory("media", mode: 0o700)
    try covers.store.bySQL("DELETE FROM album WHERE id = 'a1'")
    try covers.store.sweep()
    #expect(try covers.tend().waiting.joined().contains("may not be mounted"))
    #expect(try covers.store.writer.filesToMove == 1)
    try parent.removeDirectory("media")
    try parent.rename("away", to: parent, as: "media")
    covers.store.writer.retryFiles()
    try covers.settle()
    #expect(covers.text("covers/1.jpg") == nil)
    #expect(try covers.store.writer.filesToMove == 0)
  }
}
