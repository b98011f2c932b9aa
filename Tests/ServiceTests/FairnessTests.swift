import CascadeSystem
import CascadeVarlink
import Testing

/// One that says more than anybody could answer has its turn, and no more.
@Suite("Fairness")
struct FairnessTests {
  @Test(
    "answers others while a client sends as fast as it is read",
    arguments: [
      #"{"method":"no.Such","oneway":true}"# + "\0", note(1), echo("x"), " ",
    ])
  func flood(message: String) async throws {
    try await expectAnswers { await $0.say(message) }
  }

  @Test("answers those that are there while somebody connects without end")
  func connecting() async throws {
    try await expectAnswers { await $0.connect() }
  }

  private func expectAnswers(during nuisance: @escaping @Sendable (Flood) async -> Void)
    async throws
  {
    try await withService { path, _ in
      let flood = try Flood(path)
      let task = Task.immediate { await nuisance(flood) }
      defer { flood.isOver.set() }
      try FairnessTests.expectAnswers(path)
      flood.isOver.set()
      await task.value
    }
  }

  @Test("does not collect replies for a client that takes none, and stops when it leaves")
  func backpressure() async throws {
    try await withService { path, service in
      do {
        let client = try RawClient(path)
        try client.send(count(1 << 40, more: true))
        #expect(try await onLoop { try await eventually { service.counted > 0 } })
        try FairnessTests.expectAnswers(path)
        #expect(await service.counted < 20_000)
        #expect(await service.streams == 1)
      }
      #expect(try await onLoop { try await eventually { service.streams == 0 } })
    }
  }

  private static func expectAnswers(_ path: String) throws {
    var client = try VarlinkClient.connect(path)
    for _ in 0..<100 { _ = try client.call("io.cascaded.Test.Who", timeout: .seconds(10)) }
  }
}

/// A client on a thread of its own, so that the server never finds it silent.
private actor Flood {
  private nonisolated let thread: WorkerThread
  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.executor }
  nonisolated let isOver = Flag()
  private let path: String

  init(_ path: String) throws {
    thread = WorkerThread(name: "flood")
    self.path = path
  }

  /// Says it again and again, to a new connection where one is closed. No answer is read, but for
  /// want of room.
  func say(_ message: String) {
    let many = String(repeating: message, count: message == " " ? 1 : 1_000)
    while !isOver.isSet {
      guard let client = try? UnixSocket.connect(path) else { continue }
      while !isOver.isSet, say(Array(many.utf8), to: client) {}
    }
  }

  /// Whether the connection is still there.
  private func say(_ bytes: [UInt8], to client: borrowing FileDescriptor) -> Bool {
    var sent = 0
    var answers: [UInt8] = []
    do {
      while sent < bytes.count && !isOver.isSet {
        sent += try client.send(bytes, from: sent) ?? 0
        while let count = try client.read(into: &answers, upTo: 1 << 16) {
          if count == 0 { return false }
          answers.removeAll(keepingCapacity: true)
        }
      }
      return true
    } catch {
      return false
    }
  }

  func connect() { while !isOver.isSet { _ = try? UnixSocket.connect(path) } }
}
