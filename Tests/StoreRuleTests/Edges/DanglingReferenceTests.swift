import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteSweeps

/// An object may name what is not there: the reference dangles, and holds what it names as soon as
/// that is there.
@Suite("References to what comes later")
struct DanglingReferenceTests {
  private static let model = """
    { collections: { rows: { table: 'r', key: 'id' }, notes: {}, images: {} },
      relationships: [
        { name: 'images', from: 'notes', to: 'images', property: 'images', toMany: true,
          rules: ['deleteDestinationIfAllSourcesDeleted'] },
        { name: 'row', from: 'notes', to: 'rows', property: 'row',
          rules: ['deleteDestinationIfAllSourcesDeleted'] },
        { name: 'kept', from: 'notes', to: 'rows', property: 'kept',
          rules: ['denyDestinationDeletion'] },
        { name: 'lost', from: 'notes', to: 'images', property: 'lost', toMany: true,
          rules: ['nullifySourceIfDestinationDeleted', 'deleteDestinationIfAllSourcesDeleted'] },
      ] }
    """

  private let store: TestStore

  init() throws {
    store = try TestStore(
      model: StoreModel(DanglingReferenceTests.model), schema: "CREATE TABLE r(id TEXT PRIMARY KEY)"
    )
    _ = try store.writer.sweep([.all], at: 0)
  }

  private func note(_ key: String, _ value: String) -> Change {
    .put(Node("notes", .text(key)), type: nil, value: JSONText(valid: value), edges: nil)
  }

  private func image(_ key: String) -> Change {
    .put(Node("images", .text(key)), type: nil, value: nil, edges: nil)
  }

  @Test("A patch beside a reference that is about to be nulled keeps nothing of it")
  func patchedBesideNulled() throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { relationships: [
            { name: 'see', from: 'c', to: 'a', property: 'see', toMany: true },
            { name: 'photo', from: 'c', to: 'b', property: 'photo',
              rules: ['nullifySourceIfDestinationDeleted',
                'deleteDestinationIfSourceDeleted'] } ] }
        """))
    let patch = Change.patch(
      node("c/1"), set: [Member(name: "see", value: JSONText(valid: #"["1","3"]"#))], unset: [])
    for goes in [[delete("b", "2"), patch], [patch, delete("b", "2")]] {
      try store.apply([
        .put(node("b/2"), type: nil, value: nil, edges: nil),
        .put(
          node("c/1"), type: nil, value: JSONText(valid: #"{"see":["1"],"photo":"2"}"#),
          edges: nil),
      ])
      try store.apply(goes)
      #expect(try store.texts("SELECT count(*) FROM cascade_dangling_reference") == ["2"])
      let again = try store.apply([.put(node("b/2"), type: nil, value: nil, edges: nil)])
      #expect(again.edgesAdded == 0)
      #expect(try store.apply([delete("c", "1")]).deleted.letters == "c/1")
    }
  }

  private func delete(_ collection: String, _ key: String) -> Change {
    .delete(Node(collection, .text(key)))
  }

  private func dangling() throws -> [String] {
    try store.reader.checkReferences().list.filter { $0.kind == "dangling" }.map(\.message)
  }

  @Test("A row that comes is held though the same file says something else of the object")
  func patched() throws {
    try store.apply([note("a", #"{"kept": "r"}"#)])
    let row = Node("rows", .text("r"))
    let set = try #require(JSONText(valid: #"{"images": ["i"]}"#).members())
    try store.apply([
      .put(row, type: nil, value: nil, edges: nil),
      .patch(Node("notes", .text("a")), set: set, unset: []),
    ])
    #expect(try store.reasons([.delete(row)]).map(\.code) == [.denied])
  }

  @Test("A row that comes by SQL is held though the file that saw it first was rejected")
  func rejected() throws {
    try store.apply([note("a", #"{"kept": "r"}"#)])
    try store.bySQL("INSERT INTO r VALUES('r')")
    let absent = Change.patch(Node("notes", .text("none")), set: [], unset: [])
    #expect(try store.reasons([note("b", "{}"), absent]).map(\.code) == [.invalid])
    #expect(try store.reasons([delete("rows", "r")]).map(\.code) == [.denied])
  }

  @Test("A row that goes and comes back in one file is held by a value that was written between")
  func goneBetween() throws {
    let row = Change.put(Node("rows", .text("r")), type: nil, value: nil, edges: nil)
    try store.apply([row, note("a", #"{"kept": "r", "row": "s"}"#)])
    let set = try #require(JSONText(valid: #"{"images": ["i"]}"#).members())
    let patch = Change.patch(Node("notes", .text("a")), set: set, unset: [])
    try store.apply([delete("rows", "r"), patch, row])
    #expect(try dangling().count == 2)
    #expect(try store.reasons([delete("rows", "r")]).map(\.code) == [.denied])
  }

  @Test("What is taken out of a value is no reference any more")
  func takenOut() throws {
    try store.apply([image("c"), note("a", #"{"lost": ["b", "c"]}"#)])
    try store.apply([delete("images", "c")])
    try store.apply([image("b")])
    #expect(try store.edges().isEmpty)
    try store.apply([delete("notes", "a")])
    #expect(try store.exists(Node("images", .text("b"))))
  }

  @Test("An object that comes later is held, and told of until then")
  func object() throws {
    try store.apply([note("a", #"{"images": ["i"]}"#)])
    #expect(
      try dangling() == [#""images" of notes/a refers to images/i, which does not exist"#])
    #expect(try store.apply([image("i"), note("b", #"{"images": ["i"]}"#)]).edgesAdded == 2)
    #expect(try dangling().isEmpty)
    try store.apply([delete("notes", "b")])
    #expect(try store.exists(Node("images", .text("i"))))
    try store.apply([delete("notes", "a")])
    #expect(try !store.exists(Node("images", .text("i"))))
    #expect(try store.texts("SELECT count(*) FROM cascade_dangling_reference") == ["0"])
  }

  @Test("What a reference is no more, it does not become")
  func rewritten() throws {
    try store.apply([note("a", #"{"images": ["i", "j"], "row": "r"}"#)])
    try store.apply([
      .patch(
        Node("notes", .text("a")), set: [Member(name: "images", value: JSONText(valid: #"["j"]"#))],
        unset: [])
    ])
    #expect(try dangling().count == 2)
    try store.apply([image("i"), image("j")])
    #expect(try store.edges().count == 1)
    try store.apply([delete("images", "j")])
    try store.apply([note("a", "{}"), image("j")])
    #expect(try store.edges().isEmpty)
    #expect(try dangling().isEmpty)
  }

  @Test("A row that comes by SQL, or comes back, is held", arguments: [false, true])
  func row(wasThere: Bool) throws {
    if wasThere { try store.bySQL("INSERT INTO r VALUES('x'), ('y')") }
    try store.apply([note("a", #"{"row": "x", "kept": "y"}"#), note("b", #"{"row": "x"}"#)])
    if wasThere {
      try store.apply([delete("notes", "b"), note("a", #"{"row": "x"}"#)])
      try store.bySQL("DELETE FROM r")
      _ = try store.writer.sweep([.all], at: 1)
      #expect(try dangling().count == 1)
      try store.apply([note("b", #"{"row": "x"}"#), note("a", #"{"row": "x", "kept": "y"}"#)])
    }
    try store.bySQL("INSERT INTO r VALUES('x'), ('y')")
    #expect(try dangling().isEmpty)
    try store.apply([delete("notes", "b")])
    _ = try store.writer.sweep([.all], at: 2)
    #expect(try store.texts("SELECT id FROM r ORDER BY id") == ["x", "y"])
    #expect(try store.reasons([delete("rows", "y")]).count == 1)
    try store.apply([delete("notes", "a")])
    _ = try store.writer.sweep([.all], at: 3)
    #expect(try store.texts("SELECT id FROM r") == ["y"])
  }

  @Test("Undone in the order in which they went, objects hold what they name")
  func undone() throws {
    try store.apply([
      image("i"), note("a", #"{"images": ["i"]}"#), note("b", #"{"images": ["i"]}"#),
    ])
    let first = try store.apply([delete("notes", "a")])
    let second = try store.apply([delete("notes", "b")])
    #expect(second.deletedCount == 2)
    _ = try store.undo(first)
    #expect(try dangling().count == 1)
    _ = try store.undo(second)
    #expect(try store.edges().count == 2)
    try store.apply([delete("notes", "b")])
    #expect(try store.exists(Node("images", .text("i"))))
  }

  @Test("A reference that an undo brought back holds, whichever came first")
  func restored() throws {
    try store.apply([
      image("i"), image("j"), note("a", #"{"lost": ["i", "j"]}"#), note("b", #"{"lost": ["i"]}"#),
    ])
    let first = try store.apply([delete("images", "i")])
    let second = try store.apply([delete("images", "j")])
    for batch in [first, second] { _ = try store.undo(batch) }
    try store.apply([note("b", #"{"lost": []}"#)])
    #expect(try store.exists(Node("images", .text("i"))))
    #expect(try store.edges().count == 2)
  }

  @Test("An undo that leaves what was put anew has it held")
  func taken() throws {
    try store.apply([image("i"), note("a", #"{"lost": ["i"]}"#)])
    let deleted = try store.apply([delete("images", "i")])
    try store.apply([image("i"), note("b", #"{"lost": ["i"]}"#)])
    _ = try store.undo(deleted)
    try store.apply([delete("notes", "b")])
    #expect(try store.exists(Node("images", .text("i"))))
  }

  @Test("Who puts something else answers for nobody's row")
  func others() throws {
    let model = try StoreModel(
      """
      { collections: { rows: { table: 'r', key: 'id' }, notes: {} },
        relationships: [ { name: 'row', from: 'notes', to: 'rows', property: 'row', unique: true } ] }
      """)
    let store = try TestStore(model: model, schema: "CREATE TABLE r(id TEXT PRIMARY KEY)")
    try store.apply([note("a", #"{"row": "x"}"#), note("b", #"{"row": "x"}"#)])
    try store.bySQL("INSERT INTO r VALUES('x')")
    #expect(try store.apply([note("c", "{}")]).edgesAdded == 0)
    #expect(try store.edges().count == 2)
    #expect(try store.reader.checkReferences().list.map(\.kind).contains("notUnique"))
  }
}
