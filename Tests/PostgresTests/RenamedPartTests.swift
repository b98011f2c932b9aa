import CascadeModel
import CascadeStore
import PostgresStore
import PostgresSupport
import StoreDefinition
import Testing

@Suite(
  "Parts of a model that have other names on PostgreSQL",
  .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct RenamedPartTests {
  @Test("What is remembered of them stays true", arguments: RenamedParts.Claim.allCases)
  func claim(_ claim: RenamedParts.Claim) throws {
    try RenamedParts(PostgresUnderTest()).expect(claim)
  }

  private static let rows = """
    { collections: { posts: { table: 'post', key: 'id' }, photos: { table: 'photo', key: 'id' } },
      relationships: [{ name: 'photo', from: 'posts', to: 'photos', column: 'photo',
        rules: ['deleteDestinationIfAllSourcesDeleted'] }] }
    """
  private static let key = "0F8FAD5B-D9CB-469F-A165-70867728950E"

  private static func photos() throws -> PostgresFixture {
    let store = try PostgresFixture(
      rows,
      schema: """
        CREATE TABLE photo(id text PRIMARY KEY); CREATE TABLE post(id int PRIMARY KEY, photo text);
        CREATE INDEX ON post(photo); INSERT INTO photo VALUES('\(key)'), ('no uuid');
        INSERT INTO post VALUES(1, '\(key)'), (2, 'no uuid');
        """)
    try store.sweep([.all])
    return store
  }

  private static func migrate(_ store: PostgresFixture, _ sql: String) throws {
    try store.writer.set(OperatorPause(at: 1, user: 0, isForMigration: true))
    try store.bySQL(sql)
    try store.writer.set(nil)
    _ = try store.writer.attach(createIndexes: false)
  }

  private static let retype = """
    DELETE FROM post WHERE id = 2; DELETE FROM photo WHERE id = 'no uuid';
    ALTER TABLE photo ALTER id TYPE uuid USING id::uuid;
    ALTER TABLE post ALTER photo TYPE uuid USING photo::uuid
    """

  @Test("A lease holds its row when the key becomes a uuid, in whatever case it was taken")
  func lease() throws {
    let store = try Self.photos()
    for key in [Self.key, "no uuid"] {
      try store.lease("'\(key)'", in: "photos", until: 90_000_000_000)
    }
    try Self.migrate(store, Self.retype)
    try store.bySQL("DELETE FROM post")
    #expect(try store.sweep([.all]).deletedCount == 0)
    #expect(try store.texts("SELECT id FROM photo") == [Self.key.lowercased()])
    #expect(try store.writer.release([.node(Node("photos", .text(Self.key)))], owner: nil) == 1)
    #expect(try store.sweep().deletedCount == 1)
  }

  @Test("Stored edges to a key that cannot be converted are kept, and told")
  func misfit() throws {
    let store = try Self.photos()
    let link = Change.link(
      name: "of", from: Node("posts", .integer(1)), to: .node(Node("photos", .text("no uuid"))),
      rules: .deleteSourceIfDestinationDeleted)
    try store.apply([link])
    try Self.migrate(store, Self.retype)
    let told = store.writer.bindingProblems.map(\.description).joined()
    #expect(told.contains("cannot be converted"))
    try store.sweep([.all])
    #expect(try store.texts("SELECT id FROM post") == ["1"])
  }

  @Test("A table that was made anew under another name is told from a new one by the model")
  func madeAnew() throws {
    let store = try Self.photos()
    try store.bySQL("DELETE FROM post")
    let batch = try #require(try store.sweep().batch)
    try Self.migrate(
      store,
      "DROP TABLE photo; CREATE TABLE picture(name text PRIMARY KEY)")
    try store.allowDaemon(on: "picture")
    try store.reopen(
      with: Self.rows.replacing(
        "photos: { table: 'photo', key: 'id' }",
        with: """
          photos: { table: 'picture', key: 'name', was: { table: 'photo', columns: { name: 'id' } } }
          """))
    let undone = try store.writer.undo(batch, by: "me", at: 2)
    #expect(undone.byCollection == ["photos": 2] && undone.left.isEmpty)
    #expect(try store.texts("SELECT count(*) FROM picture") == ["2"])
  }
}
