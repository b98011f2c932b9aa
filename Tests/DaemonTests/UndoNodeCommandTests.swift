import CascadeModel
import Testing

/// `undo NODE` as people and scripts use it.
@Suite struct UndoNodeCommandTests {
  @Worker @Test("One node comes back, and the rest later")
  func node() throws {
    let store = try PostsOfUsers.store("keepDeleted: true,")
    #expect(try store.shell("DELETE FROM user").status == 0)
    _ = try store.ctl("sweep")
    let undone = try store.ctl("--json", "undo", "users/7").json
    #expect(undone["restored"] == 2 && undone["leftCount"] == 0)
    #expect(try store.shell("SELECT id FROM user; SELECT id FROM post").output == "7\n71\n")
    let batches = try store.ctl("--json", "batches").output.split(separator: "\n")
      .map { try JSON.parse(String($0)) }
    #expect(batches.map { $0["deletedCount"] } == [4, 2])
    #expect(batches.map { $0["undone"] == .null } == [true, false])
    let again = try store.ctl("undo", "users/7")
    #expect(again.status == 65 && again.error.contains("nothing of it is in the trash"))
    #expect(try store.ctl("undo", batches[0]["batch"]!.text, "--quiet").status == 0)
    #expect(try store.shell("SELECT count(*) FROM post").output == "2\n")
    #expect(try store.ctl("undo", "users").status == 64)
    #expect(try store.ctl("undo", "1", "2").status == 64)
  }
}
