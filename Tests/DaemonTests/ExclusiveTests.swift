import CascadeModel
import CascadeSystem
import Glibc
import Testing

/// Programs that want a database for themselves: Python's own SQLite, beside a running daemon.
@Suite struct ExclusiveTests {
  // MARK: - Paused and detached

  @Worker @Test(arguments: ["pause", "detach"])
  func letsGoOfAStoreAtRest(command: String) throws {
    let store = try Library.store()
    #expect(try !store.openFiles().isEmpty)
    #expect(try store.ctl(command).status == 0)
    try store.waitUntil("nothing is open", limit: .seconds(5)) { try store.openFiles().isEmpty }
    #expect(try store.ctl("nodes", "songs").status == (command == "pause" ? 0 : 75))
    try store.waitUntil("nothing is open", limit: .seconds(5)) { try store.openFiles().isEmpty }
    let program = try ExclusiveTests.program(store, journal: "DELETE", deletes: 1)
    #expect(try program.lines(2) == ["delete", "deleted"])
    try store.scratch.write("go", "")
    #expect(try program.finish() == ["delete", "deleted", "closed"])
    #expect(try store.ctl(command == "pause" ? "resume" : "attach").status == 0)
    try store.wait(forState: command == "pause" ? "ok" : "held")
    #expect(try store.texts("PRAGMA journal_mode") == ["wal"])
  }

  @Worker @Test func tellsWhatItAttachesAgain() throws {
    let store = try Library.store()
    let before = try store.schema()
    try store.ctl("detach")
    try store.waitUntil("nothing is open", limit: .seconds(5)) { try store.openFiles().isEmpty }
    let report = try store.ctl("--json", "attach").json
    #expect(report["triggers"]?.array?.isEmpty == false)
    #expect(try store.schema() == before)
    try store.sql("DELETE FROM album WHERE id = 1")
    try store.waitUntil("it is swept") { try store.songs() == [20] }
  }

  @Worker @Test func aPausedStoreIsClosedAfterARestart() throws {
    let store = try Library.store()
    try store.ctl("pause")
    try store.end()
    try store.start()
    #expect(try store.state() == "paused")
    try store.waitUntil("nothing is open", limit: .seconds(5)) { try store.openFiles().isEmpty }
    #expect(try store.ctl("resume").status == 0)
    try store.apply(#"{"changes": [{"delete": ["albums", 1]}]}"#)
    #expect(try store.songs() == [20])
  }

  /// The model does not say that the application wants the database for itself.
  @Worker @Test func checkNamesTheSetting() throws {
    let store = try Library.store()
    try store.ctl("pause")
    try store.waitUntil("nothing is open", limit: .seconds(5)) { try store.openFiles().isEmpty }
    let program = try ExclusiveTests.program(store, journal: "DELETE", deletes: 1)
    #expect(try program.lines(2) == ["delete", "deleted"])
    let locked = try store.ctl("check")
    #expect(locked.status == 75 && locked.error.contains("`exclusive: true`"), "\(locked.error)")
    try store.scratch.write("go", "")
    #expect(try program.finish().last == "closed")
    let found = try store.ctl("--json", "check").lines
    #expect(found.contains { $0["kind"] == "journalMode" }, "\(found)")
    try store.ctl("resume")
    try store.waitUntil("it is announced") { store.log.contains("it is put into it now") }
    try store.waitUntil("it is swept") { try store.songs() == [20] }
  }

  // MARK: - A store that is its application's

  @Worker @Test(arguments: ["WAL", "DELETE"])
  func takesItsTurnWhenTheApplicationHasGone(journal: String) throws {
    let store = try Library.store(more: "exclusive: true,", starts: false)
    let mode = try store.sql("PRAGMA journal_mode = \(journal)")
    try store.start()
    try store.wait(forState: "ok")
    for (album, left) in [(1, [20]), (2, [])] as [(Int, [Int64])] {
      try store.waitUntil("nothing is open", limit: .seconds(2)) { try store.openFiles().isEmpty }
      let program = try ExclusiveTests.program(store, journal: journal, deletes: album)
      #expect(try program.lines(2) == [journal.lowercased(), "deleted"])
      #expect(try store.state() == "waiting")
      #expect(try store.status()["reason"]?.string?.contains("\(store.path) is open") == true)
      #expect(try store.ctl("nodes", "songs").status == 75)
      #expect(try store.openFiles().isEmpty)
      try store.scratch.write("go", "")
      #expect(try program.finish() == [journal.lowercased(), "deleted", "closed"])
      try store.waitUntil("it is swept") { try store.lastDeletedCount() == (album == 1 ? 2 : 1) }
      try store.waitUntil("nothing is open", limit: .seconds(2)) { try store.openFiles().isEmpty }
      #expect(try store.songs() == left)
      #expect(try store.sql("PRAGMA journal_mode") == mode)
    }
    try store.apply(#"{"changes": [{"put": ["notes", "1"]}]}"#)
    #expect(try store.ctl("nodes", "notes").output == "notes/1\n")
    try store.waitUntil("nothing is open", limit: .seconds(2)) { try store.openFiles().isEmpty }
    #expect(try store.state() == "ok")
  }

  /// The shortest of several times, because the machine may be busy.
  @Worker @Test func closesItSoonAfterItsTurn() throws {
    let store = try Library.store(more: "exclusive: true,")
    let times = try (1...5).map { number in
      try store.apply(#"{"changes": [{"put": ["notes", "\#(number)"]}]}"#)
      let start = ContinuousClock.now
      try store.waitUntil("nothing is open", limit: .seconds(2)) { try store.openFiles().isEmpty }
      return ContinuousClock.now - start
    }
    #expect(times.min()! < .milliseconds(100), "\(times)")
  }

  @Worker @Test func waitsForAnApplicationThatIsThereFirst() throws {
    let store = try Library.store(more: "exclusive: true,", starts: false)
    let program = try ExclusiveTests.program(store, journal: "WAL", deletes: 1)
    #expect(try program.lines(2) == ["wal", "deleted"])
    try store.launch()
    try store.waitUntil("it waits") { (try? store.state()) == "waiting" }
    #expect(try store.openFiles().isEmpty)
    try store.scratch.write("go", "")
    #expect(try program.finish() == ["wal", "deleted", "closed"])
    try store.wait(forState: "held")
  }

  /// An application that begins, works and ends all the time never meets an error, though it waits
  /// for nothing.
  @Worker @Test func anApplicationThatComesAndGoesMeetsNoError() throws {
    let store = try Library.store(more: "exclusive: true,")
    try store.waitUntil("nothing is open") { try store.openFiles().isEmpty }
    for number in 0..<10 {
      try store.scratch.write("go", "")
      let program = try ExclusiveTests.program(store, journal: "WAL", deletes: number)
      #expect(try program.finish().last == "closed")
    }
    try store.waitUntil("it is swept") { try store.state() == "ok" && store.songs().isEmpty }
  }

  /// Opens the database like Anki does, deletes an album, and closes it when it may.
  private static func program(
    _ store: TestStore, journal: String, deletes album: Int
  ) throws -> Program {
    let arguments = [store.path, journal, "\(album)", store.scratch.path("go")]
    let running = try Running(
      ["/usr/bin/python3", "-uc", text] + arguments, input: FileDescriptor.open("/dev/null"))
    return Program(running: running, store: store)
  }

  private struct Program {
    let running: Running
    let store: TestStore

    func lines(_ count: Int) throws -> [String] { try running.lines(count) }

    /// What it printed, and its errors.
    func finish() throws -> [String] {
      let outcome = try running.finish()
      try store.scratch.directory.remove("go")
      return (outcome.output + outcome.error).split(separator: "\n").map(String.init)
    }
  }

  private static let text = """
    import os, sqlite3, sys, time
    path, journal, album, go = sys.argv[1:]
    db = sqlite3.connect(path, timeout=0.5, isolation_level=None)
    db.execute("PRAGMA locking_mode = EXCLUSIVE")
    print(db.execute("PRAGMA journal_mode = " + journal).fetchone()[0])
    db.execute("BEGIN EXCLUSIVE")
    db.execute("DELETE FROM album WHERE id = ?", [album])
    db.execute("COMMIT")
    print("deleted")
    while not os.path.exists(go): time.sleep(0.01)
    db.close()
    print("closed")
    """
}

extension TestStore {
  /// The files of the database that the daemon has open.
  fileprivate func openFiles() throws -> [String] {
    let descriptors = "/proc/\(identifier)/fd"
    let open = try Directory.open(descriptors).names().map {
      var bytes = [CChar](repeating: 0, count: 4_096)
      let count = unsafe readlink("\(descriptors)/\($0)", &bytes, bytes.count)
      let name = bytes.prefix(max(0, count)).map(UInt8.init(bitPattern:))
      return String(decoding: name, as: UTF8.self)
    }
    let names = ["", "-wal", "-shm", "-journal"].map { path + $0 }
    return names.filter { open.contains($0) || open.contains("\($0) (deleted)") }
  }

  fileprivate func lastDeletedCount() throws -> Int64? {
    try status()["lastSweep"]?["deletedCount"]?.integer
  }
}
