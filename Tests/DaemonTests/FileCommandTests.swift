import Glibc
import CascadeModel
import CascadeSystem
import Testing

/// Files that edges lead to, with the real programs and a real directory.
@Suite struct FileCommandTests {
  static func store(_ more: String = "") throws -> TestStore {
    let store = try TestStore(starts: false)
    let media = try Directory.openOrMake(store.scratch.path("media"))
    for name in ["1", "2", "stray"] { try media.file(FileName(name), .createNew).writeAll([1]) }
    let model = """
      {
        collections: { albums: { table: "album", key: "id" } },
        relationships: [
          { name: "cover", from: "albums", to: { files: "media" }, column: "cover",
            rules: ["deleteDestinationIfAllSourcesDeleted"] },
        ],
        files: { media: "\(media.path)" },
        \(more)
      }
      """
    try Directory.openOrMake(store.spool).file("model.json", .createNew)
      .writeAll(Array(model.utf8))
    try store.sql(
      """
      PRAGMA journal_mode = WAL;
      CREATE TABLE album(id INTEGER PRIMARY KEY, cover TEXT);
      CREATE INDEX album_cover ON album(cover);
      INSERT INTO album VALUES(1, '1'), (2, '2'), (3, '2');
      """)
    try store.start()
    return store
  }

  private static func isThere(_ name: String, _ store: TestStore) throws -> Bool {
    try FileStatus.of(store.scratch.path("media/\(name)")) != nil
  }

  @Worker @Test func movesAFileThatLostItsLastEdge() throws {
    let store = try FileCommandTests.store()
    try store.sql("DELETE FROM album WHERE id < 3")
    try store.waitUntil("the file is moved") { try !FileCommandTests.isThere("1", store) }
    try store.waitUntil("it is known") {
      try store.integers("SELECT count(*) FROM cascade_trash_file") == [1]
    }
    let batch = try store.integers("SELECT batch FROM cascade_trash_file")[0]
    #expect(try FileCommandTests.isThere(".cascade-trash/\(batch)/1", store))
    #expect(try FileCommandTests.isThere("2", store))
    try store.waitUntil("it is told") { store.log.contains("files: 1 moved to trash") }
  }

  @Worker @Test func tellsWhyAFileIsThereAndWhyItWent() throws {
    let store = try FileCommandTests.store()
    let path = store.scratch.path("media/1")
    for name in ["media:1", path, #"{"file": "1", "root": "media"}"#] {
      #expect(
        try store.ctl("why", name).output.hasPrefix("media:1 exists; 1 edge points at it"))
      #expect(try store.ctl("edges", "--count", "--to", name).output == "1\n")
    }
    let plan = try store.ctl("plan", "albums/1").output
    #expect(plan == "1 node would be deleted\n  - albums/1\n1 file would lose its last edge\n")
    try store.sql("DELETE FROM album WHERE id = 1")
    try store.waitUntil("it is moved") { try !FileCommandTests.isThere("1", store) }
    let why = try store.ctl("why", path).output
    #expect(why.hasPrefix("media:1 was deleted at "))
    #expect(
      why.hasSuffix(
        """
        , after an application's change
          - media:1  by deleteDestinationIfAllSourcesDeleted of albums/1 -cover-> media:1
          - albums/1

        """))
    let json = try store.ctl("--json", "why", "media:1").json
    #expect(json["node"] == ["file": "1", "root": "media"])
    #expect(json["deleted"]?["chain"]?.array?.first?["node"] == ["file": "1", "root": "media"])
    let unknown = try store.ctl("why", "media:stray").output
    #expect(unknown.hasPrefix("media:stray is not known: no edge references it"))
  }

  @Worker @Test func movesWhatAKilledDaemonHadLetGo() throws {
    let store = try FileCommandTests.store()
    try store.end(SIGKILL)
    // As a daemon leaves it that was killed behind its commit.
    try store.sql(
      """
      DELETE FROM album WHERE id = 1;
      INSERT INTO cascade_collection(name) VALUES('cascade_file/media') ON CONFLICT DO NOTHING;
      INSERT INTO cascade_released_file(batch, collection, path)
      SELECT 7, cascade_collection.id, value FROM cascade_collection, json_each('["1", "2"]')
      WHERE name = 'cascade_file/media';
      """)
    try store.start()
    try store.waitUntil("the file is moved") {
      try FileCommandTests.isThere(".cascade-trash/7/1", store)
    }
    try store.waitUntil("nothing waits") {
      try store.integers("SELECT count(*) FROM cascade_released_file") == [0]
    }
    #expect(try FileCommandTests.isThere("2", store))
  }

  private static func moveRoot(_ from: FileName, _ to: FileName, _ store: TestStore) throws {
    try store.scratch.directory.rename(from, to: store.scratch.directory, as: to)
  }

  @Worker @Test func saysThatFilesWait() throws {
    let store = try FileCommandTests.store()
    try FileCommandTests.moveRoot("media", "away", store)
    try store.sql("DELETE FROM album WHERE id = 1")
    try store.wait(forState: "degraded")
    #expect(
      try store.status()["reason"]?.string?.hasPrefix("files cannot be moved yet: files.media")
        == true)
    try FileCommandTests.moveRoot("away", "media", store)
    try store.end()
    try store.start()
    try store.wait(forState: "ok")
    #expect(try !FileCommandTests.isThere("1", store))
  }

  @Worker @Test func movesWhatWaitsBeforeItDetaches() throws {
    let store = try FileCommandTests.store()
    for (isBack, left) in [(false, 1), (true, 0)] as [(Bool, JSON)] {
      try FileCommandTests.moveRoot("media", "away", store)
      try store.sql("DELETE FROM album WHERE cover = '1'")
      try store.wait(forState: "degraded")
      if isBack { try FileCommandTests.moveRoot("away", "media", store) }
      #expect(try store.ctl("--json", "detach").json["files"] == left)
      if !isBack { try FileCommandTests.moveRoot("away", "media", store) }
      #expect(try FileCommandTests.isThere("1", store) == !isBack)
      try store.sql("INSERT INTO album VALUES(9, '1')")
      #expect(try store.ctl("attach").status == 0)
    }
  }

  @Worker @Test func losesNoFileWhenItIsKilledAgainAndAgain() throws {
    let store = try FileCommandTests.store()
    let media = try Directory.open(store.scratch.path("media"))
    for number in 0..<600 { try media.file("f\(number)", .createNew).writeAll([1]) }
    try store.end()
    try store.sql(
      """
      WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 599)
      INSERT INTO album SELECT 1000 + i, 'f' || i FROM n;
      DELETE FROM album WHERE id >= 1000 AND id % 10;
      """)
    func left() throws -> Int { try media.names().count { $0.bytes.first == UInt8(ascii: "f") } }
    for kill in 1...5 {
      try store.start()
      try store.waitUntil("some are moved") { try left() <= 600 - kill * 80 }
      try store.end(SIGKILL)
    }
    try store.start()
    try store.waitUntil("all are moved") {
      try store.integers("SELECT count(*) FROM cascade_trash_file") == [540]
    }
    #expect(try left() == 60)
    let batch = try store.integers("SELECT DISTINCT batch FROM cascade_trash_file")
    let trash = try Directory.open(store.scratch.path("media/.cascade-trash/\(batch[0])"))
    #expect(batch.count == 1)
    #expect(try trash.names().count == 540)
    #expect(try store.integers("SELECT count(*) FROM cascade_released_file") == [0])
  }

  @Worker @Test func listsWhatNoEdgeNamesAndLeavesIt() throws {
    let store = try FileCommandTests.store()
    let dry = try store.ctl("--json", "sweep", "files", "--dry-run").json
    #expect(dry["unreferenced"]?["count"] == 1)
    let path: JSON = [["file": "stray", "root": "media"]]
    #expect(dry["unreferenced"]?["paths"] == path)
    let sweep = try store.ctl("sweep", "files")
    #expect(sweep.status == 0)
    #expect(
      sweep.output == """
        nothing: 0 nodes deleted
          1 file was never referenced by an edge, and not touched
          - media:stray

        """)
    #expect(try FileCommandTests.isThere("stray", store))
    #expect(try store.status()["lastSweep"]?["unreferenced"]?["paths"] == path)
    #expect(try store.ctl("--json", "sweep", "cascade").json["unreferenced"] == nil)
  }

  @Worker @Test func checksFilesAndEdges() throws {
    let store = try FileCommandTests.store()
    try store.sql("INSERT INTO album VALUES(4, 'none')")
    let outcome = try store.ctl("check")
    #expect(outcome.status == 1)
    #expect(
      outcome.output == """
        edgeWithoutFile: media:none: it does not exist, but "cover" of albums/4 references it
        fileWithoutEdge: no edge references media:stray

        """)
    #expect(try store.ctl("check", "--limit", "1").error.contains("… and 1 more"))
  }

  @Worker @Test func forgetsWhatIsPastItsTime() throws {
    let store = try FileCommandTests.store(#"trash: "1h""#)
    try store.sql("DELETE FROM album WHERE id = 1")
    try store.waitUntil("it is known") {
      try store.integers("SELECT count(*) FROM cascade_trash_file") == [1]
    }
    try store.sql("UPDATE cascade_ledger SET at = at - 3700000")
    try store.ctl("sweep", "trash")
    #expect(try store.integers("SELECT count(*) FROM cascade_trash_file") == [0])
    let trash = try Directory.open(store.scratch.path("media/.cascade-trash"))
    #expect(try trash.names() == ["owner"])
  }
}
