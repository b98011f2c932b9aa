import CascadeModel
import CascadePostgres
import CascadeStore
import CascadeSystem
import PostgresStore
import PostgresSupport
import StoreDefinition
import Testing

/// What only the portable dialect has to show. `CASCADE_DIALECT=portable` runs all other tests in it.
@Suite("The portable dialect", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct DialectTests {
  private func portable(_ body: () throws -> Void) rethrows {
    try TestedDialect.run(.portable, body)
  }

  private func open(_ store: PostgresFixture, _ dialect: Dialect) throws -> PostgresWriter {
    let uri = store.database.location.replacing("&dialect=portable", with: "")
    return try PostgresWriter(
      "\(uri)&dialect=\(dialect.rawValue)", store.model, attaches: true, lockTimeout: .seconds(5))
  }

  // MARK: - Some of the other tests

  @Test("Random references do what the reference does", arguments: [false, true])
  func random(files: Bool) throws {
    try portable { try RandomColumns().compare(steps: files ? nil : 1, files: files, seeds: 0..<3) }
  }

  @Test("Races end as they do in the fast dialect")
  func races() throws {
    try portable {
      try RaceTests().curedCount()
      try RaceTests().curedWave()
      try RaceTests().lateReference()
      try LeaseRaceTests().cured()
      try LeaseRaceTests().collection()
      try LeaderRaceTests().curedLock()
      try LeaderRaceTests().curedLedger()
      try LeaderRaceTests().curedDeadlock()
    }
  }

  // MARK: - Its statements

  private static let forbidden = [
    "ctid", "xmax", "TEMP", "pg_temp", "REFERENCING", "FOR EACH STATEMENT", "TRUNCATE", "advisory",
    "LOCK TABLE", "LISTEN", "notify", "pg_locks", "pg_stat_activity", "pg_terminate_backend",
  ]

  @Test("Nothing that it runs has a part of PostgreSQL that it does without")
  func statements() throws {
    let cluster = try Cluster()
    try Session(cluster.location("postgres", as: "postgres"))
      .execute("ALTER ROLE cascaded SET log_statement = 'all'")
    try Cluster.$own.withValue(cluster) {
      try portable {
        try SweepTests().steps()
        try SweepTests().hold()
        try SweepTests().undo()
        try SweepTests().questions()
        try SweepTests().denied()
        try SweepTests().detach()
        try LeaseTests().spares()
        try FileTests().lastEdge(place: FileTests.places[0])
        try FileTests().check()
        try RowFileTests().conditions()
        try ObjectTests().objects()
        try UnreferencedTests().approved()
        try JoinTests().counts()
        try BlockedTests().trigger()
        try WorkTests().busy()
      }
    }
    let log = try Self.statements(of: cluster)
    #expect(log.contains("CREATE TRIGGER cascade_gone") && log.contains("FOR EACH ROW"))
    for word in Self.forbidden {
      let place = log.firstRange(of: word)
      let context = place.map { log[$0.lowerBound...].prefix(200) } ?? ""
      #expect(place == nil, "\(word): \(context)")
    }
  }

  /// Functions name the schema of temporary tables, so that nobody else's are found by their names.
  private static func statements(of cluster: Cluster) throws -> String {
    try cluster.log.replacing("SET search_path = pg_catalog, pg_temp", with: "")
  }

  // MARK: - The leader

  @Test("A leader that looks before it writes, and not at the commit, writes beside the next one")
  func uncured() throws {
    try portable {
      let store = try Music.store()
      let leader = try store.database.session(as: "cascaded")
      try leader.execute("BEGIN")
      let term = try leader.run("SELECT number FROM cascade.leader").integer
      try leader.execute("DELETE FROM song")
      try store.database.endTerm()
      try leader.execute("COMMIT")
      #expect(try store.texts("SELECT number FROM cascade.leader") != ["\(term!)"])
      #expect(try store.texts("SELECT count(*) FROM song") == ["0"])
    }
  }

  @Test("A leader that was replaced while it was stopped writes nothing when it goes on")
  func stopped() throws {
    try portable {
      let store = try Music.store()
      try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
      store.writer.rowsToAStep = 1
      var (next, left): (PostgresWriter?, [String]) = (nil, [])
      let error = #expect(throws: PostgresError.self) {
        try store.writer.sweep(
          [.cascade, .refcount], at: 1,
          manners: StepPolicy { _ in
            if next != nil { return }
            try store.database.endTerm()
            next = try open(store, .portable)
            left = try store.texts(MusicRows.all)
          })
      }
      #expect(error?.isConnectionLost == true)
      #expect(throws: PostgresError.self) { try store.writer.requestRescan() }
      #expect(try store.texts(MusicRows.all) == left)
      #expect(try store.texts("SELECT key FROM cascade.meta WHERE key = 'watch_gap'").isEmpty)
      let result = try #require(try next?.sweep([.cascade, .refcount], at: 1))
      #expect(result.byCollection == ["albums": 2, "songs": 3, "photos": 1])
    }
  }

  @Test("Nobody takes over while the leader commits, and the time of a term is prolonged")
  func taking() throws {
    try portable {
      let store = try Music.store()
      let commit = try store.database.session(as: "cascaded")
      try commit.execute("BEGIN; SELECT FROM cascade.leader FOR SHARE")
      try store.bySQL("SELECT pg_sleep(1.6)")
      #expect(throws: StoreAway.self) { _ = try open(store, .portable) }
      try commit.execute("COMMIT")
      let watch = try #require(try PostgresEngine().watchCommits(of: store.database.location))
      _ = try watch.next()
      let isLeading = "SELECT expires > clock_timestamp() FROM cascade.leader_term"
      #expect(try store.texts(isLeading) == ["t"])
      #expect(throws: StoreAway.self) { _ = try open(store, .portable) }
    }
  }

  // MARK: - Scratch tables

  @Test("What questions work out at the same time is told apart, and nothing of it is left")
  func scratch() throws {
    try portable {
      let store = try Music.store()
      let one = try store.database.session(as: "cascaded")
      try one.execute(
        """
        SET cascade.owner = 1; BEGIN;
        INSERT INTO cascade.scratch_gone SELECT 1, id, 0 FROM artist;
        INSERT INTO cascade.scratch_gone SELECT 2, id, 0 FROM album
        """)
      let plan = try store.reader.plan(deleting: [Node("artists", .text("bob"))])
      #expect(plan.deletedCount == 3)
      try one.execute("COMMIT")
      #expect(try store.reader.plan(deleting: [Node("artists", .text("bob"))]).deletedCount == 3)
      try one.execute("DELETE FROM cascade.scratch_gone")
      try store.apply([.delete(Node("artists", .text("bob")))])
      try store.sweep()
      let tables = try store.texts(
        "SELECT tablename FROM pg_tables WHERE schemaname = 'cascade' AND tablename LIKE 'scratch%'"
      )
      #expect(tables.count == 8)
      for table in tables { #expect(try store.texts("SELECT owner FROM cascade.\(table)").isEmpty) }
    }
  }

  // MARK: - From one dialect to the other

  @Test("A store is attached again in another dialect, when no daemon leads in the one that it had")
  func change() throws {
    for (old, new) in [(Dialect.fast, Dialect.portable), (.portable, .fast)] {
      try TestedDialect.run(old) {
        let store = try Music.store()
        let watch = try PostgresEngine().watchCommits(of: store.database.location)
        _ = try watch?.next()
        #expect(throws: StoreAway.self) { _ = try open(store, new) }
        try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
        store.close()
        let next = try open(store, new)
        #expect(try next.rescanReason == .watchGap)
        try store.bySQL("DELETE FROM artist WHERE id = 'bob'")
        let swept = try next.sweep([.all], at: 1).byCollection
        #expect(swept == ["albums": 3, "songs": 4, "photos": 2])
        let transitions = "SELECT count(*) > 0 FROM pg_trigger WHERE tgoldtable IS NOT NULL"
        #expect(try store.texts(transitions) == [new == .fast ? "t" : "f"])
        let shared = "SELECT to_regclass('cascade.scratch_gone') IS NULL"
        #expect(try store.texts(shared) == [new == .fast ? "t" : "f"])
      }
    }
  }
}

private enum MusicRows {
  static let all = """
    SELECT 'album' || id FROM album UNION ALL SELECT 'song' || id FROM song
    UNION ALL SELECT 'photo' || id FROM photo ORDER BY 1
    """
}
