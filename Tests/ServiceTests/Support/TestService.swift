import CascadeModel
import CascadeSystem
import CascadeVarlink
import SystemdService
import TestSupport
import VarlinkServer

/// A service with a method for every case.
@EventLoopActor
final class TestService {
  static let text = """
    # For tests.
    interface io.cascaded.Test

    # A place.
    type Point (x: int, y: ?int)

    method Echo(
      # What to say.
      text: string,
      count: ?int,
      ratio: ?float,
      flag: ?bool,
      point: ?Point,
      colour: ?(red, green),
      list: ?[]int,
      map: ?[string]string,
      value: ?object
    ) -> (text: string)

    # Counts, one reply each.
    method Count(to: int) -> (number: int)
    # Never answers.
    method Wait() -> ()
    # One reply, and then an error.
    method Break() -> ()
    method Absent() -> ()
    method Fail(plainly: bool) -> ()
    method Note(number: int) -> ()
    method Notes() -> (numbers: []int)
    method Big(size: int) -> (text: string)
    method Who() -> (pid: int, uid: int)

    error Failed (reason: string)
    """

  var notes: [Int64] = []
  var waiting = 0
  var cancelled = 0
  /// How many are counting now, and how many replies they gave.
  var streams = 0
  var counted = 0

  func interface() throws -> Interface {
    try Interface(
      Self.text,
      methods: [
        "Echo": { call in ["text": call.parameters["text"] ?? ""] },
        "Count": { call in try await self.count(call) },
        "Wait": { _ in try await self.wait() },
        "Break": { call in try await self.fail(within: call) },
        "Fail": { call in throw self.failure(call) },
        "Note": { call in self.note(call) },
        "Notes": { _ in ["numbers": .array(self.notes.map { .integer($0) })] },
        "Big": { call in ["text": .string(Self.text(call))] },
        "Who": { call in
          ["pid": .integer(Int64(call.peer.pid)), "uid": .integer(Int64(call.peer.uid))]
        },
      ])
  }

  struct Oops: Error {}

  private func count(_ call: Call) async throws -> JSON {
    try call.requireMore()
    streams += 1
    defer { streams -= 1 }
    let end = call.parameters["to"]?.integer ?? 0
    for number in 1..<max(1, end) {
      try await call.reply(continues: ["number": .integer(number)])
      counted += 1
    }
    return ["number": .integer(end)]
  }

  private func wait() async throws -> JSON {
    waiting += 1
    defer { cancelled += 1 }
    try await Bell().wait()
    return [:]
  }

  private func fail(within call: Call) async throws -> JSON {
    try await call.reply(continues: [:])
    throw VarlinkError("io.cascaded.Test.Failed", ["reason": "broken"])
  }

  private func failure(_ call: Call) -> any Error {
    call.parameters["plainly"] == true
      ? VarlinkError("io.cascaded.Test.Failed", ["reason": "asked to"]) : Oops()
  }

  private func note(_ call: Call) -> JSON {
    notes.append(call.parameters["number"]?.integer ?? 0)
    return [:]
  }

  private static func text(_ call: Call) -> String {
    String(decoding: longText.prefix(Int(call.parameters["size"]?.integer ?? 0)), as: UTF8.self)
  }

  private static let longText = [UInt8](
    repeating: UInt8(ascii: "x"), count: 20_000_000)
}

/// Runs a service at a socket while `body` talks to it.
func withService(
  limits: VarlinkServer.Limits = .init(),
  _ body: (_ path: String, _ service: TestService) async throws -> Void
) async throws {
  let scratch = try Scratch()
  let path = scratch.path("control")
  let (service, task) = try await onLoop {
    let service = TestService()
    let server = try VarlinkServer(
      .init(vendor: "Cascade", product: "test", version: "1", url: "https://example.org"),
      [service.interface()], limits: limits,
      failure: { VarlinkError("io.cascaded.Test.Failed", ["reason": .string("\($0)")]) })
    return (service, serve(server, try UnixSocket.listen(path)))
  }
  defer { task.cancel() }
  try await body(path, service)
}

@EventLoopActor
private func serve(
  _ server: VarlinkServer, _ listener: consuming FileDescriptor
) -> Task<Void, any Error> {
  let listener = Slot(listener)
  return Task(executorPreference: EventLoop.shared) { try await run(server, listener) }
}

@EventLoopActor
private func run(_ server: VarlinkServer, _ listener: Slot) async throws {
  try await server.serve(listener.take())
}

/// Carries what cannot be copied into a closure.
@EventLoopActor
private final class Slot {
  private var descriptor: FileDescriptor?

  init(_ descriptor: consuming FileDescriptor) { self.descriptor = consume descriptor }

  func take() -> FileDescriptor { descriptor.take()! }
}
