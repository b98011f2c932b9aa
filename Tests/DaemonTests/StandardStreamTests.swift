import System
import Testing

/// Programs that are started with streams that are full, or not there.
@Suite struct StandardStreamTests {
  /// Runs a program with a redirection.
  private static func run(_ redirection: String, _ arguments: [String]) throws -> Outcome {
    let script = "exec \"$0\" \"$@\" \(redirection)"
    return try DaemonTests.run(["/bin/sh", "-c", script] + arguments, limit: .seconds(20))
  }

  @Worker @Test(arguments: [["status"], ["nodes", "a"], ["--json", "edges"], ["--help"]])
  func saysThatItsOutputIsLost(command: [String]) throws {
    let store = try TestStore()
    try store.apply(
      """
      {"changes": [{"put": ["a", "1"]},
        {"link": {"name": "n", "from": ["a", "1"], "to": ["a", "1"], "rules": []}}]}
      """)
    let outcome = try StandardStreamTests.run(
      ">/dev/full", [Programs.cascadectl, "--store", store.path] + command)
    #expect(outcome.status == 74)
    #expect(outcome.error.contains("cannot write what was asked for"))
  }

  @Worker @Test(arguments: ["--help", "--version"])
  func theDaemonSaysSoToo(option: String) throws {
    let outcome = try StandardStreamTests.run(">/dev/full", [Programs.cascaded, option])
    #expect(outcome.status == 74)
    #expect(outcome.error.contains("cannot write what was asked for"))
  }

  @Worker @Test func takesNothingElseForAClosedStream() throws {
    let store = try TestStore()
    let ctl = [Programs.cascadectl, "--store", store.path]
    #expect(try StandardStreamTests.run("<&-", ctl + ["apply", "-"]).status == 65)
    #expect(try StandardStreamTests.run(">&-", ctl + ["status"]).status == 0)
    #expect(try StandardStreamTests.run("2>&-", ctl + ["node", "x"]).status == 64)
  }

  @Worker @Test func theDaemonKeepsItsNumbersFree() throws {
    let store = try TestStore(starts: false)
    let null = try FileDescriptor.open("/dev/null", .readWrite(create: false))
    let daemon = try Subprocess(
      ["/bin/sh", "-c", "exec \"$0\" \"$@\" <&- >&- 2>&-", Programs.cascaded, store.path],
      input: null, output: null, error: null)
    try store.waitUntil("it answers") { (try? UnixSocket.connect(store.socket)) != nil }
    for number in 0...2 {
      let path = "/proc/\(daemon.identifier)/fd/\(number)"
      #expect(FileStatus.realPath(path) == "/dev/null")
    }
  }
}
