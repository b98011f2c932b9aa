import CascadeInspect
import CascadeModel
import CascadeSQLite
import Testing

/// A suggested model says what the schema says, and deletes nothing else.
@Suite struct SuggestionTests {
  private static func model(_ database: TestDatabase) throws -> StoreModel {
    let text = try SuggestedModel(database.inspect()).text
    return try StoreModel(json5: Array(text.utf8))
  }

  @Test func makesRulesOfDeclaredActions() throws {
    let database = try TestDatabase(
      """
      CREATE TABLE a(id INTEGER PRIMARY KEY);
      CREATE TABLE b(id INTEGER PRIMARY KEY,
        one INTEGER REFERENCES a ON DELETE CASCADE, two INTEGER REFERENCES a ON DELETE SET NULL,
        three INTEGER REFERENCES a ON DELETE RESTRICT, four INTEGER REFERENCES a,
        five INTEGER NOT NULL REFERENCES a ON DELETE SET NULL,
        six INTEGER REFERENCES a ON DELETE SET DEFAULT);
      CREATE TABLE c(id INTEGER PRIMARY KEY, seven INTEGER REFERENCES a ON DELETE NO ACTION);
      """)
    let rules = try SuggestionTests.model(database).relationships.map { ($0.name, $0.rules) }
    let expected: [(String, Rules)] = [
      ("one", .deleteSourceIfDestinationDeleted), ("two", .nullifySourceIfDestinationDeleted),
      ("three", .denyDestinationDeletion), ("four", []), ("five", []), ("six", []),
      ("seven", .denyDestinationDeletion),
    ]
    #expect(
      Dictionary(uniqueKeysWithValues: rules) == Dictionary(uniqueKeysWithValues: expected))
  }

  @Test func saysWhichValuesMeanNone() throws {
    let database = try TestDatabase(
      """
      CREATE TABLE artist(id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE album(id INTEGER PRIMARY KEY, artist_id INTEGER, parent_id INTEGER,
        owner_id INTEGER REFERENCES artist ON DELETE CASCADE);
      \(rows(10, into: "artist", "i, 'x'"))
      \(rows(30, into: "album", "i, i % 11, iif(i = 1, -1, 1), iif(i % 2, 999, i % 3)"))
      """)
    let model = try SuggestionTests.model(database)
    let none = model.relationships.map { ($0.name, $0.none) }
    #expect(
      Dictionary(uniqueKeysWithValues: none)
        == ["artist": [.integer(0)], "parent": [.integer(-1)], "owner": [.integer(0)]])
  }

  @Test func writesOneRelationshipToSeveralTables() throws {
    let database = try TestDatabase(slots)
    #expect(try SuggestedModel(database.inspect()).text.mentions("Add the other tables"))
    let model = try SuggestionTests.model(database)
    let found = try #require(model.relationships.first)
    #expect(model.relationships.count == 1 && found.name == "obj" && found.rules == [])
    #expect(found.to == .either(["payment", "account"]) && found.none == [.text("")])
  }

  @Test func namesColumnsThatLookLikeTimesOfExpiry() throws {
    let database = try TestDatabase(
      """
      CREATE TABLE person(id INTEGER PRIMARY KEY);
      CREATE TABLE session(id INTEGER PRIMARY KEY, person INTEGER REFERENCES person, expires_at INTEGER);
      CREATE TABLE flag(id INTEGER PRIMARY KEY, person INTEGER REFERENCES person, expired INTEGER);
      """)
    let text = try SuggestedModel(database.inspect()).text
    #expect(text.mentions(#"expires: { column: "expires_at", after: "0s" }"#))
    #expect(!text.mentions(#"column: "expired""#))
    #expect(try SuggestionTests.model(database).expiries.isEmpty)
  }

  @Test func onlyNotesWhatIsImplied() throws {
    let database = try TestDatabase(
      """
      CREATE TABLE song(id INTEGER PRIMARY KEY, title TEXT);
      CREATE TABLE tag(id INTEGER PRIMARY KEY, label TEXT);
      CREATE TABLE song_tag(song_id INTEGER, tag_id INTEGER, PRIMARY KEY(song_id, tag_id));
      CREATE TABLE entry(feed TEXT, id TEXT, PRIMARY KEY(feed, id));
      CREATE TABLE entry_tag(feed TEXT, id TEXT, rank INTEGER, PRIMARY KEY(feed, id, rank));
      CREATE TABLE "odd ""name"(x, song_id INTEGER);
      \(rows(9, into: "song", "i, 'x'"))
      \(rows(9, into: "tag", "i, 'x'"))
      \(rows(9, into: "song_tag", "i, 5 + i"))
      """)
    let model = try SuggestionTests.model(database)
    #expect(model.relationships.allSatisfy { $0.rules == [] })
    #expect(model.relationships.map(\.name) == ["entry", "song", "tag"])
    let text = try SuggestedModel(database.inspect()).text
    #expect(text.mentions(#"column: ["feed", "id"]"#) && text.mentions("join: {"))
    #expect(text.mentions("5 of them refer to nothing"))
  }

  @Test(arguments: Application.allCases) func isAModel(_ application: Application) throws {
    let declared = try TestDatabase(application.sql)
    #expect(try !SuggestionTests.model(declared).relationships.isEmpty)
    let implied = try SuggestionTests.model(TestDatabase(application.sqlWithoutKeys))
    #expect(implied.relationships.allSatisfy { $0.rules == [] })
  }
}
