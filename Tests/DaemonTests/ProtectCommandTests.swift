import CascadeModel
import Testing

/// `protect`, `unprotect` and `protections` as people and scripts use them.
@Suite struct ProtectCommandTests {
  @Worker @Test("A protected node is deleted by nobody, until it is not protected any more")
  func protected() throws {
    let store = try PostsOfUsers.store()
    let protection = try store.ctl(
      "--json", "protect", "users/7", "--reason", "case 2026-14"
    ).json
    #expect(protection["node"] == ["users", 7] && protection["reason"] == "case 2026-14")
    #expect(protection["until"] == .null && protection["by"]?.string != nil)
    let refused = try store.shell("DELETE FROM user WHERE id = 7")
    #expect(refused.status != 0 && refused.error.contains("users/7 is protected: case 2026-14"))
    let job = try store.ctl("delete", "users/7")
    #expect(job.status == 4 && (job.output + job.error).contains("case 2026-14"))
    let file = try store.ctl(
      "--json", "apply", "-", input: #"{"changes": [{"delete": ["posts", 71]}]}"#)
    #expect(try file.status == 65 && file.json["reasons"]?.array?.first?["code"] == "protected")
    let listed = try store.ctl("--json", "protections")
    #expect(try listed.json == protection)
    #expect(try store.ctl("unprotect", "users/7").status == 0)
    #expect(try store.ctl("unprotect", "users/7").status == 65)
    #expect(try store.ctl("delete", "users/7", "--quiet").status == 0)
    #expect(try store.ctl("protections").output == "")
    let log = try store.ctl("events").output
    #expect(log.contains("users/7 is protected by") && log.contains("not protected any more"))
  }

  @Worker @Test("A protection needs a node, a reason and a time that is one")
  func wrong() throws {
    let store = try PostsOfUsers.store()
    #expect(try store.ctl("protect", "users/9", "--reason", "none").status == 65)
    #expect(try store.ctl("protect", "users/7").status == 64)
    #expect(try store.ctl("protect", "users/7", "--reason", "x", "--until", "soon").status == 64)
    let day = try store.ctl(
      "--json", "protect", "users/7", "--reason", "x", "--until", "2100-01-31 10:30")
    #expect(try day.json["until"] == 4_105_074_600_000)
  }

  @Worker @Test("A protection ends with its time")
  func ended() throws {
    let store = try PostsOfUsers.store()
    #expect(try store.ctl("protect", "users/7", "--reason", "x", "--until", "1s").status == 0)
    #expect(try store.shell("DELETE FROM user WHERE id = 7").status != 0)
  }
}
