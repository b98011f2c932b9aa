import CascadeKit
import CascadeModel
import CascadeSystem
import Testing

/// Clients that nobody should write. They cost the others nothing that can be felt, and nothing of
/// them is left.
@Suite struct HostileClientTests {
  private static let limit = 256

  @Worker @Test func answersOthersAmongTwoHundredHostileClients() async throws {
    let store = try HostileClientTests.store()
    var client = try store.client()
    for number in 0..<3 { _ = try HostileClientTests.ask(&client, number) }
    let most = try HostileClientTests.descriptors(of: store)
    let crowd = try Crowd(store.socket, of: 200)
    // At once: the threads that tasks begin on are other tests'.
    let siege = Task.immediate { await crowd.besiege() }
    defer { crowd.isOver.set() }
    var times: [String: [Duration]] = [:]
    var number = 3
    while number < 300 {
      for (what, time) in try HostileClientTests.ask(&client, number) {
        times[what, default: []].append(time)
      }
      number += 1
    }
    crowd.isOver.set()
    await siege.value
    for (what, times) in times.sorted(by: { $0.key < $1.key }) {
      HostileClientTests.judge(what, times.sorted())
    }
    try await HostileClientTests.judge(crowd, store)
    // Uploads that were given up are dropped with the next one.
    try store.waitUntil("nothing of them is left") {
      _ = try HostileClientTests.ask(&client, number)
      number += 1
      return try HostileClientTests.descriptors(of: store) <= most && store.connections() == 1
    }
    #expect(try store.integers("SELECT count(*) FROM cascade_ledger") == [Int64(number) + 1])
    #expect(try store.count(in: "tmp") == 0)
    #expect(try store.end() == .exit(0))
  }

  @Worker @Test func endsTheLongestIdleConnectionsAboveItsLimit() throws {
    let store = try TestStore()
    try store.waitUntil("nobody is connected") { try store.connections() == 0 }
    let before = try HostileClientTests.descriptors(of: store)
    var clients: [HostileClient] = []
    for _ in 0..<HostileClientTests.limit {
      clients.append(try #require(HostileClient(store.socket)))
    }
    try HostileClientTests.expectAnswers(clients, 1, store)
    var late = (0..<100).compactMap { _ in HostileClient(store.socket) }
    #expect(late.count == 100)
    try HostileClientTests.expectAnswers(late, 1, store)
    try store.waitUntil("as many are closed as came") {
      clients.forEach { $0.listen() }
      return clients.count(where: \.isClosed) == 100
    }
    try HostileClientTests.expectAnswers(clients.filter { !$0.isClosed }, 2, store)
    (clients, late) = ([], [])
    try store.waitUntil("they are forgotten") {
      try HostileClientTests.descriptors(of: store) <= before && store.connections() == 0
    }
  }

  /// Thousands of nodes: the answer to who lists them is longer than a socket's buffer.
  private static func store() throws -> TestStore {
    let store = try TestStore()
    let text = String(repeating: "x", count: 300)
    try store.enqueue(
      "many.ndjson",
      (1...5_000).map { #"{"put": ["many", "\#($0)"], "value": "\#(text)"}"# + "\n" }.joined())
    try store.waitUntilIdle()
    return store
  }

  /// What an ordinary client asks, and how long each answer takes.
  private static func ask(
    _ client: inout ControlClient, _ number: Int
  ) throws -> [(String, Duration)] {
    let clock = ContinuousClock()
    let status = try clock.measure { _ = try client.call("Status") }
    let node = try clock.measure {
      let reply = try client.call("Node", ["node": "many/1"])
      #expect(reply["node"]?["exists"] == true)
    }
    let apply = try clock.measure { try put(number, &client) }
    return [("Status", status), ("Node", node), ("apply", apply)]
  }

  private static func put(_ number: Int, _ client: inout ControlClient) throws {
    var parts = [Array(#"{"changes": [{"put": ["good", "\#(number)"]}]}"#.utf8), []]
    let receipt = try client.apply(name: "good-\(number).json") { parts.removeFirst() }
    #expect(receipt["outcome"] == "applied")
  }

  /// The bound is wide: the machine may be busy with other tests.
  private static func judge(_ what: String, _ times: [Duration]) {
    let late = times[times.count * 99 / 100]
    print("hostile clients: \(what) p50 \(times[times.count / 2]) p99 \(late) max \(times.last!)")
    #expect(late < .milliseconds(500))
  }

  private static func judge(_ crowd: Crowd, _ store: TestStore) async throws {
    let tally = await crowd.tally
    let peak = try memory(of: store.identifier, "VmHWM")
    print("hostile clients: \(tally), at most \(peak) kB")
    #expect(tally.closed > 0 && tally.answered > 0 && tally.cut == 0)
    #expect(peak < 200_000)
  }

  private static func expectAnswers(
    _ clients: [HostileClient], _ count: Int, _ store: TestStore
  ) throws {
    for client in clients {
      client.send(Array(#"{"method":"org.varlink.service.GetInfo"}"#.utf8) + [0])
    }
    try store.waitUntil("all are answered") {
      clients.forEach { $0.listen() }
      return clients.allSatisfy { $0.answers == count && !$0.isClosed }
    }
  }

  /// Those of the database aside: it is opened for questions, and closed when nobody asks.
  private static func descriptors(of store: TestStore) throws -> Int {
    let list = try run(["/bin/ls", "-l", "/proc/\(store.identifier)/fd"]).output
    return list.split(separator: "\n").count {
      !$0.hasSuffix(".db") && !$0.hasSuffix(".db-wal") && !$0.hasSuffix(".db-shm")
    }
  }
}
