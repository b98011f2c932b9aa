import CascadeKit
import CascadeModel
import CascadeSystem
import Glibc
import Testing

/// No user keeps another from being answered, nor do one's own forgotten clients.
@Suite struct SharesTests {
  private static let status = Array(
    #"{"method":"io.cascaded.Control.Status","parameters":{}}"#.utf8 + [0])

  @Worker @Test func forgottenClientsOfOnesOwnDoNotMatter() throws {
    let store = try TestStore()
    let idle = (0..<600).compactMap { _ in HostileClient(store.socket) }
    #expect(idle.count == 600)
    for _ in 0..<10 { #expect(try store.ctl("status").status == 0) }
    idle.forEach { $0.listen() }
    #expect(idle.contains { $0.isClosed } && idle.last?.isClosed == false)
  }

  @Worker @Test func forgottenUploadsOfOnesOwnDoNotMatter() throws {
    let store = try TestStore()
    let idle = (0..<256).compactMap { _ in HostileClient(store.socket) }
    for client in idle { client.send(SharesTests.upload) }
    try store.waitUntil("all are answered or closed") {
      idle.forEach { $0.listen() }
      return idle.allSatisfy { $0.isClosed || $0.answers == 1 }
    }
    #expect(try store.count(in: "tmp") == 64)
    try store.apply(#"{"changes": [{"put": ["n", "1"]}]}"#)
    #expect(try store.count(in: "tmp") <= 64)
  }

  @Worker @Test func oneClientHasAtMost64Uploads() throws {
    let store = try TestStore()
    var client = try store.client()
    for _ in 0..<64 { _ = try client.call("Upload", ["data": ""]) }
    #expect(throws: (any Error).self) { _ = try client.call("Upload", ["data": ""]) }
    #expect(try client.call("Status")["version"] != nil)
  }

  @Worker @Test(.enabled(if: Process.environment("CASCADE_LONG") != nil, "it takes long"))
  func aDocumentHasAtMost64Megabytes() throws {
    let store = try TestStore()
    let path = store.scratch.path("long.json")
    #expect(try run(["/usr/bin/truncate", "-s", "65M", path]).status == 0)
    let outcome = try run(
      [Programs.cascadectl, "--store", store.path, "apply", path], limit: .seconds(600))
    #expect(outcome.status == 65)
    #expect(outcome.error.contains("larger than 64 MiB"))
    #expect(try store.count(in: "tmp") == 0)
  }

  @Worker @Test(.enabled(if: geteuid() == 0, "only root can be another user"))
  func anotherUserKeepsNobodyFromBeingAnswered() throws {
    let store = try TestStore(starts: false)
    let socket = "/tmp/cascade-shares-\(getpid())"
    defer { unsafe unlink(socket) }
    try store.launch(["--socket", socket])
    try store.waitUntil("it answers") { (try? UnixSocket.connect(socket)) != nil }
    #expect(try run(["/bin/chmod", "666", socket]).status == 0)
    for (user, program) in [("1234", SharesTests.idle), ("1235", SharesTests.following)] {
      let besieger = try Besieger(socket, user, program)
      defer { besieger.end() }
      try store.waitUntil("all are connected") { besieger.isReady }
      for asks in [["--reuid=1236", "--clear-groups"], ["--reuid=0"]] {
        let outcome = try run(
          ["/usr/bin/setpriv"] + asks + ["/usr/bin/python3", "-c", SharesTests.asks, socket])
        #expect(outcome.status == 0 && outcome.output == "answered\n", "\(outcome)")
      }
    }
  }

  private static let upload = Array(
    #"{"method":"io.cascaded.Control.Upload","parameters":{"data":"eA=="}}"#.utf8 + [0])

  /// A thousand connections; the user may not have as many.
  private static let idle = """
    import signal, socket, sys
    held = []
    for _ in range(1000):
        s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); held.append(s)
    print("ready", flush=True)
    signal.pause()
    """

  /// Calls that never end: no connection is idle.
  private static let following = """
    import signal, socket, sys
    held = []
    call = b'{"method":"io.cascaded.Control.Events","parameters":{"follow":true},"more":true}\\0'
    for _ in range(400):
        try:
            s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.sendall(call); held.append(s)
        except OSError:
            pass
    print("ready", flush=True)
    signal.pause()
    """

  private static let asks = """
    import socket, sys
    s = socket.socket(socket.AF_UNIX); s.settimeout(10); s.connect(sys.argv[1])
    s.sendall(b'{"method":"io.cascaded.Control.Status","parameters":{}}\\0')
    reply = b""
    while not reply.endswith(b"\\0"):
        part = s.recv(65536)
        if not part: sys.exit(1)
        reply += part
    print("answered")
    """
}

/// Another user's program, until its end.
private final class Besieger {
  private let process: Subprocess
  private let output: FileDescriptor

  init(_ socket: String, _ user: String, _ program: String) throws {
    let reading = try Pipe()
    process = try Subprocess(
      [
        "/usr/bin/setpriv", "--reuid=\(user)", "--clear-groups", "/usr/bin/python3", "-c", program,
        socket,
      ], input: FileDescriptor.open("/dev/null"), output: reading.writing,
      error: FileDescriptor.open("/dev/null", .append))
    output = reading.takeReading()
  }

  var isReady: Bool { (try? output.waitBlocking(for: .readable, milliseconds: 10)) ?? false }

  func end() {
    process.send(SIGKILL)
    _ = process.wait()
  }
}
