import CascadeModel
import Glibc
import Testing

/// Stores that only some users may see, on a socket that all share.
@Suite struct AccessTests {
  private func host() throws -> Host {
    let host = try Host()
    try host.model("user", "access: { user: 1236 }")
    try host.model("group", "access: { group: 1240 }")
    try host.model("free")
    try host.start()
    for store in ["user", "group", "free"] { try host.wait(for: store, toBe: "ok") }
    #expect(try run(["/bin/chmod", "755", host.scratch.path]).status == 0)
    #expect(try run(["/bin/chmod", "666", host.socket]).status == 0)
    return host
  }

  private func ask(_ host: Host, as user: String, _ arguments: [String]) throws -> Outcome {
    let groups = user == "1237" ? "--groups=1240" : "--clear-groups"
    return try run(
      [
        "/usr/bin/setpriv", "--reuid=\(user)", "--regid=\(user)", groups, Programs.cascadectl,
        "--socket",
      ]
        + [host.socket] + arguments)
  }

  private func stores(_ host: Host, as user: String) throws -> [String?] {
    try ask(host, as: user, ["--json", "status"]).json["stores"]?.array?.map {
      $0["store"]?.string
    } ?? []
  }

  @Worker @Test(.enabled(if: geteuid() == 0, "only root can be another user"))
  func eachSeesItsOwn() throws {
    let host = try host()
    let paths = ["free", "group", "user"].map(host.path)
    #expect(try Set(stores(host, as: "0")) == Set(paths))
    #expect(try Set(stores(host, as: "1236")) == [paths[0], paths[2]])
    #expect(try Set(stores(host, as: "1237")) == [paths[0], paths[1]])
    #expect(try stores(host, as: "1238") == [paths[0]])
    let put = #"{"changes": [{"put": ["a", "1"]}]}"#
    #expect(try host.ctl(of: "user", "apply", "-", input: put).status == 0)
    #expect(try ask(host, as: "1236", ["--store", paths[2], "nodes", "a"]).output == "a/1\n")
    #expect(try ask(host, as: "1238", ["nodes", "a"]).status == 0)
  }

  @Worker @Test(.enabled(if: geteuid() == 0, "only root can be another user"))
  func othersLearnNothing() throws {
    let host = try host()
    let (hidden, missing) = (host.path("user"), host.path("none"))
    for arguments in [
      ["nodes", "a"], ["sweep"], ["pause"], ["status"], ["events"], ["why", "a/1"], ["batches"],
      ["undo", "1"], ["check"], ["delete", "a/1"], ["spool"], ["detach"],
    ] {
      let outcome = try ask(host, as: "1238", ["--store", hidden] + arguments)
      let other = try ask(host, as: "1238", ["--store", missing] + arguments)
      #expect(outcome.status == other.status && outcome.status != 0, "\(arguments)")
      let error = outcome.error.replacing("user.db", with: "none.db")
      #expect(error == other.error, "\(arguments)")
    }
    for arguments in [["metrics"], ["events"], ["status"], ["pause"], ["resume"], ["sweep"]] {
      let outcome = try ask(host, as: "1238", arguments)
      #expect(!"\(outcome.output)\(outcome.error)".contains("user.db"), "\(arguments)")
    }
    #expect(try ask(host, as: "1238", ["reload"]).status == 77)
    #expect(try host.states().values.allSatisfy { $0 == "ok" })
  }
}
