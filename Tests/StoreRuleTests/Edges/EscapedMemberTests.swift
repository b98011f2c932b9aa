import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import Testing
import SQLiteSweeps

/// A program may write the name of a member with escapes: `"\u0070"` is `"p"`.
@Suite("Members with escapes in their names")
struct EscapedMemberTests {
  private func store() throws -> TestStore {
    try TestStore(
      model: StoreModel(
        """
        { collections: { posts: { table: 'post', key: 'id' }, photos: { table: 'photo', key: 'id' } },
          relationships: [
            { name: 'photos', from: 'posts', to: 'photos', property: 'body.photos', toMany: true,
              rules: ['deleteDestinationIfAllSourcesDeleted'] },
            { name: 'cover', from: 'posts', to: 'photos', property: 'body.meta.cover',
              rules: ['nullifySourceIfDestinationDeleted'] } ] }
        """),
      schema: #"""
        CREATE TABLE post(id INTEGER PRIMARY KEY, body TEXT);
        CREATE TABLE photo(id TEXT PRIMARY KEY);
        INSERT INTO photo VALUES('p'), ('q'), ('r'), ('s');
        INSERT INTO post VALUES(1, '{"\u0070hotos": ["p", "\u0071"], "m\u0065ta": {"c\u006fver": "r"}}'),
          (2, '{"text": "\n", "photos": ["q"], "meta": {"x": "\\", "cover": "r"}}'), (3, '\u'),
          (4, '{"text": "\u0070", "photos": {"p": 1}}');
        """#)
  }

  private func body(_ store: TestStore, _ id: Int64) throws -> String? {
    try Connection(path: store.path, access: .readOnly).first(
      "SELECT body FROM post WHERE id = ?", .integer(id)
    ) { $0.text(0) }
  }

  @Test("They are references like others")
  func edges() throws {
    #expect(
      try store().reader.lines().sorted() == [
        "cover posts/1>photos/r", "cover posts/2>photos/r", "photos posts/1>photos/p",
        "photos posts/1>photos/q", "photos posts/2>photos/q",
      ])
  }

  @Test("The journal sees them go", arguments: [true, false])
  func swept(isDeleted: Bool) throws {
    let store = try store()
    try store.bySQL(
      isDeleted ? "DELETE FROM post WHERE id = 1" : "UPDATE post SET body = '{}' WHERE id = 1")
    let result = try store.writer.sweep([.cascade, .refcount], at: 1)
    #expect(result.deleted == [Node("photos", .text("p"))])
  }

  @Test("They are set to null where they are")
  func nullified() throws {
    let store = try store()
    let before = try store.dump()
    let receipt = try store.apply([.delete(Node("photos", .text("r")))])
    #expect(
      try body(store, 1) == #"{"\u0070hotos":["p","\u0071"],"m\u0065ta":{"c\u006fver":null}}"#)
    #expect(
      try body(store, 2)
        == #"{"text":"\n","photos":["q"],"meta":{"x":"\\","cover":null}}"#)
    #expect(try store.undo(receipt).leftCount == 0)
    #expect(try store.dump() == before)
  }
}
