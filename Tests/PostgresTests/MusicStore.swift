import CascadeModel
import CascadePostgres
import CascadeStore
import CascadeSystem
import PostgresStore
import PostgresSupport
import StoreDefinition

/// A store in a database of its own.
final class PostgresFixture {
  let database: Database
  private(set) var model: StoreModel
  /// One daemon at most serves the database, so there may be none for a moment.
  private var current: PostgresWriter?
  var writer: PostgresWriter { current! }
  private(set) var reader: PostgresReader
  var count: Int64 = 0
  /// The owner of the first table, if each has one of its own.
  private var firstOwner: String?

  convenience init(_ model: String, schema: String, lenient: Bool = true) throws {
    try self.init(
      model: lenient ? StoreModel(model) : StoreModel(json5: Array(model.utf8)), schema: schema)
  }

  convenience init(model: StoreModel, schema: String) throws {
    try self.init(model: model, Database(schema: schema))
  }

  init(model: StoreModel, _ database: Database) throws {
    self.database = database
    self.model = model
    current = try PostgresWriter(
      database.location, self.model, attaches: true, lockTimeout: .seconds(5))
    reader = try PostgresReader(database.location, self.model, lockTimeout: .seconds(5))
    if TestedOwners.areSeveral { try makeOwners() }
  }

  /// Gives each table of the model an owner of its own, of which `application` is a member.
  private func makeOwners() throws {
    let superuser = try database.session(as: "postgres")
    let tables = try superuser.run(
      """
      SELECT c.oid::regclass FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner
      WHERE r.rolname = 'application' AND c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace
      """
    ).texts
    for (number, table) in tables.enumerated() {
      let owner = "\(database.name)_\(number)"
      try superuser.execute(
        """
        CREATE ROLE \(owner); GRANT \(owner) TO application;
        GRANT USAGE, CREATE ON SCHEMA public TO \(owner);
        GRANT ALL ON ALL TABLES IN SCHEMA public TO \(owner);
        ALTER TABLE \(table) OWNER TO \(owner)
        """)
    }
    firstOwner = "\(database.name)_0"
    try writer.followSchema()
    let statements = try writer.createFunctions().forOwner
    if !statements.isEmpty { try superuser.execute(statements.joined(separator: ";")) }
    try writer.followSchema()
  }

  /// As the next daemon does. Nothing is left of the connections of the last one.
  func reopen() throws {
    current = nil
    current = try PostgresWriter(
      database.location, model, attaches: true, lockTimeout: .seconds(5))
  }

  func reopen(with model: String) throws {
    self.model = try StoreModel(model)
    try reopen()
  }

  func reopen(with model: StoreModel) throws {
    self.model = model
    try reopen()
    reader = try PostgresReader(database.location, model, lockTimeout: .seconds(5))
  }

  func close() { current = nil }

  /// As somebody does who makes a table: the daemon can write rows of an owner whom it knows.
  func allowDaemon(on table: String) throws {
    try bySQL("GRANT ALL ON \(table) TO cascaded")
    guard let firstOwner else { return }
    try database.session(as: "postgres").execute("ALTER TABLE \(table) OWNER TO \(firstOwner)")
  }

  func bySQL(_ sql: String) throws { try database.session().execute(sql) }

  func texts(_ sql: String) throws -> [String] {
    try database.session(as: "postgres").run(sql).texts
  }

  var journalIsEmpty: Bool {
    get throws { try texts("SELECT count(*) FROM cascade.journal") == ["0"] }
  }

  /// Also of what waits because a node had to stay.
  var hasWork: Bool {
    get throws { try texts("SELECT EXISTS (SELECT FROM cascade.work)") == ["t"] }
  }

  /// Waits until there is something to sweep. Transactions of other tests delay it.
  func waitForJournal() throws {
    for _ in 0..<20_000 {
      if try writer.hasJournal { return }
      _ = try texts("SELECT pg_sleep(0.001)")
    }
  }

  /// Sweeps until nothing is left to be looked for again. Transactions of other tests delay it.
  func settle(_ kinds: [SweepKind] = [.cascade, .refcount]) throws {
    for _ in 0..<5_000 {
      if try texts("SELECT count(*) FROM cascade.recheck") == ["0"] { return }
      try sweep(kinds)
      _ = try texts("SELECT pg_sleep(0.001)")
    }
    throw ClusterError(description: "not in time: nothing is left to be looked for again")
  }

  @discardableResult
  func sweep(_ kinds: [SweepKind] = [.cascade, .refcount]) throws -> SweepResult {
    try writer.sweep(kinds, at: 1, manners: .none)
  }
}

/// Whether each table has an owner of its own: `CASCADE_OWNERS=several`.
private enum TestedOwners {
  static let areSeveral = Process.environment("CASCADE_OWNERS") == "several"
}

/// Artists, their albums, the albums' songs, and photos that albums share.
enum Music {
  static let schema = """
    CREATE TABLE artist(id text PRIMARY KEY, name text);
    CREATE TABLE photo(id bigint PRIMARY KEY);
    CREATE TABLE album(id text PRIMARY KEY, artist_id text, photo_id int);
    CREATE TABLE song(id uuid PRIMARY KEY DEFAULT gen_random_uuid(), album_id varchar(20));
    CREATE INDEX ON album(artist_id); CREATE INDEX ON album(photo_id);
    CREATE INDEX ON song(album_id);
    INSERT INTO artist VALUES('anna', 'Anna'), ('bob', 'Bob');
    INSERT INTO photo VALUES(1), (2);
    INSERT INTO album VALUES('a1', 'anna', 1), ('a2', 'anna', 2), ('b1', 'bob', 2);
    INSERT INTO song(album_id) SELECT a FROM unnest(ARRAY['a1', 'a1', 'a2', 'b1']) a;
    """

  static func model(_ more: String = "") -> String { MusicModel.text(more) }

  static func store(_ more: String = "", lenient: Bool = true) throws -> PostgresFixture {
    let store = try PostgresFixture(model(more), schema: schema, lenient: lenient)
    try store.sweep([.all])
    return store
  }
}
