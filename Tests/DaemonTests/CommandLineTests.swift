import CascadeModel
import CascadeSystem
import Testing

/// How cascadectl reads its arguments, and the exit statuses of what goes wrong before it speaks
/// with a daemon.
@Suite struct CommandLineTests {
  private static func ctl(_ arguments: String...) throws -> Outcome {
    try run([Programs.cascadectl] + arguments)
  }

  @Worker @Test func tellsItsVersionAndItsUsage() throws {
    let version = try CommandLineTests.ctl("--version")
    #expect(version.status == 0)
    #expect(version.output == "cascadectl \(Release.version)\n")
    let help = try CommandLineTests.ctl("--help")
    #expect(help.status == 0)
    #expect(help.output.hasPrefix("usage: cascadectl"))
  }

  @Worker
  @Test(arguments: [
    ([], "a command is missing"),
    (["stauts"], "unknown command stauts, did you mean status?"),
    (["xyzzyxyzzy"], "unknown command xyzzyxyzzy;"),
    (["status", "--frob"], "unknown option --frob"),
    (["status", "more"], "unexpected argument \"more\""),
    (["node"], "expected one node"),
    (["node", "a/b", "c/d"], "expected one node"),
    (["nodes"], "expected one collection"),
    (["edges", "--name"], "--name needs a value"),
    (["plan"], "plan needs a NODE"),
    (["apply"], "apply needs a FILE"),
    (["ack", "many"], "\"many\" is not a number"),
    (["approve", "one"], "\"one\" is not a number"),
    (["notices", "--after", "x"], "\"x\" is not a number"),
    (["spool", "retry"], "spool retry needs one FILE"),
    (["spool", "eat", "x"], "expected spool list, spool retry FILE or spool drop FILE"),
    (["--store"], "--store needs a value"),
    (["--socket", "a", "--instance", "b", "status"], "use only one of --socket and --instance"),
  ])
  func refusesAWrongCommandLine(arguments: [String], complaint: String) throws {
    let outcome = try run([Programs.cascadectl] + arguments)
    #expect(outcome.status == 64)
    #expect(outcome.output == "")
    #expect(outcome.error.contains(complaint), "\(outcome.error)")
  }

  @Worker @Test func tellsAMissingStoreFromAMissingDaemon() throws {
    let store = try TestStore(starts: false)
    let missing = try store.ctl("status")
    #expect(missing.status == 69)
    #expect(missing.error.contains("there is no store \(store.path)"))
    try store.scratch.write("store.db", "")
    let silent = try store.ctl("status")
    #expect(silent.status == 75)
    #expect(silent.error.contains("is cascaded running?"))
  }

  @Worker @Test func knowsASocketThatAKilledDaemonLeft() throws {
    let store = try TestStore()
    try store.end(9)
    #expect(try store.ctl("status").status == 75)
    try store.start()
    #expect(try store.ctl("status").status == 0)
  }

  @Worker @Test func makesThePlaceOfItsSocketWhereTheSpoolIsElsewhere() throws {
    let store = try TestStore(starts: false)
    let spool = store.scratch.path("spool")
    try store.scratch.write("model.json", "{ spool: \"\(spool)\" }")
    try store.start(["--model", store.scratch.path("model.json")])
    #expect(try store.ctl("status").status == 0)
    #expect(try FileStatus.of("\(spool)/new") != nil)
    #expect(try FileStatus.of("\(store.spool)/new") == nil)
    #expect(try store.end() == .exit(0))
  }

  @Worker @Test func takesGlobalOptionsAnywhere() throws {
    let store = try TestStore()
    for arguments in [
      ["--store", store.path, "--json", "status"], ["status", "--store", store.path, "--json"],
      ["--json", "status", "--store=\(store.path)"],
      ["--socket=\(store.socket)", "status", "--json"],
      ["status", "--json", "--socket", store.socket],
      ["--socket", store.socket, "--store", store.path, "--json", "status"],
    ] {
      let outcome = try run([Programs.cascadectl] + arguments)
      #expect(outcome.status == 0, "\(arguments): \(outcome.error)")
      #expect(try outcome.json["version"] == .string(Release.version))
    }
  }

  @Worker @Test func takesTheSocketFromTheEnvironment() throws {
    let store = try TestStore()
    let outcome = try run(
      [Programs.cascadectl, "status"], environment: ["CASCADE_SOCKET=\(store.socket)"])
    #expect(outcome.status == 0)
  }

  @Worker @Test func takesOptionsWithAnEqualsSign() throws {
    let store = try TestStore()
    let outcome = try store.ctl("edges", "--name=-odd", "--from=a/b=c", "--count", "--json")
    #expect(try outcome.json == ["count": 0])
    #expect(outcome.status == 0)
  }

  @Worker @Test func takesEverythingAfterTwoHyphensAsItIs() throws {
    let store = try TestStore()
    try store.apply(#"{"changes": [{"put": ["--json", "--quiet"]}]}"#)
    let outcome = try store.ctl("node", "--", "--json/--quiet")
    #expect(outcome.status == 0)
    #expect(outcome.output == "--json/--quiet\n")
    #expect(try store.ctl("--", "node", "--json/--quiet").output == "--json/--quiet\n")
  }

  @Worker @Test func mayAskForAStoreByARelativePath() throws {
    let store = try TestStore()
    for arguments in [
      ["--store", "store.db"], ["--store", "./store.db"],
      ["--socket", store.socket, "--store", "store.db"],
    ] {
      let outcome = try run(
        [Programs.cascadectl] + arguments + ["nodes", "a"], directory: store.scratch.path)
      #expect(outcome.status == 0, "\(arguments): \(outcome.error)")
    }
  }

  @Worker @Test func refusesAStoreThatIsNotServed() throws {
    let store = try TestStore()
    let outcome = try run(
      [Programs.cascadectl, "--socket", store.socket, "--store", "/no/such.db", "nodes", "a"])
    #expect(outcome.status == 69)
    #expect(outcome.error.contains("no such store: /no/such.db"))
  }

  @Worker @Test(.enabled(if: Nobody.canRun, "nobody cannot run cascadectl here"))
  func saysThatTheUserMayNotUseTheSocket() throws {
    let store = try TestStore()
    let command = [Programs.cascadectl, "--socket", store.socket, "status"]
    let outcome = try run(Nobody.prefix + command)
    #expect(outcome.status == 77)
    #expect(outcome.error.contains("this user may not use \(store.socket)"))
  }

  @Worker @Test func refusesArgumentsThatAreNoText() throws {
    for program in [Programs.cascadectl, Programs.cascaded] {
      let outcome = try run(
        ["/bin/sh", "-c", "exec \"$0\" --socket s \"$(printf 'a/\\377')\"", program])
      #expect(outcome.status == 64)
      #expect(outcome.error.contains("an argument is not UTF-8"))
    }
  }

  @Worker @Test func tellsUnderQuietWhatWentWrong() throws {
    let store = try TestStore(model: "{ limits: { hold: { deletes: 0, share: 0 } } }")
    let rejected = try store.ctl("--quiet", "apply", "-", input: "{")
    #expect(rejected.status == 65 && rejected.output == "")
    #expect(rejected.error.hasPrefix("standard input: rejected\n  ! line 1"))
    let put = #"{"changes": [{"put": ["a", "1"]}]}"#
    let applied = try store.ctl("--quiet", "apply", "-", input: put)
    #expect(applied.status == 0 && applied.output + applied.error == "")
    let held = try store.ctl("-q", "apply", "-", input: #"{"changes": [{"delete": ["a", "1"]}]}"#)
    #expect(held.status == 3 && held.output == "")
    #expect(held.error.contains("1 node would be deleted, which is over the hold limit"))
    #expect(held.error.contains("cascadectl approve 1 allows it"))
  }

  @Worker @Test func writesNothingThatATerminalWouldObey() throws {
    let store = try TestStore()
    try store.apply(
      #"""
      {"id": "i\u001b[1m", "author": "a\u001b[2m", "changes": [
        {"put": ["a", "1"], "type": "t\u001b[3m"}, {"put": ["a", "2"]},
        {"link": {"name": "n\u001b[4m", "from": ["a", "1"], "to": ["a", "2"],
          "rules": ["notifyIfSourceDeleted"]}}]}
      """#)
    try store.apply(
      #"{"id": "j\u001b[1m", "author": "b\u009b2m", "changes": [{"delete": ["a", "1"]}]}"#)
    for arguments in [["node", "a/1"], ["why", "a/1"], ["notices"], ["batches"], ["events"]] {
      let text = try run([Programs.cascadectl, "--store", store.path] + arguments).output
      #expect(!text.isEmpty && !text.contains("\u{1B}") && !text.contains("\u{9B}"), "\(text)")
    }
    try store.apply(#"{"changes": [{"put": ["a", "3"], "type": "t\u001b[3m"}]}"#)
    #expect(try store.ctl("node", "a/3").output == "a/3 (\"t\\u001b[3m\")\n")
  }
}

/// A user who owns nothing, where the tests run as root.
enum Nobody {
  static let prefix = [
    "/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--",
  ]

  static let canRun = (try? run(prefix + [Programs.cascadectl, "--version"]).status) == 0
}
