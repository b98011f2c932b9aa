import CascadeModel
import CascadePostgres
import CascadeStore
import PostgresStore
import PostgresSupport
import StoreDefinition
import Testing

@Suite("Denials in every isolation", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct ConstraintTests {
  private static let model = Music.model().replacing(
    "rules: [\"deleteDestinationIfAllSourcesDeleted\"]",
    with: "rules: [\"denyDestinationDeletion\"]")

  /// A session whose snapshot is older than a reference deletes what the reference leads to.
  private func deleteWithOldSnapshot(_ store: PostgresFixture) throws {
    try store.bySQL("DELETE FROM album WHERE id = 'a1'")
    let old = try store.database.session()
    try old.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM photo")
    try store.bySQL("INSERT INTO album VALUES('new', 'bob', 1)")
    try old.execute("DELETE FROM photo WHERE id = 1; COMMIT")
  }

  private let orphans = "SELECT id FROM album WHERE photo_id NOT IN (SELECT id FROM photo)"

  @Test("A trigger does not see a reference that is younger than its transaction's snapshot")
  func uncured() throws {
    let store = try PostgresFixture(Self.model, schema: Music.schema)
    try deleteWithOldSnapshot(store)
    #expect(try store.texts(orphans) == ["new"])
  }

  @Test("The foreign key that attach has the owner create does, and no session can delete then")
  func cured() throws {
    let store = try PostgresFixture(Self.model, schema: Music.schema)
    let report = try store.writer.createConstraints()
    #expect(report.made.isEmpty)
    let sql = try #require(report.forOwner.first)
    #expect(sql.contains("ON DELETE NO ACTION NOT VALID"))
    // What dangles already does not keep it from being created.
    try store.bySQL("INSERT INTO album VALUES('lost', 'bob', 99); \(sql)")
    #expect(throws: PostgresError.self) { try deleteWithOldSnapshot(store) }
    #expect(try store.texts(orphans) == ["lost"])
    #expect(try store.writer.createConstraints().forOwner.isEmpty)
  }

  @Test("A role that may act as the owner creates the foreign keys, and detaching drops them")
  func member() throws {
    let schema = """
      \(Music.schema) CREATE TABLE likes(album_id text, photo_id int);
      CREATE INDEX ON likes(album_id); CREATE INDEX ON likes(photo_id);
      """
    let model = Self.model.replacing(
      "relationships: [",
      with: """
        relationships: [{ name: 'likes', from: 'albums', to: 'photos', join: { table: 'likes',
          source: 'album_id', destination: 'photo_id' }, toMany: true,
          rules: ['denySourceDeletion', 'denyDestinationDeletion'] },
        """)
    // The other tests' role has no such rights.
    let store = try PostgresFixture(
      model: StoreModel(model), Database(schema: schema, on: Cluster()))
    let owner = "owner_of_\(store.database.name)"
    try store.database.session(as: "postgres").execute(
      """
      CREATE ROLE \(owner); GRANT CREATE ON SCHEMA public TO \(owner); GRANT \(owner) TO cascaded;
      ALTER TABLE album OWNER TO \(owner); ALTER TABLE photo OWNER TO \(owner);
      ALTER TABLE likes OWNER TO \(owner)
      """)
    let report = try store.writer.createConstraints()
    #expect(report.made.count == 3)
    #expect(report.forOwner.isEmpty)
    try store.writer.detach()
    #expect(try store.texts("SELECT conname FROM pg_constraint WHERE contype = 'f'").isEmpty)
  }
}
