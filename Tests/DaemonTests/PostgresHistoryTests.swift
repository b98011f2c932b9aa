import CascadeModel
import CascadePostgres
import CascadeSystem
import Glibc
import PostgresSupport
import Testing

/// Random histories of primaries that go, standbys that are promoted, change files and deletions by SQL. At the
/// end of each round:
///
/// 1. Each change file took effect, once, on the server that is the primary then.
/// 2. An album is there if and only if its artist is: no row follows a deletion that was lost.
/// 3. A cover is there if and only if its album is.
/// 4. The daemon had followed the promotion within five seconds.
@Worker
@Suite(
  "Histories of failovers on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct PostgresHistoryTests {
  private static let isLong = Process.environment("CASCADE_LONG") != nil

  @Test(
    "Nothing that was acknowledged is lost, and nothing goes otherwise than by the rules",
    arguments: [1, 2])
  func histories(daemons: Int) throws {
    let rounds = Self.isLong ? 60 : 3
    let history = try FailoverHistory(daemons: daemons, rounds: rounds)
    for round in 1...rounds { try history.run(round) }
    print(history.summary)
    #expect(try #require(history.times.max()) <= .seconds(5), "\(history.summary)")
  }
}

private final class FailoverHistory {
  enum Event: CaseIterable {
    case crash, hang, shortHang, lag, switchover
  }

  private static let artistsPerRound = 30
  private static let firstProbe = 1_000_000

  private let cluster: Cluster
  private let media: Scratch
  private var stores: [PostgresDaemon] = []
  private var random = Seeded()
  private var primary = Cluster.Node.first
  private var unused: [Int]
  private var files: Set<Int> = []
  private var bySQL: Set<Int> = []
  private var left: [Event] = []
  private var events: [Event: Int] = [:]
  private var probes = 0
  private(set) var times: [Duration] = []

  init(daemons: Int, rounds: Int) throws {
    cluster = try Cluster(withStandby: true)
    media = try Scratch()
    let artists = 1...(rounds * Self.artistsPerRound)
    for number in artists { try media.write(Self.cover(number), "picture \(number)") }
    unused = Array(artists)
    let database = try Database(schema: Self.schema(artists.upperBound), on: cluster)
    let standby = Bool.random(using: &random) ? "always" : "5s"
    print("failovers with \(daemons) daemons, standby \(standby): seed \(random.seed)")
    for number in 1...daemons {
      let store = try PostgresDaemon(model: Self.model(media, standby), on: database)
      if number == 1 { try store.start() } else { try store.launch() }
      try store.waitUntil("it answers") { try store.state != nil }
      stores.append(store)
    }
  }

  private static func cover(_ number: Int) -> FileName { FileName("\(number).jpg") }

  private static func schema(_ artists: Int) -> String {
    """
    CREATE TABLE artist(id int PRIMARY KEY);
    CREATE TABLE album(id int PRIMARY KEY, artist_id int, cover text);
    CREATE INDEX ON album(artist_id); CREATE INDEX ON album(cover);
    INSERT INTO artist SELECT generate_series(1, \(artists));
    INSERT INTO album SELECT n, n, n || '.jpg' FROM generate_series(1, \(artists)) n;
    """
  }

  private static func model(_ media: Scratch, _ standby: String) -> String {
    """
    { collections: {
        artists: { table: "artist", key: "id" }, albums: { table: "album", key: "id" } },
      relationships: [
        { name: "artist", from: "albums", to: "artists", column: "artist_id",
          rules: ["deleteSourceIfDestinationDeleted"] },
        { name: "cover", from: "albums", to: { files: "media" }, column: "cover",
          rules: ["deleteDestinationIfAllSourcesDeleted"] }],
      files: { media: "\(media.path)" }, limits: { standby: "\(standby)" } }
    """
  }

  var summary: String {
    let sorted = times.sorted()
    let counts = events.map { "\($0.key) \($0.value)" }.sorted().joined(separator: ", ")
    return """
      \(stores.count) daemons: \(counts); \(files.count) change files, \(bySQL.count) deletions by SQL; \
      followed after \(sorted[sorted.count / 2]) (median), at most \(sorted.last!)
      """
  }

  // MARK: - A round

  func run(_ round: Int) throws {
    let event = nextEvent()
    events[event, default: 0] += 1
    let isStopped = Int.random(in: 0..<4, using: &random) == 0
    print("round \(round): \(event)\(isStopped ? ", beside a daemon that is stopped" : "")")
    let stopped = isStopped ? stores.randomElement(using: &random) : nil
    try work(Int.random(in: 3...8, using: &random))
    if stores.count > 1 { stopped?.send(SIGSTOP) } else { try restart(stopped) }
    let old = primary
    try carryOut(event)
    primary = old.other
    try measure()
    try work(Int.random(in: 0...4, using: &random))
    stopped?.send(SIGCONT)
    if event == .hang { try goOn(old) }
    try work(Int.random(in: 0...4, using: &random))
    if event == .hang || event == .shortHang { try cluster.kill(old) }
    try cluster.join(old, of: primary)
    try settle()
  }

  /// Each comes before one comes again.
  private func nextEvent() -> Event {
    if left.isEmpty { left = Event.allCases.shuffled(using: &random) }
    return left.removeLast()
  }

  /// The primary goes, or hangs, and its standby is promoted.
  private func carryOut(_ event: Event) throws {
    switch event {
    case .crash: try cluster.crash(primary)
    case .switchover: try cluster.stop(primary)
    case .hang: try cluster.freeze(primary)
    case .shortHang:
      try cluster.freeze(primary)
      try enqueue(3)
    case .lag:
      try stopSender()
      try work(4)
      // Until something is acknowledged too early, or for a while.
      let longest = Duration.milliseconds(Int.random(in: 100...1_500, using: &random))
      try? stores[0].waitUntil("files have left a queue", limit: longest) {
        try stores.contains { try $0.queued == 0 }
      }
      try cluster.crash(primary)
    }
    try cluster.promote(primary.other)
    if event == .shortHang { try goOn(primary) }
  }

  /// A primary that was replaced goes on, and an application that does not know that deletes there.
  private func goOn(_ old: Cluster.Node) throws {
    try cluster.thaw(old)
    for number in take(2) { try delete(number, on: old) }
  }

  private func restart(_ store: PostgresDaemon?) throws {
    store?.kill()
    try store?.launch()
  }

  /// Some change files for each daemon, and some deletions by SQL.
  private func work(_ count: Int) throws {
    try enqueue(count)
    for number in take(Int.random(in: 0...2, using: &random)) { try delete(number, on: primary) }
  }

  private func enqueue(_ count: Int) throws {
    for number in take(count) {
      files.insert(number)
      try stores.randomElement(using: &random)!.enqueue(
        FileName("\(number).json"), #"{"changes": [{"delete": ["artists", \#(number)]}]}"#)
    }
  }

  private func take(_ count: Int) -> [Int] {
    unused.shuffle(using: &random)
    defer { unused.removeLast(min(count, unused.count)) }
    return Array(unused.suffix(count))
  }

  private func delete(_ number: Int, on node: Cluster.Node) throws {
    bySQL.insert(number)
    try stores[0].database.session(on: node).execute("DELETE FROM artist WHERE id = \(number)")
  }

  private func stopSender() throws {
    let sender = try texts("SELECT pid FROM pg_stat_replication")
    try #require(kill(pid_t(#require(Int32(sender[0]))), SIGSTOP) == 0)
  }

  private func texts(_ sql: String) throws -> [String] { try stores[0].texts(sql, on: primary) }

  // MARK: - What must hold

  /// How long it takes until a deletion on the new primary is followed.
  private func measure() throws {
    let start = ContinuousClock.now
    probes += 1
    let probe = Self.firstProbe + probes
    try stores[0].database.session(on: primary).execute(
      """
      INSERT INTO artist VALUES(\(probe)); INSERT INTO album VALUES(\(probe), \(probe));
      DELETE FROM artist WHERE id = \(probe)
      """)
    try stores[0].waitUntil("the promotion is followed") {
      try texts("SELECT id FROM album WHERE id = \(probe)").isEmpty
    }
    times.append(.now - start)
    if times.last! > .seconds(3) { print("followed after \(times.last!)") }
  }

  /// Only the leader works on its queue. So the others are stopped while one has files.
  private func drain() throws {
    for store in stores where try store.queued > 0 {
      let others = stores.filter { $0 !== store }
      for other in others { other.send(SIGSTOP) }
      defer { for other in others { other.send(SIGCONT) } }
      try store.waitUntil("its queue is empty") { try store.queued == 0 }
    }
  }

  private func settle() throws {
    try drain()
    var wrong: [String] = []
    do {
      try stores[0].waitUntil("all is as it must be") {
        wrong = try differences()
        return wrong.isEmpty
      }
    } catch {
      Issue.record("\(wrong.joined(separator: "\n"))")
      throw error
    }
  }

  private func differences() throws -> [String] {
    let artists = Set(try texts("SELECT id FROM artist"))
    let albums = Set(try texts("SELECT id FROM album"))
    let covers = try self.covers()
    let applied = try texts("SELECT id FROM cascade.ledger WHERE part >= 0").sorted()
    let wanted = files.map { "\($0).json" }.sorted()
    let all: [(String, Set<String>)] = [
      ("change files without effect", artists.intersection(files.map { "\($0)" })),
      ("artists without albums", artists.subtracting(albums)),
      ("albums without artists", albums.subtracting(artists)),
      ("albums without covers", albums.subtracting(covers)),
      ("covers without albums", covers.subtracting(albums)),
      ("in the ledger", applied == wanted ? [] : Set(applied)),
    ]
    let texts = all.filter { !$0.1.isEmpty }.map { name, numbers in
      "\(name): \(numbers.sorted().joined(separator: " "))"
    }
    return try texts + unsettled()
  }

  /// The numbers of those that are in their place.
  private func covers() throws -> Set<String> {
    let names = try media.directory.names().map(\.description)
    return Set(names.filter { $0.hasSuffix(".jpg") }.map { String($0.dropLast(4)) })
  }

  private func unsettled() throws -> [String] {
    let isQueued = try stores.contains { try $0.queued > 0 }
    let hasStandby = try texts("SELECT state FROM pg_stat_replication") == ["streaming"]
    return (isQueued ? ["files are in a queue"] : []) + (hasStandby ? [] : ["no standby"])
  }
}
