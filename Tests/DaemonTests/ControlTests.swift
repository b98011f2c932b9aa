import Glibc
import CascadeModel
import CascadeSQLite
import CascadeSystem
import Testing

/// The daemon's own command line, its start and its end.
@Suite struct ControlTests {
  private static func cascaded(_ arguments: String...) throws -> Outcome {
    try run([Programs.cascaded] + arguments)
  }

  @Worker @Test func tellsItsVersionAndItsUsage() throws {
    #expect(try ControlTests.cascaded("--version").output == "cascaded \(Release.version)\n")
    let help = try ControlTests.cascaded("--help")
    #expect(help.status == 0 && help.output.hasPrefix("usage: cascaded"))
  }

  @Worker
  @Test(arguments: [
    ([], "STORE.db is missing"), (["a", "b"], "give one store"),
    (["--frob"], "unknown option --frob"),
    (["--model"], "--model needs a value"),
    (["--check-config"], "--check-config needs a FILE, DIR or STORE.db"),
  ])
  func refusesAWrongCommandLine(arguments: [String], complaint: String) throws {
    let outcome = try run([Programs.cascaded] + arguments)
    #expect(outcome.status == 64)
    #expect(outcome.error.contains("cascaded: \(complaint)"))
  }

  @Worker @Test func makesTheDatabaseAndWhatIsBesideIt() throws {
    let store = try TestStore()
    #expect(try store.texts("PRAGMA journal_mode") == ["wal"])
    for name in ["new", "tmp", "held", "rejected"] {
      #expect(try FileStatus.of("\(store.spool)/\(name)")?.kind == .directory)
    }
    let socket = try #require(try FileStatus.of(store.socket))
    #expect(socket.kind == .socket && socket.mode == 0o660)
  }

  @Worker @Test func servesADatabaseThatAnApplicationMade() throws {
    let store = try TestStore(starts: false)
    do {
      let application = try Connection(path: store.path, access: .create)
      try application.execute("PRAGMA user_version = 7")
      try application.execute("CREATE TABLE song(id); INSERT INTO song VALUES(1)")
    }
    try store.start()
    try store.apply(#"{"changes": [{"put": ["a", "1"]}]}"#)
    #expect(try store.integers("PRAGMA user_version") == [7])
    #expect(try store.integers("SELECT id FROM song") == [1])
  }

  @Worker @Test func isAloneOnItsStore() throws {
    let store = try TestStore()
    let second = try ControlTests.cascaded(store.path)
    #expect(second.status == 75)
    #expect(second.error.contains("another cascaded holds the spool \(store.spool)"))
    let elsewhere = try ControlTests.cascaded("--socket", store.scratch.path("other"), store.path)
    #expect(elsewhere.status == 75)
    #expect(try store.ctl("status").status == 0)
  }

  @Worker @Test func isAloneOnItsStoreByWhateverNameAndSpool() throws {
    let store = try TestStore()
    let link = store.scratch.path("link.db")
    let spool = store.scratch.path("spool")
    Make.link(link, to: store.path)
    try store.scratch.write("model.json", "{ spool: \"\(spool)\" }")
    let socket = ["--socket", store.scratch.path("other")]
    let model = ["--model", store.scratch.path("model.json")]
    let second = try run(
      [Programs.cascaded] + socket + model + [store.path], limit: .seconds(10))
    #expect(second.status == 75)
    #expect(second.error.contains("another cascaded serves the same database"))
    let linked = try run([Programs.cascaded] + socket + model + [link], limit: .seconds(10))
    #expect(linked.status == 77)
    #expect(linked.error.contains("\(link) is a symbolic link"))
    let other = store.scratch.path("no.db")
    try store.scratch.write("no.db", String(repeating: "no database ", count: 1_000))
    #expect(try run([Programs.cascaded] + socket + model + [other]).status == 65)
    for path in [spool, "\(link).cascade", "\(other).cascade"] {
      #expect(try FileStatus.of(path) == nil)
    }
    #expect(try store.ctl("status").status == 0)
  }

  @Worker @Test func leavesAnothersStoreAlone() throws {
    let store = try TestStore()
    let application = try Connection(path: store.path, access: .readWrite)
    try application.execute("CREATE TABLE song(id INTEGER PRIMARY KEY, album INTEGER)")
    try store.scratch.write(
      "other.json", "{ collections: { songs: { table: 'song', key: 'id' } } }")
    let second = try ControlTests.cascaded(
      "--model", store.scratch.path("other.json"), "--socket", store.scratch.path("other"),
      store.path)
    #expect(second.status == 75)
    #expect(
      try application.integer("SELECT count(*) FROM sqlite_schema WHERE tbl_name = 'song'") == 1)
  }

  @Worker @Test(arguments: [SIGTERM, SIGINT])
  func leavesEverythingInOneFileAtItsEnd(signal: CInt) throws {
    let store = try TestStore()
    // An application keeps its connection: the log is not folded by being the last.
    let application = try Connection(path: store.path, access: .readWrite)
    #expect(try application.integer("SELECT count(*) FROM sqlite_schema") != 0)
    try store.apply(#"{"changes": [{"put": ["a", "1"]}, {"put": ["a", "2"]}]}"#)
    #expect(try store.end(signal, limit: .seconds(10)) == .exit(0))
    #expect(try FileStatus.of(store.socket) == nil)
    let bytes = try store.scratch.directory.file("store.db").readWhole(limit: 1 << 30) ?? []
    try store.scratch.directory.file("copy.db", .createNew).writeAll(bytes)
    let copy = try Connection(path: store.scratch.path("copy.db"), access: .readWrite)
    #expect(try copy.integer("SELECT count(*) FROM cascade_node") == 2)
    #expect(try copy.integer("SELECT count(*) FROM cascade_ledger") == 1)
  }

  @Worker @Test func endsSoonWhileItHasWork() throws {
    let store = try TestStore()
    var text = "{\"batch\": 100}\n"
    for number in 1...50_000 { text += "{\"put\": [\"a\", \(number)]}\n" }
    try store.enqueue("large.ndjson", text)
    try store.waitUntil("it has begun") {
      try store.integers("SELECT count(*) FROM cascade_ledger")[0] > 0
    }
    #expect(try store.end(limit: .seconds(10)) == .exit(0))
    #expect(try store.count(in: "new") == 1)
    try store.start()
    try store.waitUntilIdle()
    #expect(try store.integers("SELECT count(*) FROM cascade_node") == [50_000])
  }

  @Worker @Test func goesOnWhenNobodyReadsItsLog() throws {
    let store = try TestStore(starts: false)
    let input = try FileDescriptor.open("/dev/null")
    let error = try Pipe()
    let output = try FileDescriptor.open("/dev/null", .append)
    let daemon = try Subprocess(
      [Programs.cascaded, store.path], input: input, output: output, error: error.writing)
    _ = error.takeReading()
    try store.waitUntil("it answers") { (try? UnixSocket.connect(store.socket)) != nil }
    #expect(try store.ctl("apply", "-", input: "{}").status == 65)
    #expect(try store.ctl("status").status == 0)
    daemon.send(SIGTERM)
    #expect(daemon.wait() == .exit(0))
  }

  // MARK: - Configuration

  @Worker @Test func judgesModelFiles() throws {
    let scratch = try Scratch()
    try scratch.write("good.json", "{ limits: { hold: { deletes: 5 } } } // yes")
    try scratch.write("bad.json", "{ colections: {}, limits: { lock: 5 }, trash: \"soon\" }")
    try scratch.write("broken.json", "{ limits: ")
    let good = try ControlTests.cascaded("--check-config", scratch.path("good.json"))
    #expect(good.status == 0 && good.error == "")
    let files = ["good.json", "bad.json", "broken.json", "none.json"].map(scratch.path)
    let all = try run([Programs.cascaded, "--check-config"] + files)
    #expect(all.status == 78)
    let lines = all.error.split(separator: "\n")
    #expect(lines.filter { $0.hasPrefix("\(files[1]): ") }.count == 3)
    #expect(all.error.contains("did you mean \"collections\"?"))
    #expect(lines.contains { $0.hasPrefix("\(files[1]): limits.lock: ") })
    #expect(lines.contains { $0.hasPrefix("\(files[1]): trash: ") })
    #expect(lines.contains { $0.hasPrefix("\(files[2]): ") })
    #expect(lines.contains { $0.hasPrefix("\(files[3]): ") })
    #expect(!lines.contains { $0.hasPrefix(files[0]) })
  }

  @Worker @Test func judgesAllThatItIsGiven() throws {
    let scratch = try Scratch()
    try scratch.write("good.json", "{}")
    try scratch.write("bad.json", "{ trash: 1 }")
    _ = try Directory.openOrMake(scratch.path("models"))
    let (good, bad, models) = (
      scratch.path("good.json"), scratch.path("bad.json"), scratch.path("models")
    )
    for arguments in [
      ["--model", good, bad], ["--model", bad, good], ["--config", models, bad],
      ["--config", models, "--model", bad], [models, bad],
    ] {
      let outcome = try run([Programs.cascaded, "--check-config"] + arguments)
      #expect(outcome.status == 78, "\(arguments)")
      #expect(outcome.error.hasPrefix("\(bad): trash: "))
    }
    #expect(try ControlTests.cascaded("--check-config", "--config", models, good).status == 0)
  }

  @Worker @Test func saysByItsStatusWhatIsNotThere() throws {
    let scratch = try Scratch()
    let none = scratch.path("none")
    let statuses: [([String], CInt, String)] = [
      (["--check-config", none], 66, none), (["--check-config", "--config", none], 66, none),
      (["--config", none, "--socket", scratch.path("s")], 66, none),
      (["--model", scratch.path], 66, ""), ([""], 64, "STORE.db is missing"),
      (["--config", scratch.path], 64, "--config needs --socket PATH"),
      (["--config", "", "--socket", "s"], 64, "--config needs a value"),
      ([scratch.path], 65, "\(scratch.path) is a directory"),
    ]
    for (arguments, status, text) in statuses {
      let outcome = try run([Programs.cascaded] + arguments, limit: .seconds(20))
      #expect(outcome.status == status, "\(arguments): \(outcome.error)")
      #expect(outcome.error.contains(text))
      #expect(!outcome.error.contains("cascaded: cascaded: "))
    }
    #expect(try FileStatus.of("\(scratch.path).cascade") == nil)
  }

  @Worker @Test func refusesAModelThatIsWrong() throws {
    let store = try TestStore(model: "{ limitz: {} }", starts: false)
    let outcome = try ControlTests.cascaded(store.path)
    #expect(outcome.status == 78)
    #expect(outcome.error.contains("\(store.spool)/model.json"))
  }

  @Worker @Test func takesAModelAndASocketFromTheCommandLine() throws {
    let store = try TestStore(starts: false)
    try store.scratch.write("m.json", "{ limits: { hold: { deletes: 0, share: 0 } } }")
    try store.launch(["--model", store.scratch.path("m.json"), "--socket", store.scratch.path("s")])
    try store.waitUntil("it answers") {
      (try? UnixSocket.connect(store.scratch.path("s"))) != nil
    }
    let ctl = [Programs.cascadectl, "--socket", store.scratch.path("s"), "apply", "-"]
    #expect(try run(ctl, input: #"{"changes": [{"put": ["a", "1"]}]}"#).status == 0)
    #expect(try run(ctl, input: #"{"changes": [{"delete": ["a", "1"]}]}"#).status == 3)
    let missing = try ControlTests.cascaded("--model", "/no/such.json", store.path)
    #expect(missing.status == 66)
    #expect(missing.error.contains("/no/such.json"))
  }

  @Worker @Test func refusesWhatIsNoDatabase() throws {
    let store = try TestStore(starts: false)
    try store.scratch.write("store.db", String(repeating: "no database ", count: 1_000))
    let outcome = try ControlTests.cascaded(store.path)
    #expect(outcome.status == 65)
    #expect(outcome.error.contains("\(store.path)"))
    #expect(try FileStatus.of(store.spool) == nil)
    #expect(try ControlTests.cascaded("/no/such/directory/store.db").status == 66)
  }

  // MARK: - Paths

  @Worker
  @Test(arguments: [
    "a b's \"store\".db", "ü\u{301}\n.db", "-store.db",
    String(repeating: "long", count: 45) + ".db",
  ])
  func servesAStoreOfAnyName(name: String) throws {
    let store = try TestStore(name: name)
    #expect(try store.ctl("apply", "-", input: #"{"changes": [{"put": ["a", "1"]}]}"#).status == 0)
    #expect(try store.ctl("node", "a/1").output == "a/1\n")
    #expect(try store.end() == .exit(0))
    #expect(try FileStatus.of(store.socket) == nil)
  }

  @Worker @Test func servesAStoreByARelativePath() throws {
    let scratch = try Scratch()
    let input = try FileDescriptor.open("/dev/null")
    let daemon = try Running(
      [Programs.cascaded, "store.db"], directory: scratch.path, input: input)
    let deadline = Deadline(.seconds(30))
    let ctl = [Programs.cascadectl, "--store", "store.db", "--json"]
    var status = try run(ctl + ["status"], directory: scratch.path)
    while status.status != 0 && !deadline.isOver {
      status = try run(ctl + ["status"], directory: scratch.path)
    }
    #expect(
      try status.json["stores"]?.array?.first?["store"] == .string(scratch.path("store.db")))
    daemon.process.send(SIGTERM)
    #expect(try daemon.finish().status == 0)
  }
}
