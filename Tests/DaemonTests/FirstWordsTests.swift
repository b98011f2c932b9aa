import CascadeModel
import CascadeSQLite
import CascadeSystem
import Testing

/// What the daemon says to somebody who meets it for the first time.
@Suite struct FirstWordsTests {
  private func count(_ text: String, in log: String) -> Int {
    log.split(separator: "\n").count { $0.contains(text) }
  }

  @Worker @Test func saysThatThereIsNoModelAndHowToBegin() throws {
    let store = try TestStore(schema: Library.schema + Library.rows, starts: false)
    try store.sql("PRAGMA journal_mode = DELETE")
    try store.start()
    let said = try #require(store.log.split(separator: "\n").first { $0.contains("no model") })
    #expect(said.contains("the WAL mode and ") && said.contains(" tables cascade_*"))
    #expect(said.contains("`cascadectl suggest \(store.path) > \(store.spool)/model.json`"))
    try store.write(model: run([Programs.cascadectl, "suggest", store.path]).output)
    #expect(try store.ctl("reload").status == 0)
    try store.sql("DELETE FROM album WHERE id = 1")
    try store.wait(forState: "ok")
    #expect(count("no model", in: store.log) == 1)
  }

  @Worker @Test func saysNothingWhereNothingIsMissing() throws {
    for store in [try TestStore(), try Library.store()] {
      #expect(count("no model", in: store.log) == 0)
      #expect(count("WAL mode", in: store.log) == 0)
    }
  }

  /// Also where it has to wait for its turn.
  @Worker @Test func announcesWALModeBeforeItSetsIt() throws {
    let store = try Library.store(starts: false)
    let other = try Connection(path: store.path, access: .readWrite)
    try other.execute("PRAGMA journal_mode = DELETE; BEGIN IMMEDIATE")
    try store.launch()
    try store.waitUntil("it says so") { count("is put into it now", in: store.log) == 1 }
    try store.waitUntil("it waits") { (try? store.state()) == "waiting" }
    #expect(try store.texts("PRAGMA journal_mode") == ["delete"])
    try other.execute("COMMIT")
    try store.wait(forState: "ok")
    #expect(try store.texts("PRAGMA journal_mode") == ["wal"])
    #expect(count("is put into it now", in: store.log) == 1)
  }

  @Worker @Test func leavesAnExclusiveStoreInItsMode() throws {
    let store = try Library.store(more: "exclusive: true,", starts: false)
    try store.sql("PRAGMA journal_mode = DELETE")
    try store.start()
    #expect(count("WAL mode", in: store.log) == 0)
  }

  /// Only an older SQLite has the defect.
  @Worker @Test func tellsOfTheDefectOfSQLiteOnceAndWhatToDo() throws {
    let store = try Library.store()
    let first = try store.ctl("check")
    #expect(first.status == 0)
    if first.error.contains("can corrupt") {
      #expect(first.error.contains("`apt-cache policy libsqlite3-0`"))
    }
    #expect(try store.ctl("check").error == "")
  }
}
