import Glibc
import CascadeSystem
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
    #expect(outcome.error.contains("cannot write the output"))
  }

  @Worker @Test(arguments: ["--help", "--version"])
  func theDaemonSaysSoToo(option: String) throws {
    let outcome = try StandardStreamTests.run(">/dev/full", [Programs.cascaded, option])
    #expect(outcome.status == 74)
    #expect(outcome.error.contains("cannot write the output"))
  }

  @Worker @Test func takesNothingElseForAClosedStream() throws {
    let store = try TestStore()
    let ctl = [Programs.cascadectl, "--store", store.path]
    #expect(try StandardStreamTests.run("<&-", ctl + ["apply", "-"]).status == 65)
    #expect(try StandardStreamTests.run(">&-", ctl + ["status"]).status == 0)
    #expect(try StandardStreamTests.run("2>&-", ctl + ["node", "x"]).status == 64)
  }

  @Worker @Test func servesOnWhereNobodyReadsTheLog() throws {
    let store = try TestStore(starts: false)
    let null = try FileDescriptor.open("/dev/null", .readWrite(create: false))
    let log = try Pipe()
    let daemon = try Subprocess(
      [Programs.cascaded, store.path], input: null, output: null, error: log.writing)
    try store.waitUntil("it answers") { (try? UnixSocket.connect(store.socket)) != nil }
    for number in 0..<800 { try store.enqueue("\(number).json", #"{"zork": \#(number)}"#) }
    try store.waitUntil("all are rejected", limit: .seconds(20)) { try store.count(in: "new") == 0 }
    #expect(try store.state() == "ok")
    try StandardStreamTests.empty(log.reading)
    try store.enqueue("last.json", #"{"zork": 800}"#)
    try store.waitUntil("it says that some are lost") {
      try StandardStreamTests.empty(log.reading).contains("could not be written, and are lost: ")
    }
    daemon.send(SIGTERM)
    #expect(daemon.wait() == .exit(0))
  }

  /// What is in a pipe.
  @discardableResult
  private static func empty(_ pipe: borrowing FileDescriptor) throws -> String {
    var bytes: [UInt8] = []
    while let count = try pipe.read(into: &bytes, upTo: 1 << 16), count > 0 {}
    return String(decoding: bytes, as: UTF8.self)
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
