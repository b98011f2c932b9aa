import CascadeKit
import CascadeModel
import CascadeSQLite
import CascadeSystem
import Testing

/// How a store starts: it is waited for, looked through, and says so.
@Suite struct StartTests {
  // MARK: - Another program has it

  @Worker @Test(arguments: ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
  func waitsForALockedStore(lock: String) throws {
    let store = try Library.store(starts: false)
    let other = try Connection(path: store.path, access: .readWrite)
    try other.execute("PRAGMA journal_mode = DELETE; \(lock)")
    try store.launch()
    try wait(for: store, toBe: "waiting")
    let reason = try store.status()["reason"]?.string ?? ""
    #expect(reason.hasPrefix("\(store.path) is locked"))
    #expect(try store.ctl("nodes", "songs").status == 75)
    #expect(throws: (any Error).self) {
      var client = try store.client()
      _ = try client.call("Sweep")
    }
    let sweep = try Running(
      [Programs.cascadectl, "--store", store.path, "sweep"],
      input: FileDescriptor.open("/dev/null"))
    try other.execute("COMMIT")
    #expect(try sweep.finish().status == 0)
    #expect(try store.state() == "ok")
  }

  private static let change: JSON = [
    "name": "1.json", "data": .string(Base64.encode(Array(#"{"changes": []}"#.utf8)[...])),
  ]

  @Worker @Test(arguments: [("Sweep", [:]), ("Apply", change)] as [(String, JSON)])
  func tellsThoseWhoWaitWhy(method: String, parameters: JSON) throws {
    let store = try Library.store(starts: false)
    let other = try Connection(path: store.path, access: .readWrite)
    try other.execute("BEGIN IMMEDIATE")
    try store.launch()
    try wait(for: store, toBe: "waiting")
    var client = try store.client()
    var reasons: [String] = []
    try client.stream(method, parameters) { reply in
      guard let reason = reply["waiting"]?.string else { return }
      if reasons.isEmpty { try other.execute("COMMIT") }
      reasons.append(reason)
    }
    #expect(reasons.first?.hasPrefix("\(store.path) is locked") == true)
  }

  @Worker @Test func keepsNoOtherStoreWaiting() throws {
    let host = try Host()
    let table = #"collections: { a: { table: "a", key: "id" } }"#
    for name in ["good", "locked", "missing"] { try host.model(name, table) }
    let schema = "CREATE TABLE a(id INTEGER PRIMARY KEY)"
    try Connection(path: host.path("good"), access: .create).execute(schema)
    var other: Connection? = try Connection(path: host.path("locked"), access: .create)
    try other?.execute(
      "\(schema); PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; INSERT INTO a VALUES(1)"
    )
    let start = ContinuousClock.now
    try host.start()
    #expect(ContinuousClock.now - start < .seconds(5))
    for (name, state) in [("good", "ok"), ("locked", "waiting"), ("missing", "waiting")] {
      try host.wait(for: name, toBe: state)
    }
    other = nil
    try Connection(path: host.path("missing"), access: .create).execute(schema)
    for name in ["locked", "missing"] { try host.wait(for: name, toBe: "ok") }
  }

  @Worker @Test func aStoreThatWaitsCanBePaused() throws {
    let store = try Library.store(starts: false)
    let other = try Connection(path: store.path, access: .readWrite)
    try other.execute("BEGIN IMMEDIATE")
    try store.launch()
    try wait(for: store, toBe: "waiting")
    #expect(try store.ctl("pause").status == 0)
    try other.execute("COMMIT")
    try store.waitUntil("the pause is in the store") {
      (try? store.integers("SELECT 1 FROM cascade_meta WHERE name = 'paused'")) == [1]
    }
    #expect(try store.state() == "paused")
    try store.ctl("resume")
    try store.wait(forState: "ok")
  }

  // MARK: - The first look

  @Worker @Test func answersWhileItLooks() throws {
    let store = try StartTests.slowStore()
    try store.launch()
    try wait(for: store, toBe: "starting", limit: .seconds(2))
    try store.waitUntil("it looks") { try store.status()["progress"]?["what"] == "parts.whole" }
    let progress = try store.status()["progress"]
    #expect(progress?["done"] == 0 && progress?["of"] == 1)
    let start = ContinuousClock.now
    #expect(try store.status()["state"] == "starting")
    #expect(ContinuousClock.now - start < .seconds(1))
    #expect(try store.ctl("pause").status == 0)
    #expect(try store.state() == "paused")
    #expect(ContinuousClock.now - start < .seconds(3))
    #expect(try store.ctl("resume").status == 0)
    #expect(try store.state() == "starting")
    #expect(try store.ctl("sweep").status == 0)
    #expect(try store.state() == "ok")
    #expect(store.log.contains("looking through the tables"))
    #expect(store.log.contains("looked through the tables in"))
  }

  @Worker @Test func isReadyWhenItHasLooked() throws {
    let store = try StartTests.slowStore()
    let socket = store.scratch.path("notify")
    let manager = try Running(
      ["/usr/bin/python3", "-uc", StartTests.manager, socket],
      input: FileDescriptor.open("/dev/null"))
    #expect(try manager.lines(1) == ["listening"])
    try store.launch(under: ["/usr/bin/env", "NOTIFY_SOCKET=\(socket)"])
    try wait(for: store, toBe: "starting", limit: .seconds(2))
    let lines = try manager.lines(2)
    #expect(lines.last?.hasPrefix("EXTEND_TIMEOUT_USEC=") == true)
    #expect(lines.allSatisfy { !$0.contains("READY") })
    try store.wait(forState: "ok")
    #expect(try manager.finish().output.contains("READY=1"))
  }

  /// Ends when the daemon is ready.
  private static let manager = """
    import socket, sys
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    s.bind(sys.argv[1])
    print("listening")
    while True:
        text = s.recv(65536).decode()
        print(text)
        if "READY=1" in text: break
    """

  /// It takes seconds to look at a column that is computed so slowly.
  private static func slowStore() throws -> TestStore {
    try TestStore(
      model: """
        { collections: { wholes: { table: "whole", key: "id" }, parts: { table: "part", key: "id" } },
          relationships: [{ name: "whole", from: "parts", to: "wholes", column: "slow",
            rules: ["deleteSourceIfDestinationDeleted"] }] }
        """,
      schema: """
        CREATE TABLE whole(id INTEGER PRIMARY KEY);
        CREATE TABLE part(id INTEGER PRIMARY KEY, whole INTEGER,
          slow INTEGER AS (whole + 0 * length(hex(zeroblob(3000000 + id)))));
        INSERT INTO whole VALUES(1);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 150)
        INSERT INTO part(whole) SELECT 1 FROM n;
        """, starts: false)
  }

  private func wait(
    for store: TestStore, toBe state: String, limit: Duration = .seconds(30)
  ) throws {
    try store.waitUntil("it is \(state)", limit: limit) { (try? store.state()) == state }
  }
}
