import Glibc
import CascadeModel
import CascadeSQLite
import CascadeSystem
import Testing

/// `inspect` and `suggest`, as programs and beside others.
@Suite struct InspectCommandTests {
  private static let schema = """
    CREATE TABLE artist(id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE album(id INTEGER PRIMARY KEY, artist_id INTEGER REFERENCES artist ON DELETE CASCADE);
    CREATE TABLE song(id INTEGER PRIMARY KEY, album_id INTEGER);
    CREATE TABLE tag(id INTEGER PRIMARY KEY, label TEXT);
    CREATE TABLE song_tag(song_id INTEGER, tag_id INTEGER, PRIMARY KEY(song_id, tag_id));
    INSERT INTO artist VALUES(1, 'x'); INSERT INTO album VALUES(1, 1), (2, 2);
    INSERT INTO song VALUES(1, 1), (2, 3); INSERT INTO tag VALUES(1, 'x');
    INSERT INTO song_tag VALUES(1, 1), (1, 5), (9, 1);
    """

  private static func database() throws -> TestStore {
    try TestStore(schema: schema, starts: false)
  }

  private func inspect(_ arguments: String...) throws -> Outcome {
    try run([Programs.cascadectl, "inspect"] + arguments)
  }

  @Worker @Test func needsNoDaemon() throws {
    let store = try InspectCommandTests.database()
    let text = try inspect(store.path)
    #expect(text.status == 0 && text.error == "")
    #expect(text.output.hasSuffix("\n4 orphaned rows in 4 relationships\n"), "\(text.output)")
    let json = try inspect("--json", store.path).json
    #expect(json["orphans"] == 4)
    #expect(try inspect("--quiet", store.path).output == "")
    #expect(try inspect("--format", "dot", store.path).output.hasPrefix("digraph"))
    #expect(try inspect("--format", "svg", store.path).output.hasPrefix("<svg"))
    let page = store.scratch.path("page.html")
    #expect(try inspect("--html", page, store.path).output == "")
    #expect(try inspect("--html", page, store.path).status == 0)
    #expect(try FileStatus.of(page)?.size ?? 0 > 1_000)
  }

  /// The output, as a terminal with this environment gets it.
  private func terminal(_ path: String, _ environment: String...) throws -> String {
    try run(
      ["/usr/bin/script", "-qec", "\(Programs.cascadectl) inspect \(path)", "/dev/null"],
      environment: ["PATH=/usr/bin:/bin"] + environment
    ).output
  }

  @Worker @Test func hasColoursOnATerminalThatHasThem() throws {
    let store = try InspectCommandTests.database()
    let red = "\u{1B}[31m"
    let sum = "4 orphaned rows in 4 relationships"
    #expect(try terminal(store.path, "TERM=xterm").contains("\(red)\(sum)\u{1B}[0m"))
    #expect(try terminal(store.path, "TERM=xterm", "NO_COLOR=").contains(red))
    for plain in [["TERM=xterm", "NO_COLOR=1"], ["TERM=dumb"]] {
      let text = try terminal(store.path, plain[0], plain.last!)
      #expect(text.contains(sum) && !text.contains("\u{1B}[31m") && !text.contains("\u{1B}[1m"))
    }
    #expect(try inspect(store.path).output.contains("\u{1B}") == false)
    // A name cannot colour the terminal.
    try store.sql("CREATE TABLE \"t\u{1B}[31m\"(id INTEGER PRIMARY KEY, tag_id REFERENCES tag)")
    #expect(!(try terminal(store.path, "TERM=dumb")).contains(red))
  }

  @Worker @Test func exitsAsItSays() throws {
    let store = try InspectCommandTests.database()
    #expect(try inspect(store.scratch.path("none")).status == EX_UNAVAILABLE)
    #expect(try inspect("/etc/passwd").status == EX_DATAERR)
    #expect(try inspect().status == EX_USAGE)
    #expect(try inspect("--json", "--format", "dot", store.path).status == EX_USAGE)
    #expect(try inspect("--html", store.path, store.path).status == EX_USAGE)
    #expect(try inspect("--format", "png", store.path).status == EX_USAGE)
    #expect(try inspect("--root", store.scratch.path("none"), store.path).status == EX_UNAVAILABLE)
  }

  /// Beside a writer at full speed, as a user who may only read the file, where there is one.
  @Worker @Test(arguments: ["wal", "delete"])
  func disturbsNoWriterAndLeavesNothingBehind(mode: String) throws {
    let tests = "\(#filePath)".split(separator: "/").dropLast(2).joined(separator: "/")
    let outcome = try run(
      ["/usr/bin/python3", "-B", "/\(tests)/Foreign/inspected.py", mode]
        + (Nobody.canRun ? Nobody.prefix : []) + [Programs.cascadectl],
      environment: ["PATH=/usr/bin:/bin"])
    #expect(outcome.status == 0, "\(outcome.error)")
  }

  @Worker @Test func saysThatADatabaseIsLocked() throws {
    let store = try InspectCommandTests.database()
    let db = try Connection(path: store.path, access: .readWrite)
    try db.execute("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE")
    let outcome = try inspect(store.path)
    #expect(outcome.status == EX_TEMPFAIL && outcome.error.contains("locked by another program"))
    try db.execute("ROLLBACK")
  }

  /// The daemon with a suggested model deletes nothing at its start, whatever is orphaned.
  @Worker @Test func suggestsAModelThatDeletesNothing() throws {
    let store = try InspectCommandTests.database()
    let model = try run([Programs.cascadectl, "suggest", store.path])
    #expect(model.status == 0)
    try store.write(model: model.output)
    let check = try run([Programs.cascaded, "--check-config", "\(store.spool)/model.json"])
    #expect(check.status == 0, "\(check.output)\(check.error)")
    let count = """
      SELECT (SELECT count(*) FROM album) + (SELECT count(*) FROM song)
        + (SELECT count(*) FROM song_tag) + (SELECT count(*) FROM tag)
      """
    let before = try store.sql(count)
    try store.start()
    try store.ctl("sweep", "all")
    #expect(try store.sql(count) == before)
    try store.sql("DELETE FROM artist WHERE id = 1")
    try store.ctl("sweep", "cascade")
    #expect(try store.status()["state"]?.string != "degraded")
  }
}
