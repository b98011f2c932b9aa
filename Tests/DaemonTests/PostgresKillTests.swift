import CascadeModel
import CascadeSystem
import PostgresSupport
import Testing

/// Killed at any instant, the daemon and the server go on where they stopped, and end where they
/// would have.
@Worker
@Suite("Kills beside PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct PostgresKillTests {
  enum Victim: CaseIterable { case daemon, server, both }

  private static let isLong = Process.environment("CASCADE_LONG") != nil
  private static let kills = isLong ? 30 : 2

  @Test("Each change file is applied once, whatever is killed", arguments: Victim.allCases)
  func files(_ victim: Victim) throws {
    let files = Self.isLong ? 5_000 : 300
    let cluster = try Cluster()
    let store = try Self.store(artists: files, albums: 2, songs: 1, on: cluster)
    store.stop()
    for number in 1...files {
      try store.enqueue(
        FileName("\(10_000 + number).json"), #"{"changes": [{"delete": ["artists", \#(number)]}]}"#)
    }
    try store.start()
    try Self.disturb(store, cluster, victim) { try store.queued }
    #expect(
      try store.texts("SELECT id FROM cascade.ledger WHERE part >= 0 ORDER BY id")
        == (1...files).map { "\(10_000 + $0).json" })
    #expect(try store.texts("SELECT count(*) FROM cascade.ledger WHERE skipped > 0") == ["0"])
    try Self.expectEmpty(store)
  }

  @Test(
    "Each part of a large change file is applied once, whatever is killed",
    arguments: Victim.allCases)
  func parts(_ victim: Victim) throws {
    let lines = Self.isLong ? 2_000 : 151
    let cluster = try Cluster()
    let store = try Self.store(artists: lines, albums: 2, songs: 1, on: cluster)
    let changes = (1...lines).map { #"{"delete": ["artists", \#($0)]}"# }
    try store.enqueue(
      "big.ndjson", (#"{"id": "big", "batch": 3}"# + "\n") + changes.joined(separator: "\n"))
    try Self.disturb(store, cluster, victim) {
      let done = try Int(store.texts("SELECT count(*) FROM cascade.ledger WHERE part >= 0")[0])!
      return try store.queued == 0 ? 0 : max(1, lines / 3 - done)
    }
    #expect(
      try store.texts("SELECT part FROM cascade.ledger WHERE part >= 0 ORDER BY batch")
        == (0...(lines / 3)).map { "\($0)" })
    #expect(try store.texts("SELECT count(*) FROM cascade.ledger WHERE skipped > 0") == ["0"])
    try Self.expectEmpty(store)
  }

  @Test(
    "A sweep ends where it would have, in one batch, whatever is killed",
    arguments: Victim.allCases)
  func sweep(_ victim: Victim) throws {
    let (artists, albums, songs) = Self.isLong ? (400, 20, 10) : (60, 10, 5)
    let gone = artists / 2
    let cluster = try Cluster()
    let store = try Self.store(artists: artists, albums: albums, songs: songs, on: cluster)
    let before = try store.texts(MusicServer.everything)
    try store.bySQL("DELETE FROM artist WHERE id <= \(gone)")
    let left = """
      SELECT (SELECT count(*) FROM song WHERE album_id ~ '^\(Self.numbers(to: gone))-')
        + (SELECT count(*) FROM cascade.meta WHERE key = 'sweep.batch')
        + (SELECT count(*) FROM cascade.journal)
      """
    try Self.disturb(store, cluster, victim) { try Int(store.texts(left)[0])! }
    let expected = before.filter { row in
      let number = Int(row.drop { !$0.isNumber }.prefix(while: \.isNumber))!
      return number > gone || number == 0
    }
    #expect(try store.texts(MusicServer.everything) == expected)
    let deleted = gone * albums * (1 + songs) + gone
    #expect(
      try store.texts("SELECT deleted FROM cascade.ledger WHERE deleted > 0") == ["\(deleted)"])
    let batch = try store.texts("SELECT batch FROM cascade.ledger WHERE deleted > 0")[0]
    // In the portable dialect, the term that it had before the server was killed has to end: 75 asks to
    // try again.
    var undone = try store.ctl("undo", batch)
    try store.waitUntil("it leads again") {
      if undone.status == 75 { undone = try store.ctl("undo", batch) }
      return undone.status != 75
    }
    #expect(undone.status == 0, "\(undone)")
    #expect(
      try store.texts(MusicServer.everything)
        == before.filter { !$0.hasPrefix("artist") || expected.contains($0) })
  }

  @Test("A server that is away is waited for, which status and the log say")
  func away() throws {
    let cluster = try Cluster()
    let store = try Self.store(artists: 3, albums: 1, songs: 1, on: cluster)
    try cluster.kill()
    try store.waitUntil("it waits") { try store.state == "waiting" }
    #expect(try store.status?["reason"]?.string?.contains("cannot be reached") == true)
    try cluster.start()
    try store.waitUntil("it is served") { try store.state == "ok" }
    for text in ["cannot be reached", "works again"] { #expect(store.log.contains(text)) }
    try store.bySQL("DELETE FROM artist")
    try store.waitUntil("it is swept") { try store.texts("SELECT id FROM song").isEmpty }
  }

  // MARK: - What the tests share

  private static func store(
    artists: Int, albums: Int, songs: Int, on cluster: Cluster
  ) throws -> PostgresDaemon {
    let schema = MusicServer.schema(artists: artists, albums: albums, songs: songs)
    let store = try PostgresDaemon(
      model: MusicServer.model, on: Database(schema: schema, on: cluster))
    try store.start()
    return store
  }

  /// A pattern of the numbers from one, for keys that begin with them.
  private static func numbers(to last: Int) -> String {
    "(" + (1...last).map { "\($0)" }.joined(separator: "|") + ")"
  }

  /// Kills again and again, each time after a random share of what was left, until nothing is left.
  private static func disturb(
    _ store: PostgresDaemon, _ cluster: Cluster, _ victim: Victim, left: () throws -> Int
  ) throws {
    var random = Seeded()
    print("kill -9 of \(victim): seed \(random.seed)")
    for kill in 0..<kills {
      let share = Double.random(in: 0...1.5, using: &random) / Double(kills - kill)
      let limit = Int(Double(try left()) * max(0, 1 - share))
      try store.waitUntil("\(limit) are left") { try left() <= limit }
      try strike(store, cluster, victim, startsDaemonFirst: Bool.random(using: &random))
    }
    try store.waitUntil("nothing is left") { try left() == 0 }
  }

  private static func strike(
    _ store: PostgresDaemon, _ cluster: Cluster, _ victim: Victim, startsDaemonFirst: Bool
  ) throws {
    if victim != .server { store.kill() }
    if victim != .daemon { try cluster.kill() }
    if victim == .both && startsDaemonFirst { try store.launch() }
    if victim != .daemon { try cluster.start() }
    if victim == .daemon || victim == .both && !startsDaemonFirst { try store.launch() }
    try store.waitUntil("it is served") { try store.state == "ok" }
  }

  private static func expectEmpty(_ store: PostgresDaemon) throws {
    let left = try store.texts(MusicServer.everything)
    #expect(left == ["photo(0)"] || left.isEmpty)
    #expect(try store.texts("SELECT count(*) FROM witness WHERE NOT leads") == ["0"])
  }
}
