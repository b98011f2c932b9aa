import CascadeModel
import CascadePostgres
import CascadeSystem
import PostgresSupport
import Testing

/// `cascaded-postgres --check-config`: models, and whether they fit their databases.
@Worker
@Suite("Checking models on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct PostgresCheckTests {
  private static let schema = """
    CREATE TABLE artist(id int PRIMARY KEY);
    CREATE TABLE album(id int PRIMARY KEY, artist_id int, tags text);
    INSERT INTO artist VALUES(1); INSERT INTO album VALUES(1, 1), (2, 99), (3, 98);
    """

  private static let model = """
    { collections: {
        artists: { table: "artist", key: "id" }, albums: { table: "album", key: "id" },
        notes: {} },
      relationships: [
        { name: "artist", from: "albums", to: "artists", column: "artist_id", optional: false },
        { name: "about", from: "notes", to: "albums", property: "about", toMany: true },
        { name: "tags", from: "albums", to: "artists", property: "tags", toMany: true },
        { name: "likes", from: "albums", to: "albums", toMany: true }] }
    """

  private func store(_ model: String = model) throws -> PostgresDaemon {
    try PostgresDaemon(model: model, on: Database(schema: Self.schema))
  }

  private func judge(_ store: PostgresDaemon) throws -> Outcome {
    try PostgresDaemon.run(["--check-config", "--model", store.modelFile])
  }

  private static let findings = [
    #"missingIndex: no index begins with public.album(artist_id)"#,
    #"dangling: albums/2 refers by "artist" to artists/99"#,
    #"dangling: albums/3 refers by "artist" to artists/98"#,
  ]

  @Test("What the daemon would meet is told, attached or not, and the database stays as it is")
  func meets() throws {
    let store = try store()
    let before = try judge(store)
    #expect(before.status == 0, "\(before)")
    for text in Self.findings { #expect(before.output.contains(text), "\(before)") }
    #expect(try store.texts("SELECT nspname FROM pg_namespace WHERE nspname = 'cascade'").isEmpty)
    try store.start()
    let after = try judge(store)
    #expect(after.status == 0, "\(after)")
    for text in Self.findings { #expect(after.output.contains(text), "\(after)") }
    #expect(try PostgresDaemon.run(["--check-config", store.modelFile]).output == after.output)
  }

  @Test("What does not fit is told with its place in the model, and makes it bad")
  func unfit() throws {
    let model = Self.model.replacing("\"album\", key", with: "\"albun\", key")
      .replacing("\"artist\", key: \"id\"", with: "\"artist\", key: \"number\"")
    let store = try store(model)
    for arguments in [[store.modelFile], ["--model", store.modelFile]] {
      let outcome = try PostgresDaemon.run(["--check-config"] + arguments)
      #expect(outcome.status == 78, "\(outcome)")
      for text in [
        #"collections.albums: there is no table "albun""#,
        #"collections.artists: public.artist has no column "number""#,
      ] {
        #expect(outcome.error.contains("\(store.modelFile): \(text)"), "\(outcome)")
      }
    }
  }

  @Test("The rights that the role lacks are told as they are to be typed")
  func rights() throws {
    let store = try store()
    try store.database.session(as: "postgres").execute("REVOKE DELETE ON album FROM cascaded")
    let outcome = try judge(store)
    #expect(outcome.status == 0)
    #expect(outcome.output.contains("GRANT DELETE ON public.album TO cascaded;"), "\(outcome)")
  }

  @Test("A database that cannot be reached is told, and an error where it was asked for")
  func away() throws {
    let scratch = try Scratch()
    let file = scratch.path("model.json")
    try scratch.write(
      "model.json", "{ store: 'postgresql:///x?host=/nowhere', spool: '\(scratch.path("s"))' }")
    let text = try PostgresDaemon.run(["--check-config", file])
    #expect(text.status == 0 && text.output + text.error == "", "\(text)")
    let command = "\(Programs.cascaded)-postgres --check-config \(file)"
    let told = try run(["/usr/bin/script", "-qec", command, "/dev/null"]).output
    #expect(told.contains("not held against its database"), "\(told)")
    #expect(try PostgresDaemon.run(["--check-config", "--model", file]).status == 75)
  }
}
