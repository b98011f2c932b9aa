import CascadeModel
import CascadePostgres
import CascadeStore
import PostgresStore
import PostgresSupport
import StoreDefinition
import Testing

/// How many rows a sweep reads.
@Suite("Plans on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct PlanTests {
  private static let schema = """
    CREATE TABLE feed(site text, id int, PRIMARY KEY(site, id));
    CREATE TABLE entry(id int PRIMARY KEY, site text, feed int, tags int[], refs jsonb,
      kind text, other varchar(9), doc jsonb);
    CREATE TABLE tag(id int PRIMARY KEY); CREATE TABLE kind(id int PRIMARY KEY);
    CREATE TABLE entry_tag(entry int, tag int, PRIMARY KEY(entry, tag));
    CREATE INDEX ON entry_tag(tag);
    INSERT INTO feed SELECT 's' || n, n FROM generate_series(1, 30000) n;
    INSERT INTO tag SELECT generate_series(1, 30000);
    INSERT INTO entry SELECT n, 's' || n, n, ARRAY[n, n], jsonb_build_array(n), 't', n,
        jsonb_build_object('a', jsonb_build_object('b', n))
      FROM generate_series(1, 30000) n;
    INSERT INTO entry_tag SELECT n, n FROM generate_series(1, 30000) n;
    CREATE INDEX ON entry(site, feed); CREATE INDEX ON entry USING gin (tags);
    CREATE INDEX ON entry USING gin (refs); CREATE INDEX ON entry USING gin (doc);
    CREATE INDEX ON entry(kind, other); CREATE INDEX ON entry(feed);
    ANALYZE;
    """

  private static let rows = Result { try Database(schema: schema) }

  /// The relationship, by its place.
  static let places = [
    "to: 'feeds', column: ['site', 'feed']", "to: 'tags', property: 'tags', toMany: true",
    "to: 'tags', property: 'refs', toMany: true",
    "to: { t: 'tags', e: 'entries' }, column: 'other', typeColumn: 'kind'",
    "to: ['kinds', 'tags'], column: 'feed'", "to: 'tags', property: 'doc.a.b'",
    "to: 'tags', join: { table: 'entry_tag', source: 'entry', destination: 'tag' }",
  ]

  static let rules = [
    "deleteSourceIfDestinationDeleted", "deleteSourceIfAllDestinationsDeleted",
    "nullifySourceIfDestinationDeleted", "notifyIfDestinationDeleted", "notifyIfSourceDeleted",
    "deleteDestinationIfSourceDeleted", "deleteDestinationIfAllSourcesDeleted",
  ]

  private static let read = """
    SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint FROM pg_stat_user_tables
    WHERE schemaname = 'public'
    """

  @Test(
    "A sweep of a few rows reads a few rows, wherever the references are", arguments: places, rules)
  func few(_ place: String, _ rule: String) throws {
    let model = try StoreModel(
      """
      { collections: { feeds: { table: "feed", key: ["site", "id"] },
          entries: { table: "entry", key: "id" }, tags: { table: "tag", key: "id" },
          kinds: { table: "kind", key: "id" } },
        relationships: [{ name: "r", from: "entries", \(place), rules: ["\(rule)"] }] }
      """)
    let store = try PostgresFixture(model: model, Database(template: PlanTests.rows.get()))
    try store.sweep([.all])
    try store.bySQL(
      "DELETE FROM feed WHERE id < 4; DELETE FROM tag WHERE id < 4; DELETE FROM entry WHERE id = 9")
    try store.reopen()
    let before = try rowsRead(store)
    let result = try store.sweep()
    #expect(result.outcome == .done || rule.hasPrefix("notify"))
    try store.reopen()
    let rows = try rowsRead(store) - before
    #expect(rows < 500, "\(rows) rows were read")
  }

  @Test("Rows to which nothing refers leave nothing in the journal, whoever deletes them")
  func unmissed() throws {
    let store = try PostgresFixture(
      """
      { collections: { albums: { table: "album", key: "id" }, songs: { table: "song", key: "id" } },
        relationships: [{ name: "album", from: "songs", to: "albums", column: "album",
          rules: ["deleteSourceIfDestinationDeleted"] }] }
      """,
      schema: """
        CREATE TABLE album(id int PRIMARY KEY); CREATE TABLE song(id int PRIMARY KEY, album int);
        INSERT INTO album VALUES(1), (2); INSERT INTO song VALUES(1, 1), (2, 1), (3, 2);
        CREATE INDEX ON song(album)
        """)
    try store.sweep([.all])
    try store.bySQL("DELETE FROM song WHERE id = 3; UPDATE song SET id = 4 WHERE id = 2")
    #expect(try store.texts("SELECT count(*) FROM cascade.journal") == ["0"])
    try store.bySQL("DELETE FROM album WHERE id = 1")
    #expect(try store.texts("SELECT key FROM cascade.journal") == ["1"])
    #expect(try store.sweep().deletedCount == 2)
    #expect(try store.texts("SELECT last_value FROM cascade.journal_seq") == ["1"])
  }

  private func rowsRead(_ store: PostgresFixture) throws -> Int {
    // A session counts what it read when it ends: only those of the writer and the reader are left.
    for _ in 0..<5_000 {
      let sessions = try store.texts(
        "SELECT count(*) FROM pg_stat_activity "
          + "WHERE datname = current_database() AND usename <> 'postgres'")
      if sessions == ["2"] { break }
    }
    return Int(try store.texts(PlanTests.read)[0])!
  }
}
