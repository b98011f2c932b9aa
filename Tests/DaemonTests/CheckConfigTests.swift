import CascadeModel
import CascadeSQLite
import CascadeSystem
import Testing

/// `cascaded --check-config`: models, and whether they fit a database.
@Suite struct CheckConfigTests {
  private func check(_ arguments: String...) throws -> Outcome {
    try run([Programs.cascaded, "--check-config"] + arguments)
  }

  private func judge(_ model: String, for store: TestStore) throws -> Outcome {
    try store.write(model: model)
    return try check("--model", "\(store.spool)/model.json", store.path)
  }

  @Worker @Test func saysGoodOnATerminal() throws {
    let store = try Library.store(starts: false)
    let model = "\(store.spool)/model.json"
    #expect(try check(model).output == "")
    for (arguments, said) in [
      (model, "\(model): good"), (store.path, "\(store.path): good"),
      ("--model \(model) \(store.path)", "\(model) for \(store.path): good"),
    ] {
      let command = "\(Programs.cascaded) --check-config \(arguments)"
      let outcome = try run(["/usr/bin/script", "-qec", command, "/dev/null"])
      #expect(outcome.status == 0 && outcome.output.contains(said), "\(outcome.output)")
    }
  }

  @Worker @Test func aDatabaseWithoutAModelIsNoSuccess() throws {
    let store = try TestStore(schema: Library.schema, starts: false)
    let outcome = try check(store.path)
    #expect(outcome.status == 78)
    #expect(outcome.error.hasPrefix("\(store.path): there is no model beside it"))
    #expect(outcome.error.contains("`cascadectl suggest \(store.path)`"))
  }

  // MARK: - A model for a database

  /// The database was never attached, and stays as it is.
  @Worker @Test(arguments: ["WAL", "DELETE"])
  func leavesNoTrace(journal: String) throws {
    let store = try Library.store(starts: false)
    try store.sql("PRAGMA journal_mode = \(journal)")
    let more = #"{ name: "about", from: "notes", to: "songs", property: "song" }"#
    let model = Library.model().replacing("relationships: [", with: "relationships: [ \(more),")
    try store.write(model: model)
    let before = try (store.scratch.directory.names(), FileStatus.of(store.path))
    let outcome = try judge(model, for: store)
    #expect(outcome.status == 0 && outcome.output + outcome.error == "", "\(outcome)")
    #expect(try store.scratch.directory.names() == before.0)
    #expect(try FileStatus.of(store.path) == before.1)
  }

  @Worker @Test func saysWhatDoesNotFit() throws {
    let store = try Library.store(starts: false)
    let model = Library.model().replacing("\"song\", key", with: "\"sing\", key")
      .replacing("\"artist_id\",\n      rules: [\"deny", with: "\"singer\",\n      rules: [\"deny")
    let outcome = try judge(model, for: store)
    #expect(outcome.status == 78)
    let lines = outcome.error.split(separator: "\n")
    for place in ["collections.songs", "relationships[2]"] {
      #expect(
        lines.contains { $0.hasPrefix("\(store.spool)/model.json: \(place)") }, "\(outcome.error)")
    }
    #expect(outcome.error.contains("sing") && outcome.error.contains("singer"))
  }

  @Worker @Test func saysWhatItWouldMeet() throws {
    let store = try Library.store(Library.rows + Library.dangling, starts: false)
    try store.sql(
      """
      DROP INDEX song_album;
      CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT, sorted TEXT AS (upper(title)));
      CREATE TABLE page(id INTEGER PRIMARY KEY, title TEXT CHECK (upper(title) <> ''));
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = replace(sql, 'upper', 'title_sort') WHERE name IN ('book', 'page');
      """)
    let model = Library.model().replacing(
      "notes: {},",
      with: #"books: { table: "book", key: "id" }, pages: { table: "page", key: "id" },"#)
    let outcome = try judge(model, for: store)
    #expect(outcome.status == 0 && outcome.error == "", "\(outcome.error)")
    let lines = outcome.output.split(separator: "\n")
    let expected = [
      "missingIndex: no index on \"song\"", "cannotUndo: rows of \"book\" stay unless",
      "undoneWithout: undo brings rows of \"page\" back without its CHECK",
      "dangling: \"album\" of songs/90 refers to albums/9", "dangling: \"album\" of songs/91",
    ]
    for text in expected { #expect(lines.contains { $0.hasPrefix(text) }, "\(outcome.output)") }
    #expect(lines.count == expected.count, "\(outcome.output)")
  }

  @Worker @Test func worksBesideTheDaemon() throws {
    let store = try Library.store()
    try store.apply(#"{"changes": [{"put": ["notes", "1"]}]}"#)
    let outcome = try judge(Library.model(), for: store)
    #expect(outcome.status == 0 && outcome.output + outcome.error == "", "\(outcome)")
  }

  @Worker @Test func acceptsWhatIsSuggested() throws {
    let store = try TestStore(
      schema: Library.schema + Library.rows + Library.dangling, starts: false)
    let model = try run([Programs.cascadectl, "suggest", store.path]).output
    #expect(model.contains("// exclusive: true,"))
    #expect(try judge(model, for: store).status == 0)
  }

  @Worker @Test func saysByItsStatusWhyItCannotJudge() throws {
    let store = try Library.store(starts: false)
    let model = "\(store.spool)/model.json"
    let none = try check("--model", model, store.scratch.path("none.db"))
    #expect(none.status == 69 && none.error.contains("none.db"))
    try store.scratch.write("text.db", String(repeating: "no database ", count: 1_000))
    #expect(try check("--model", model, store.scratch.path("text.db")).status == 65)
    let other = try Connection(path: store.path, access: .readWrite)
    try other.execute("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE")
    let locked = try check("--model", model, store.path)
    #expect(locked.status == 75 && locked.error.contains("is locked by another program"))
  }
}
