import CascadeModel
import CascadeSystem
import Glibc
import Testing

/// `deleted` as people and scripts use it.
@Suite struct DeletedCommandTests {
  private static func store(_ settings: String = "keepDeleted: true") throws -> TestStore {
    try TestStore(
      model: """
        { \(settings), collections: {
            users: { table: "user", key: "id" }, posts: { table: "post", key: "id" } },
          relationships: [
            { name: "user", from: "posts", to: "users", column: "user",
              rules: ["deleteSourceIfDestinationDeleted"] }],
          limits: { hold: { deletes: 100000 } } }
        """,
      schema: """
        CREATE TABLE user(id INTEGER PRIMARY KEY);
        CREATE TABLE post(id INTEGER PRIMARY KEY, user INTEGER, text TEXT);
        CREATE INDEX post_user ON post(user);
        INSERT INTO user SELECT value FROM generate_series(1, 60);
        INSERT INTO post SELECT 100 * u.id + s.value, u.id, 'x' FROM user u, generate_series(1, 40) s;
        """)
  }

  @Worker @Test("What went is listed for people and scripts, and followed")
  func lists() throws {
    let store = try Self.store()
    let follower = try Running(
      [Programs.cascadectl, "--store", store.path, "--json", "deleted", "--follow", "users"],
      input: FileDescriptor.open("/dev/null"))
    #expect(try store.shell("DELETE FROM user WHERE id = 7").status == 0)
    #expect(try JSON.parse(follower.lines(1)[0])["node"] == ["users", 7])
    let lines = try store.ctl("--json", "deleted", "--values").lines
    #expect(lines.count == 41 && lines[0]["cause"] == "application" && lines[1]["cause"] == "sweep")
    #expect(lines[1]["value"]?["user"] == 7 && lines[1]["author"] == .null)
    #expect(lines[0]["kept"] == true && lines[0]["deleted"] == 1)
    #expect(try store.ctl("--json", "deleted", "posts", "--after", "39").lines.count == 2)
    let text = try store.ctl("deleted", "users").output
    #expect(
      text.hasPrefix("1  ") && text.hasSuffix("users/7  batch 1, application; can be undone\n"))
    #expect(try store.ctl("--json", "delete", "users/8").status == 0)
    let job = try store.ctl("--json", "deleted", "users", "--after", "41").lines
    #expect(job.map { $0["cause"] } == ["job"] && job[0]["author"]?.string != nil)
    #expect(try JSON.parse(follower.lines(2)[1])["node"] == ["users", 8])
    #expect(try store.ctl("deleted", "users", "posts").status == 64)
    try store.end()
    #expect(try follower.finish().status == 75)
  }

  @Worker @Test("A number before what is forgotten is refused")
  func forgotten() throws {
    let store = try Self.store("trash: \"1s\", keep: { deleted: \"1s\" }")
    #expect(try store.shell("DELETE FROM user WHERE id < 3").status == 0)
    try store.waitUntil("it is swept") {
      try store.shell("SELECT count(*) FROM post WHERE user < 3").output == "0\n"
    }
    try store.waitUntil("it is forgotten") {
      _ = try store.ctl("sweep", "trash")
      return try store.ctl("deleted").output == ""
    }
    let refused = try store.ctl("deleted", "--after", "3")
    #expect(refused.status == 65 && refused.error.contains("keep.deleted"))
    #expect(try store.ctl("deleted", "--after", "80").status == 0)
    #expect(
      try store.shell("DELETE FROM post WHERE id = 301; DELETE FROM user WHERE id = 9").status == 0)
    try store.waitUntil("it goes on") { try store.ctl("deleted", "--after", "80").output != "" }
    #expect(try store.ctl("--json", "deleted", "--after", "80").lines[0]["deleted"] == 81)
  }

  @Worker @Test("Beside kills of the daemon and of the reader, each node is told of once, in order")
  func kills() throws {
    let store = try Self.store()
    var (random, told): (Seeded, [JSON]) = (Seeded(), [])
    print("kill -9 beside `deleted --follow`: seed \(random.seed)")
    for round in 0..<8 {
      let follower = try follow(store, after: told.last?["deleted"]?.integer)
      for user in 1...6 {
        let id = 6 * round + user
        if user % 3 == 0 {
          _ = try store.ctl("delete", "users/\(id)", "--no-wait")
        } else {
          #expect(try store.shell("DELETE FROM user WHERE id = \(id)").status == 0)
        }
        SystemClock.sleep(for: .milliseconds(Int.random(in: 0..<80, using: &random)))
      }
      if round % 2 == 0 { follower.process.send(9) }
      #expect(try store.end(SIGKILL) == .signal(SIGKILL))
      // What a reader has printed in part it has not told.
      let lines = try follower.finish().output.split(separator: "\n").map(String.init)
      told += lines.compactMap { try? JSON.parse($0) }
      try store.start()
    }
    try store.waitUntil("all is swept") {
      try store.shell("SELECT count(*) FROM post WHERE user <= 48").output == "0\n"
        && store.ctl("--json", "jobs").lines.allSatisfy { $0["state"] == "done" }
    }
    try store.waitUntilIdle()
    let last = told.last?["deleted"]?.text ?? "0"
    told += try store.ctl("--json", "deleted", "--after", last).lines
    let numbers = told.compactMap { $0["deleted"]?.integer }
    #expect(numbers == Array(Set(numbers)).sorted())
    let nodes = told.map { $0["node"]!.text }
    #expect(nodes.count == 48 * 41 && Set(nodes).count == nodes.count)
    for user in 1...48 {
      let first = nodes.firstIndex(of: "[\"users\",\(user)]")!
      let post = nodes.firstIndex { $0.hasPrefix("[\"posts\",\(100 * user + 1)]") }!
      #expect(first < post)
    }
  }

  private func follow(_ store: TestStore, after number: Int64?) throws -> Running {
    try Running(
      [
        Programs.cascadectl, "--store", store.path, "--json", "deleted", "--follow", "--after",
        "\(number ?? 0)",
      ], input: FileDescriptor.open("/dev/null"))
  }
}
