import Glibc
import CascadeModel
import CascadeSystem
import Testing

/// A daemon that would lock the application out of its own store does not begin.
@Suite(.enabled(if: geteuid() == 0, "only root can be somebody else"))
struct OwnershipTests {
  /// Runs it as nobody, in the group of nobody.
  private static func cascaded(_ path: String) throws -> Outcome {
    try run(
      ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", Programs.cascaded]
        + [path], limit: .seconds(10))
  }

  @Worker @Test(arguments: ["600", "644", "660"])
  func refusesAStoreOfAnotherUser(mode: String) throws {
    let store = try TestStore(starts: false)
    try store.sql("PRAGMA journal_mode = WAL; CREATE TABLE a(id)")
    #expect(try run(["/bin/chown", "-R", "1234:1234", store.scratch.path]).status == 0)
    #expect(try run(["/bin/chmod", mode, store.path]).status == 0)
    #expect(try run(["/bin/chmod", "777", store.scratch.path]).status == 0)
    let outcome = try OwnershipTests.cascaded(store.path)
    #expect(outcome.status == 77)
    #expect(outcome.error.contains("belongs to user 1234"))
    #expect(try FileStatus.of("\(store.path)-wal") == nil)
  }

  /// What SQLite made beside it would lock out its owner when he may write it again.
  @Worker @Test func refusesAStoreThatItsOwnerMayNotWriteNow() throws {
    let store = try TestStore(starts: false)
    try store.sql("PRAGMA journal_mode = WAL; CREATE TABLE a(id)")
    #expect(try run(["/bin/chown", "-R", "65534:65534", store.scratch.path]).status == 0)
    #expect(try run(["/bin/chmod", "444", store.path]).status == 0)
    let outcome = try OwnershipTests.cascaded(store.path)
    #expect(outcome.status == 77)
    #expect(outcome.error.contains("\(store.path) cannot be written"))
    for sidecar in ["-wal", "-shm", ".cascade"] {
      #expect(try FileStatus.of(store.path + sidecar) == nil)
    }
  }
}
