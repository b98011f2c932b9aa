import Glibc
import CascadeSystem
import Testing

/// Sockets as systemd passes them.
@Suite struct PassedSocketTests {
  /// A store whose daemon is started with a socket.
  private final class Passed {
    let store: TestStore
    let path: String
    private let socket: FileDescriptor

    init() throws {
      store = try TestStore(starts: false)
      path = store.scratch.path("passed")
      socket = try UnixSocket.listen(path)
    }

    /// The first that is passed is number 3, and this one is 4 too.
    func start(_ variables: String) throws -> Subprocess {
      let script = "exec 3<&0 4<&0 </dev/null; \(variables) LISTEN_PID=$$ exec \"$0\" \"$@\""
      let log = try FileDescriptor.open(store.scratch.path("log"), .append)
      return try Subprocess(
        ["/bin/sh", "-c", script, Programs.cascaded, store.path], input: socket, output: log,
        error: log)
    }
  }

  @Worker
  @Test(arguments: [
    "LISTEN_FDS=1", "LISTEN_FDS=1 LISTEN_FDNAMES=other",
    "LISTEN_FDS=2 LISTEN_FDNAMES=other:varlink",
  ])
  func servesTheOnlyOneOrTheOneThatIsNamed(variables: String) throws {
    let passed = try Passed()
    let daemon = try passed.start(variables)
    let status = try run(
      [Programs.cascadectl, "--socket", passed.path, "status"], limit: .seconds(20))
    #expect(status.status == 0)
    daemon.send(SIGTERM)
    #expect(daemon.wait() == .exit(0))
  }

  @Worker @Test func saysWhichNameIsWanted() throws {
    let passed = try Passed()
    let daemon = try passed.start("LISTEN_FDS=2 LISTEN_FDNAMES=one:two")
    let store = passed.store
    try store.waitUntil("it answers") { (try? UnixSocket.connect(store.socket)) != nil }
    #expect(store.log.contains("FileDescriptorName=varlink, but their names are one, two"))
    daemon.send(SIGTERM)
    #expect(daemon.wait() == .exit(0))
  }
}
