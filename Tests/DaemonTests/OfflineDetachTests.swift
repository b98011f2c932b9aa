import CascadeModel
import CascadeSQLite
import CascadeSystem
import Glibc
import Testing

/// `cascaded --detach`: everything of Cascade's leaves a database that nobody serves.
@Suite struct OfflineDetachTests {
  private func detach(_ path: String) throws -> Outcome {
    try run([Programs.cascaded, "--detach", path])
  }

  @Worker @Test(arguments: ["WAL", "DELETE"])
  func leavesNoTrace(journal: String) throws {
    let store = try Library.store(starts: false)
    let before = try store.schema()
    try store.start()
    try store.apply(#"{"changes": [{"put": ["notes", "1"]}, {"delete": ["songs", 20]}]}"#)
    try store.end()
    let mode = try store.sql("PRAGMA journal_mode = \(journal)")
    let outcome = try detach(store.path)
    #expect(outcome.status == 0, "\(outcome.error)")
    #expect(outcome.output.hasPrefix("detached \(store.path)\n  removed "))
    for suffix in ["-wal", "-shm", "-journal"] {
      #expect(try FileStatus.of(store.path + suffix) == nil)
    }
    #expect(try store.schema() == before)
    #expect(try store.sql("PRAGMA journal_mode") == mode)
    #expect(try store.songs() == [10, 11])
    let again = try detach(store.path)
    #expect(again.status == 0)
    #expect(again.output == "detached \(store.path)\n  nothing to remove\n")
  }

  @Worker @Test func detachesABackupWhileItsStoreIsServed() throws {
    let store = try Library.store(starts: false)
    let before = try store.schema()
    try store.start()
    let copy = store.scratch.path("copy.db")
    try store.sql(".backup '\(copy)'")
    #expect(try detach(copy).status == 0)
    let schema = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name"
    #expect(try run(["/usr/bin/sqlite3", copy, schema]).output == before)
    #expect(try FileStatus.of("\(copy).cascade") == nil)
    #expect(try store.schema() != before)
  }

  @Worker @Test(arguments: ["", "exclusive: true,"])
  func refusesAStoreThatIsServed(more: String) throws {
    let store = try Library.store(more: more)
    let outcome = try detach(store.path)
    #expect(outcome.status == 75)
    #expect(outcome.error.contains("`cascadectl --store \(store.path) detach`"), "\(outcome.error)")
    #expect(try !store.triggers().isEmpty)
  }

  @Worker @Test func waitsForNobodyForLong() throws {
    let store = try Library.store(starts: false)
    let other = try Connection(path: store.path, access: .readWrite)
    try other.execute("BEGIN IMMEDIATE")
    let outcome = try detach(store.path)
    #expect(outcome.status == 75)
    #expect(outcome.error.contains("\(store.path) is locked by another program"))
    try other.execute("ROLLBACK")
    #expect(try detach(store.path).status == 0)
  }

  @Worker @Test func saysByItsStatusWhatIsWrong() throws {
    let scratch = try Scratch()
    let none = scratch.path("none.db")
    #expect(try detach(none).status == 69)
    #expect(try FileStatus.of(none) == nil)
    try scratch.write("text.db", String(repeating: "no database ", count: 1_000))
    #expect(try detach(scratch.path("text.db")).status == 65)
    for arguments in [[], [none, none], [none, "--model", none], [none, "--check-config"]] {
      #expect(try run([Programs.cascaded, "--detach"] + arguments).status == 64, "\(arguments)")
    }
  }
}
