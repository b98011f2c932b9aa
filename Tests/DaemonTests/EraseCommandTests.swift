import CascadeModel
import CascadeSystem
import Glibc
import TestSupport
import Testing

/// `erase` as people and scripts use it.
@Suite struct EraseCommandTests {
  private static func store(_ schema: String = "", files: String = "/nonexistent") throws
    -> TestStore
  {
    try TestStore(
      model: """
        { keepDeleted: true, secureDelete: "on", files: { pics: "\(files)" }, collections: {
            users: { table: "user", key: "id" }, posts: { table: "post", key: "id" },
            fans: { table: "fan", key: "id" }, notes: {} },
          relationships: [
            { name: "user", from: "posts", to: "users", column: "user",
              rules: ["deleteSourceIfDestinationDeleted"] },
            { name: "of", from: "fans", to: "users", column: "user",
              rules: ["nullifySourceIfDestinationDeleted"] },
            { name: "pic", from: "posts", to: { files: "pics" }, column: "pic",
              rules: ["deleteDestinationIfAllSourcesDeleted"] }],
          limits: { hold: { deletes: 100000 } } }
        """,
      schema: """
        PRAGMA secure_delete = ON;
        CREATE TABLE user(id TEXT PRIMARY KEY, name TEXT);
        CREATE TABLE post(id INTEGER PRIMARY KEY, user TEXT, text TEXT, pic TEXT);
        CREATE TABLE fan(id INTEGER PRIMARY KEY, user TEXT);
        CREATE INDEX post_user ON post(user); CREATE INDEX fan_user ON fan(user);
        CREATE INDEX post_pic ON post(pic);
        INSERT INTO user VALUES('alice-key', 'Alice Tokenname'), ('bob-key', 'Bob');
        INSERT INTO post SELECT value, 'alice-key', 'tokentext ' || value, NULL FROM generate_series(1, 300);
        INSERT INTO post VALUES(1000, 'bob-key', 'of another', NULL);
        INSERT INTO fan VALUES(1, 'alice-key'), (2, 'bob-key'); \(schema)
        """)
  }

  private static let tokens = ["alice-key", "Alice Token", "tokentext", "alice-file"]

  /// The files in which one of the tokens is still to be found.
  private static func filesWithTokens(_ store: TestStore) throws -> [String] {
    try tokens.flatMap { token in
      try run([
        "/usr/bin/grep", "-r", "-l", "-a", token, String(store.path.dropLast("store.db".count)),
      ])
      .output.split(separator: "\n").map { "\(token) in \($0)" }
    }
  }

  private static func delete(_ sql: String, in store: TestStore) throws {
    #expect(try store.shell("PRAGMA secure_delete = ON; \(sql)").status == 0)
  }

  @Worker @Test("Nothing of a person is left, whatever had it before, and a report says so")
  func leavesNothing() throws {
    let scratch = try Scratch()
    _ = try Directory.openOrMake(scratch.path("pics"))
    try scratch.write("pics/alice.jpg", "alice-file")
    let store = try Self.store(
      "UPDATE post SET pic = 'alice.jpg' WHERE id = 5;", files: scratch.path("pics"))
    try Self.delete("DELETE FROM post WHERE id < 20;", in: store)
    _ = try store.ctl("sweep")
    #expect(try store.ctl("undo", "1").status == 0)
    try Self.delete("DELETE FROM post WHERE id = 30;", in: store)
    _ = try store.ctl("sweep")
    try store.apply(
      """
      {"id": "import of alice-key", "changes": [{"put": ["notes", "alice-note"], "value": {"of": "tokentext"},
        "edges": [{"name": "about", "to": ["users", "alice-key"],
          "rules": ["deleteSourceIfDestinationDeleted", "notifyIfDestinationDeleted"]}]}]}
      """)
    try Self.delete(
      "INSERT INTO cascade_lease(collection, key, owner, expires) VALUES('users', 'alice-key', 'alice-key', 5);",
      in: store)
    let dry = try store.ctl("--json", "erase", "users/alice-key", "--dry-run").json
    #expect(dry["state"] == "done" && dry["deletedCount"] == 301 && dry["job"] == .null)
    let report = scratch.path("report.json")
    let erased = try store.ctl(
      "--json", "erase", "users/alice-key", "--report", report, "--expect", "301")
    #expect(erased.status == 0, "\(erased.output)\(erased.error)")
    #expect(try Self.filesWithTokens(store) == [])
    #expect(scratch.directory.text("pics/alice.jpg") == nil)
    #expect(
      try store.shell("SELECT count(*) FROM user; SELECT count(*) FROM post; SELECT user FROM fan")
        .output == "1\n1\n\nbob-key\n")
    let text = scratch.directory.text("report.json") ?? ""
    let json = try JSON.parse(text)
    #expect(json["verified"]?["referring"] == 0 && json["traces"] == [])
    #expect(
      json["tables"]?.array?.contains {
        $0["table"] == "post" && $0["before"] == 299 && $0["gone"] == 299 && $0["left"] == 0
      } == true)
    #expect(Self.tokens.allSatisfy { !text.contains($0) })
    let salt = try #require(try erased.json["salt"]?.string)
    #expect(
      json["subject"]?.string == SHA256.hex("\(salt)[\"users\",\"alice-key\"]".utf8)
        && !text.contains(salt))
    guard case .object(let members) = json else { return }
    #expect(json["sha256"]?.string == SHA256.hex(JSON.object(members.dropLast()).text.utf8))
    let listed = try store.ctl("--json", "deleted").lines
    #expect(listed.allSatisfy { $0["node"]?.array?.count == 1 && $0["kept"] == false })
    #expect(listed.last?["cause"] == "erased")
    #expect(try store.ctl("erase", "users/alice-key").output.hasPrefix("done: 0 nodes erased"))
    // The same file takes effect once.
    let again = try store.ctl(
      "--json", "apply", "-", input: #"{"id": "import of alice-key", "changes": []}"#)
    #expect(try again.json["outcome"] != "applied")
  }

  @Worker @Test("Columns that nothing covers, and files that name it, are looked at first")
  func gate() throws {
    let store = try Self.store(
      "CREATE TABLE login(id INTEGER PRIMARY KEY, user_id TEXT); INSERT INTO login VALUES(1, 'alice-key'), (2, 'bob-key');"
    )
    let stopped = try store.ctl("--json", "erase", "users/alice-key")
    #expect(stopped.status == 4)
    #expect(try stopped.json["evidence"]?.array?.map { $0["table"] } == ["login"])
    #expect(try store.ctl("erase", "users/alice-key").output.contains("--accept login.user_id"))
    #expect(try store.shell("SELECT count(*) FROM user").output == "2\n")
    #expect(
      try store.ctl(
        "apply", "-",
        input:
          #"{"changes": [{"delete": ["users", "alice-key"]}, {"patch": ["fans", 99], "set": {}}]}"#
      ).status == 65)
    try store.enqueue(
      "bad.json", #"{"changes": [{"patch": ["users", "alice-key"], "set": {"nothing": 1}}]}"#)
    try store.waitUntil("it is rejected") { try store.count(in: "rejected") == 2 }
    let named = try store.ctl("--json", "erase", "users/alice-key", "--accept", "login.user_id")
    #expect(try named.status == 4 && named.json["files"] == ["rejected/bad.json"])
    #expect(try store.ctl("spool", "drop", "bad.json").status == 0)
    #expect(
      try store.ctl("erase", "users/alice-key", "--accept", "login.user_id", "--quiet").status == 0)
    #expect(try store.shell("SELECT count(*) FROM user").output == "1\n")
  }

  @Worker
  @Test(
    "Nothing is erased where the report cannot be written, something has to stay, or nothing is there"
  )
  func refused() throws {
    let store = try Self.store()
    let unwritable = try store.ctl(
      "erase", "users/alice-key", "--report", "/nonexistent/report.json")
    #expect(unwritable.status != 0 && unwritable.error.contains("/nonexistent"))
    #expect(try store.ctl("protect", "users/alice-key", "--reason", "case 7").status == 0)
    let blocked = try store.ctl("--json", "erase", "users/alice-key")
    #expect(blocked.status == 4)
    #expect(
      try blocked.json["blocked"]?.array?.first?["message"]?.string?.contains("case 7") == true)
    #expect(try store.shell("SELECT count(*) FROM post").output == "301\n")
    #expect(try store.ctl("unprotect", "users/alice-key").status == 0)
    let none = try store.ctl("--json", "erase", "users/nobody")
    #expect(try none.status == 0 && none.json["deletedCount"] == 0)
    #expect(try store.ctl("erase", "users").status == 64)
  }

  @Worker @Test("What was deleted without secure_delete is told, and --vacuum removes it")
  func traces() throws {
    let store = try Self.store()
    #expect(
      try store.shell(
        "PRAGMA secure_delete = OFF; UPDATE post SET text = 'short' WHERE id > 20; DELETE FROM post WHERE id > 200 AND id < 300"
      ).status == 0)
    #expect(
      try store.shell(
        "PRAGMA secure_delete = OFF; INSERT INTO fan VALUES(3, 'alice-key'); DELETE FROM fan WHERE id = 3"
      ).status == 0)
    let erased = try store.ctl("--json", "erase", "users/alice-key")
    #expect(erased.status == 4)
    #expect(try erased.json["traces"]?.array?.isEmpty == false && erased.json["state"] == "blocked")
    let again = try store.ctl("--json", "erase", "users/alice-key", "--vacuum")
    #expect(try again.status == 0 && again.json["traces"] == [])
    #expect(try Self.filesWithTokens(store) == [])
  }
}
