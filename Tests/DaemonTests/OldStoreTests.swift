import CascadeModel
import CascadePostgres
import CascadeSystem
import PostgresSupport
import Testing

/// What earlier versions left in databases, which `deploy/old-stores` wrote down, is taken over by this one.
/// It gets the layout of a new store, so no release can change that without a step.
@Suite("Stores of earlier versions")
struct OldStoreTests {
  @Worker @Test("A SQLite store", arguments: OldStores.versions)
  func sqlite(version: String) throws {
    let store = try TestStore(model: OldStores.text("model.json"), starts: false)
    try store.sql(".read \(OldStores.folder)/\(version)/sqlite.sql")
    try store.start()
    let new = try TestStore(
      model: OldStores.text("model.json"), schema: OldStores.text("tables.sql"))
    #expect(try store.layout == new.layout)
    try EndOfStory(store: store).tell()
  }

  @Worker
  @Test(
    "A PostgreSQL database", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"),
    arguments: OldStores.versions)
  func postgres(version: String) throws {
    let database = try Database()
    try database.session(as: "postgres").execute(OldStores.text("\(version)/postgres.sql"))
    let store = try PostgresDaemon(model: OldStores.text("model.json"), on: database)
    try store.launch()
    try store.waitUntil("it is served") { try ["ok", "held"].contains(store.state) }
    let new = try PostgresDaemon(
      model: OldStores.text("model.json"), schema: OldStores.text("tables.sql"))
    #expect(try store.layout.isSuperset(of: new.layout))
    try EndOfStory(store: store).tell()
  }
}

private enum OldStores {
  static let folder =
    #filePath.firstRange(of: "/DaemonTests/").map { "\(#filePath[..<$0.lowerBound])/OldStores" }
    ?? ""

  static let versions: [String] = {
    let names = (try? Directory.open(folder).names().map(\.description)) ?? []
    return names.filter { !$0.hasSuffix(".json") && !$0.hasSuffix(".sql") }.sorted()
  }()

  static func text(_ name: String) throws -> String {
    let bytes = try FileDescriptor.open("\(folder)/\(name)").readWhole(limit: 1 << 24) ?? []
    return String(decoding: bytes, as: UTF8.self)
  }
}

private protocol OldStore {
  @discardableResult
  func ctl(_ arguments: String..., input: String) throws -> Outcome
  func bySQL(_ sql: String) throws
}

extension PostgresDaemon: OldStore {
  /// The columns and indexes of Cascade's own. Stored edges have tables of their own.
  fileprivate var layout: Set<String> {
    get throws {
      try Set(
        texts(
          """
          SELECT concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default)
          FROM information_schema.columns WHERE table_schema = 'cascade' UNION ALL
          SELECT indexdef FROM pg_indexes WHERE schemaname = 'cascade'
          """))
    }
  }
}

extension TestStore: OldStore {
  fileprivate func bySQL(_ sql: String) throws { try self.sql(sql) }

  /// The same, with the views.
  fileprivate var layout: [String] {
    get throws {
      try texts(
        """
        SELECT m.name || ' ' || i.name || ' ' || i.type || ' ' || i."notnull" || ' ' || i.pk || ' '
          || coalesce(i.dflt_value, '')
        FROM sqlite_schema AS m CROSS JOIN pragma_table_info(m.name) AS i
        WHERE m.type = 'table' AND m.name GLOB 'cascade_*' UNION ALL
        SELECT sql FROM sqlite_schema WHERE type IN ('index', 'view') AND name GLOB 'cascade_*' ORDER BY 1
        """)
    }
  }
}

/// How the story goes on that `deploy/old-stores` began.
private struct EndOfStory {
  let store: any OldStore

  func tell() throws {
    try expectDuplicate()
    try expectNotice()
    try expectProtection()
    try expectUndo()
    try expectKeptRow()
    try expectLease()
    try expectApproval()
    try expectJob()
  }

  private func keys(_ collection: String) throws -> Set<Int64> {
    let nodes = try store.ctl("--json", "nodes", collection, input: "").lines
    return Set(nodes.compactMap { $0["node"]?.array?.last?.integer })
  }

  /// The receipt of a change file is known.
  private func expectDuplicate() throws {
    let outcome = try store.ctl("--json", "apply", "-", input: OldStores.text("first.json"))
    #expect(try outcome.status == 0 && outcome.json["outcome"] == "duplicate", "\(outcome.output)")
  }

  private func expectNotice() throws {
    let notices = try store.ctl("--json", "notices", input: "").lines
    #expect(notices.count == 1)
    #expect(notices.first?["node"] == ["notes", "n1"])
  }

  private func expectProtection() throws {
    let protection = try store.ctl("--json", "protections", input: "").json
    #expect(protection["node"] == ["artists", 3] && protection["reason"] == "case 7")
    #expect {
      try store.bySQL("DELETE FROM artist WHERE id = 3")
    } throws: {
      "\($0)".contains("artists/3 is protected: case 7")
    }
  }

  private func expectUndo() throws {
    let why = try store.ctl("--json", "why", "songs/111", input: "").json
    #expect(why["state"] == "deleted")
    let batch = try #require(why["deleted"]?["batch"]?.integer)
    #expect(try store.ctl("undo", "\(batch)", input: "").status == 0)
    #expect(try keys("artists").contains(1) && keys("albums").contains(11))
    #expect(try keys("songs").isSuperset(of: [111, 112]))
  }

  /// The row went alone.
  private func expectKeptRow() throws {
    #expect(try store.ctl("undo", "artists/6", input: "").status == 0)
    #expect(try keys("artists").contains(6))
  }

  private func expectLease() throws {
    try store.ctl("sweep", "cascade", input: "")
    #expect(try keys("songs").contains(511))
    let release = try store.ctl("lease", "--release", "--owner", "story", "songs/511", input: "")
    #expect(release.status == 0, "\(release.error)")
    try store.ctl("sweep", "cascade", input: "")
    #expect(try !keys("songs").contains(511))
  }

  private func expectApproval() throws {
    let job = try store.ctl("--json", "jobs", input: "").lines.first
    let status = try store.ctl("--json", "status", input: "").json["stores"]?.array?.first
    let plans = status?["heldPlans"]?.array?.compactMap { $0["plan"]?.integer } ?? []
    let plan = try #require(plans.first { $0 != job?["plan"]?.integer })
    #expect(try keys("albums").contains(21) && keys("songs").isSuperset(of: 211...216))
    #expect(try store.ctl("approve", "\(plan)", input: "").status == 0)
    try store.ctl("sweep", "cascade", input: "")
    #expect(try !keys("albums").contains(21) && keys("songs").isDisjoint(with: 211...216))
  }

  private func expectJob() throws {
    let job = try #require(try store.ctl("--json", "jobs", input: "").lines.first)
    #expect(job["state"] == "held")
    let plan = try #require(job["plan"]?.integer)
    #expect(try store.ctl("approve", "\(plan)", input: "").status == 0)
    #expect(try !keys("artists").contains(4) && keys("songs").isDisjoint(with: 411...416))
  }
}
