import CascadeModel
import CascadePostgres
import CascadeStore
import PostgresStore
import PostgresSupport
import StoreDefinition
import Testing

/// Tables of several owners: what an owner's trigger does when the daemon writes a row, it does with that
/// owner's rights.
@Suite(
  "Tables of several owners on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)")
)
struct OwnerTests {
  private static let schema = """
    CREATE TABLE fan(id int PRIMARY KEY, album_id text, name varchar(9) DEFAULT 'new', mark char(3));
    CREATE INDEX ON fan(album_id);
    CREATE TABLE crowd(id int PRIMARY KEY, albums text[]); CREATE INDEX ON crowd USING gin(albums);
    CREATE TABLE likes(fan_id int, album_id text, x int); CREATE INDEX ON likes(album_id);
    CREATE INDEX ON likes(fan_id);
    INSERT INTO fan VALUES(1, 'a1', 'one', 'x'), (2, 'a2', NULL, NULL);
    INSERT INTO crowd VALUES(1, '{a1,b1,a2}');
    INSERT INTO likes VALUES(1, 'a1'), (1, 'a1'), (1, 'b1');
    CREATE TABLE secret(id int); INSERT INTO secret VALUES(1), (2);
    """

  private static let model = Music.model()
    .replacing(
      "collections: {",
      with: """
        collections: { fans: { table: 'fan', key: 'id' }, crowds: { table: 'crowd', key: 'id' },
        """
    )
    .replacing(
      "relationships: [",
      with: """
        relationships: [
          { name: 'idol', from: 'fans', to: 'albums', column: 'album_id',
            rules: ['nullifySourceIfDestinationDeleted'] },
          { name: 'heard', from: 'crowds', to: 'albums', property: 'albums', toMany: true,
            rules: ['nullifySourceIfDestinationDeleted'] },
          { name: 'likes', from: 'fans', to: 'albums', toMany: true, rules: [],
            join: { table: 'likes', source: 'fan_id', destination: 'album_id' } },
        """)

  /// `mallory` owns some of the tables, and has no rights in the others. The daemon's role may also empty a table that
  /// is nothing to it.
  private static let mallorys = ["album", "fan", "crowd", "likes"]

  private let store: PostgresFixture
  private var mallory: String { "mallory_of_\(store.database.name)" }

  private init() throws { try self.init(on: nil) }

  private init(on cluster: Cluster?) throws {
    store = try PostgresFixture(
      model: StoreModel(Self.model), Database(schema: Music.schema + Self.schema, on: cluster))
    let mallory = "mallory_of_\(store.database.name)"
    try store.sweep([.all])
    try store.database.session(as: "postgres").execute(
      """
      CREATE ROLE \(mallory) LOGIN; GRANT CREATE, USAGE ON SCHEMA public TO \(mallory);
      \(Self.mallorys.map { "ALTER TABLE \($0) OWNER TO \(mallory);" }.joined())
      """)
    try store.writer.followSchema()
  }

  /// As a superuser would run what `attach --create-functions` prints.
  private func makeFunctions() throws {
    let report = try store.writer.createFunctions()
    #expect(report.made.isEmpty)
    try store.database.session(as: "postgres").execute(
      report.forOwner.joined(separator: ";\n"))
    try store.writer.followSchema()
    #expect(try store.writer.createFunctions().forOwner.isEmpty)
  }

  private func bySQL(asMallory sql: String) throws {
    try store.database.session(as: mallory).execute(sql)
  }

  /// A trigger of mallory's, which does something with whatever rights it has.
  private func attack(
    _ body: String, on event: String = "BEFORE DELETE ON album", kind: String = "TRIGGER",
    timing: String = ""
  ) throws {
    try bySQL(
      asMallory: """
        CREATE OR REPLACE FUNCTION attack() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN \(body); RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END; END $$;
        CREATE \(kind) attack \(event) \(timing) FOR EACH ROW EXECUTE FUNCTION attack()
        """)
  }

  private func deleteAnna() throws { try store.bySQL("DELETE FROM artist WHERE id = 'anna'") }

  private var albums: [String] { get throws { try store.texts("SELECT id FROM album ORDER BY 1") } }

  // MARK: - What an owner cannot do

  private static let attacks = [
    "DELETE FROM secret": "permission denied for table secret",
    "INSERT INTO cascade.journal(what, subject, key) SELECT what, subject, 'bob' FROM cascade.work":
      "permission denied",
    "UPDATE cascade.plan SET is_approved = true": "permission denied",
    "SET ROLE cascaded": "cannot set parameter",
    "SET SESSION AUTHORIZATION cascaded": "cannot set parameter",
    "SET search_path = evil, pg_catalog": "it changed search_path",
    "SET work_mem = '7MB'": "it changed settings",
    "EXECUTE 'PREPARE own AS SELECT 1'": "it prepared statements",
    "EXECUTE 'DEALLOCATE ALL'": "it prepared statements",
    "EXECUTE 'DECLARE late CURSOR WITH HOLD FOR SELECT 1'": "it left a cursor",
    "CREATE TEMPORARY TABLE gone(key text)": "",
    "CREATE TEMPORARY TABLE pg_class(key text)": "it left the temporary pg_class",
  ]

  @Test("A trigger does nothing with the daemon's rights", arguments: attacks.keys.sorted())
  func isPowerless(attack: String) throws {
    try makeFunctions()
    try self.attack(attack)
    try deleteAnna()
    let result = try store.sweep()
    #expect(result.blocked.compactMap(\.node?.description).sorted() == ["albums/a1", "albums/a2"])
    let why = Self.attacks[attack]!
    #expect(
      result.blocked.allSatisfy { $0.message.contains(why) }, "\(result.blocked.map(\.message))")
    #expect(try albums == ["a1", "a2", "b1"])
    #expect(try store.texts("SELECT count(*) FROM secret") == ["2"])
    #expect(try store.texts("SELECT id FROM artist") == ["bob"])
    // A change file is rejected.
    let reasons = try store.reasons([.delete(Node("albums", .text("b1")))])
    #expect(reasons.first?.message.contains(why) == true, "\(reasons)")
    try bySQL(asMallory: "DROP FUNCTION attack CASCADE")
    try store.waitForJournal()
    #expect(try store.sweep().byCollection["albums"] == 2)
    #expect(try albums == ["b1"])
  }

  @Test("Nor does one that is deferred to the commit")
  func deferred() throws {
    try makeFunctions()
    try attack(
      "DELETE FROM secret", on: "AFTER DELETE ON album", kind: "CONSTRAINT TRIGGER",
      timing: "DEFERRABLE INITIALLY DEFERRED")
    try deleteAnna()
    #expect(try store.sweep().blocked.first?.message.contains("can be deferred") == true)
    #expect(try store.texts("SELECT count(*) FROM secret") == ["2"])
  }

  @Test("A setting that a transaction has anyway does not outlive it")
  func settings() throws {
    try makeFunctions()
    try bySQL(asMallory: "CREATE TABLE seen(value text)")
    try attack(
      """
      IF current_setting('synchronous_commit') = 'off' THEN SET synchronous_commit = off; END IF;
      INSERT INTO seen VALUES(current_setting('synchronous_commit'))
      """)
    try deleteAnna()
    #expect(try store.sweep().byCollection["albums"] == 2)
    #expect(try store.reasons([.delete(Node("albums", .text("b1")))]).isEmpty)
    #expect(try store.texts("SELECT DISTINCT value FROM seen ORDER BY 1") == ["off", "on"])
  }

  @Test(
    "Nor when a row is changed or inserted",
    arguments: ["UPDATE ON fan", "UPDATE ON crowd", "DELETE ON likes"])
  func changes(event: String) throws {
    try makeFunctions()
    try attack("DELETE FROM secret", on: "BEFORE \(event)")
    try deleteAnna()
    try store.sweep()
    #expect(try store.texts("SELECT count(*) FROM secret") == ["2"])
    #expect(try albums == ["b1"])
    try bySQL(asMallory: "DROP FUNCTION attack CASCADE")
    try store.settle()
    try attack("DELETE FROM secret", on: "BEFORE INSERT OR UPDATE ON fan")
    for node in [1, 3] {
      let put = Change.put(
        Node("fans", .integer(Int64(node))), type: nil, value: JSONText(valid: #"{"name": "new"}"#),
        edges: nil)
      #expect(try !store.reasons([put]).isEmpty)
    }
    #expect(try store.texts("SELECT count(*) FROM secret") == ["2"])
  }

  @Test("Without the functions no row of such a table is written, and what is missing is told")
  func missing() throws {
    try attack("DELETE FROM secret")
    try deleteAnna()
    let result = try store.sweep()
    #expect(result.blocked.first?.message.contains("attach --create-functions") == true)
    #expect(try store.texts("SELECT count(*) FROM secret") == ["2"])
    #expect(try albums == ["a1", "a2", "b1"])
    let findings = try store.reader.checkSetup().map(\.message)
    #expect(findings.contains { $0.contains("attach --create-functions") }, "\(findings)")
    try bySQL(asMallory: "DROP FUNCTION attack CASCADE")
    try makeFunctions()
    try store.waitForJournal()
    #expect(try store.sweep().byCollection["albums"] == 2)
    #expect(try store.journalIsEmpty)
  }

  @Test(
    "An owner can neither name nor change its functions, and one that was changed is not called")
  func functions() throws {
    try makeFunctions()
    let name = try store.texts(
      "SELECT oid::regprocedure FROM pg_proc WHERE proname LIKE 'delete\\_%'"
    ).first { $0.hasPrefix("cascade_owners.") }!
    for sql in [
      "ALTER FUNCTION \(name) SECURITY INVOKER",
      "SELECT \(name.prefix { $0 != "(" })(NULL::album, NULL, NULL, NULL)",
      "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA cascade_owners TO PUBLIC",
    ] {
      #expect(throws: PostgresError.self) { try bySQL(asMallory: sql) }
    }
    try store.database.session(as: "postgres").execute("ALTER FUNCTION \(name) SECURITY INVOKER")
    try store.writer.followSchema()
    try deleteAnna()
    #expect(try store.sweep().blocked.first?.message.contains("attach --create-functions") == true)
  }

  @Test("What gives owners the daemon's rights otherwise is told")
  func findings() throws {
    // What is granted to the role of all tests on a server is told in each of them.
    try OwnerTests(on: Cluster()).tellsWhatGivesRights()
  }

  private func tellsWhatGivesRights() throws {
    try makeFunctions()
    try bySQL(
      asMallory: """
        CREATE FUNCTION one() RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT 1';
        CREATE INDEX ON fan((id + one()))
        """)
    try store.bySQL(
      "CREATE SCHEMA other; CREATE TABLE other.thing(id int); GRANT INSERT ON other.thing TO cascaded"
    )
    try store.database.session(as: "postgres").execute("GRANT pg_read_all_data TO cascaded")
    let findings = try store.reader.checkSetup().map(\.message)
    for part in [
      "member of pg_read_all_data", "may write to other.thing", "calls one()",
      "may create functions in the schema public",
    ] {
      #expect(findings.contains { $0.contains(part) }, "\(part): \(findings)")
    }
    #expect(!findings.contains { $0.contains("create-functions") })
  }

  // MARK: - What goes on as it was

  @Test("Sweeps, change files and undo do what they do with one owner")
  func same() throws {
    try makeFunctions()
    let before = try dump()
    try deleteAnna()
    let result = try store.sweep()
    #expect(result.blocked.isEmpty)
    #expect(result.byCollection == ["albums": 2, "songs": 3, "photos": 1])
    #expect(
      try store.texts("SELECT (id, album_id, name, mark)::text FROM fan ORDER BY id") == [
        "(1,,one,\"x  \")", "(2,,,)",
      ])
    #expect(try store.texts("SELECT albums FROM crowd") == ["{b1}"])
    #expect(try store.texts("SELECT (fan_id, album_id)::text FROM likes") == ["(1,b1)"])
    try store.bySQL("INSERT INTO artist VALUES('anna', 'Anna')")
    let undone = try store.writer.undo(result.batch!, by: "test", at: 1, manners: .none)
    #expect(undone.left.isEmpty)
    #expect(try dump() == before)
    // A row that a trigger keeps.
    try bySQL(
      asMallory: """
        CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN IF OLD.id = 'a2' THEN RETURN NULL; END IF; RETURN OLD; END $$;
        CREATE TRIGGER keep BEFORE DELETE ON album FOR EACH ROW EXECUTE FUNCTION keep()
        """)
    try store.writer.followSchema()
    try deleteAnna()
    let kept = try store.sweep()
    #expect(kept.blocked.map(\.node) == [Node("albums", .text("a2"))])
    #expect(kept.blocked.first?.message.contains("the trigger keep of public.album") == true)
  }

  private func dump() throws -> [String] {
    try ["artist", "photo", "album", "song", "fan", "crowd", "likes"].flatMap { table in
      try store.texts("SELECT x::text FROM \(table) x ORDER BY 1")
    }
  }

  @Test("A put writes the whole row, with defaults, and a patch the columns that it names")
  func written() throws {
    try makeFunctions()
    func put(_ id: Int64, _ value: String) throws {
      #expect(
        try store.reasons([
          .put(Node("fans", .integer(id)), type: nil, value: JSONText(valid: value), edges: nil)
        ]).isEmpty)
    }
    try put(1, #"{"album_id": "b1"}"#)
    try put(3, #"{"mark": "ab", "album_id": "b1"}"#)
    #expect(
      try store.texts("SELECT x::text FROM fan x ORDER BY id")
        == ["(1,b1,new,)", "(2,a2,,)", "(3,b1,new,\"ab \")"])
    #expect(
      try !store.reasons([
        .put(
          Node("fans", .integer(3)), type: nil, value: JSONText(valid: #"{"name": "0123456789"}"#),
          edges: nil)
      ]).isEmpty)
  }
}
