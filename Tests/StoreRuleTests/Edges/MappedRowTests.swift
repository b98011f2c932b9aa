import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore
import Testing

@Suite("Rows of the application")
struct MappedRowTests {
  let store: TestStore

  init() throws { store = try Music.store() }

  // MARK: - Values

  @Test("What a put writes is read back, all columns in the table's order")
  func roundTrip() throws {
    try store.apply([
      put("artists/joni"), put("albums/1", #"{"title": "Blue", "artist_id": "joni"}"#),
      put("songs/7", #"{"title": "Carey", "album_id": 1, "stars": 4.5, "likes": ["a", 1]}"#),
    ])
    #expect(
      try store.value("albums/1")
        == #"{"id":1,"title":"Blue","artist_id":"joni","cover_path":null,"length":4}"#)
    #expect(
      try store.value("songs/7")
        == #"{"id":7,"title":"Carey","album_id":1,"about":null,"about_type":null,"#
        + #""likes":"[\"a\", 1]","stars":4.5}"#)
  }

  @Test("Another put replaces the whole row: what it leaves out gets its default")
  func replaced() throws {
    try store.apply([put("artists/a", #"{"name": "Ann"}"#), put("albums/1", #"{"title": "x"}"#)])
    try store.apply([put("artists/a"), put("albums/1", #"{"artist_id": "a"}"#)])
    #expect(try store.value("artists/a") == #"{"id":"a","name":"nobody"}"#)
    #expect(
      try store.value("albums/1")
        == #"{"id":1,"title":null,"artist_id":"a","cover_path":null,"length":null}"#)
  }

  @Test("A patch changes its columns alone, and unset ones become null")
  func patched() throws {
    try store.apply([put("songs/1", #"{"title": "x", "stars": 3, "album_id": 4}"#)])
    try store.apply([patch("songs/1", #"{"TITLE": "y", "likes": true}"#, unset: ["album_id"])])
    #expect(
      try store.value("songs/1")
        == #"{"id":1,"title":"y","album_id":null,"about":null,"about_type":null,"likes":"1","#
        + #""stars":3.0}"#)
  }

  @Test("Defaults are what the table says: constants, expressions, words")
  func defaults() throws {
    let store = try TestStore(
      model: StoreModel(#"{ collections: { t: { table: "t", key: "k" } } }"#),
      schema: """
        CREATE TABLE t(k TEXT PRIMARY KEY, a DEFAULT -5, b TEXT DEFAULT 'it''s', c DEFAULT word,
          d DEFAULT (1 + 1 -- two
          ), e BLOB DEFAULT x'0A', f DEFAULT NULL, g DEFAULT "quoted", h DEFAULT TRUE)
        """)
    let expected =
      #"{"k":"x","a":-5,"b":"it's","c":"word","d":2,"e":"x'0A'","f":null,"g":"quoted","h":1}"#
    try store.apply([put("t/x")])
    #expect(try store.value("t/x") == expected)
    try store.apply([put("t/x", #"{"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "g": 1, "h": 1}"#)])
    try store.apply([put("t/x")])
    #expect(try store.value("t/x") == expected)
  }

  @Test("Each JSON value becomes the column's value of the same meaning")
  func conversions() throws {
    let store = try TestStore(
      model: StoreModel(#"{ collections: { t: { table: "t", key: "k" } } }"#),
      schema: "CREATE TABLE t(k PRIMARY KEY, b BLOB, n NUMERIC, t TEXT, x)")
    try store.apply([
      put("t/x", #"{"b": "x'00fF'", "n": 1.5, "t": "x'00fF'", "x": {"a": [1, "\u00e9"]}}"#),
      put("t/y", #"{"b": false, "n": "12", "t": 12, "x": -9007199254740993}"#),
    ])
    #expect(
      try store.value("t/x")
        == #"{"k":"x","b":"x'00FF'","n":1.5,"t":"x'00fF'","x":"{\"a\": [1, \"\\u00e9\"]}"}"#)
    #expect(
      try store.value("t/y") == #"{"k":"y","b":0,"n":12,"t":"12","x":-9007199254740993}"#)
  }

  @Test("Names that need quoting are quoted")
  func strangeNames() throws {
    let store = try TestStore(
      model: StoreModel(
        #"{ collections: { odd: { table: "a \"b\"", key: "group by" } } }"#),
      schema: #"CREATE TABLE "a ""b"""("group by" TEXT PRIMARY KEY, "select" DEFAULT 3, "é'" INT)"#)
    try store.apply([put("odd/1", #"{"é'": 5}"#)])
    try store.apply([patch("odd/1", #"{"select": 4}"#)])
    #expect(try store.value("odd/1") == #"{"group by":"1","select":4,"é'":5}"#)
  }

  // MARK: - Keys

  struct KeyKind: Sendable, CustomTestStringConvertible {
    let column: String
    /// As changes write it, and as it is read.
    let given: [Key]
    let read: Key
    var testDescription: String { column }
  }

  static let kinds = [
    KeyKind(column: "k TEXT PRIMARY KEY", given: [.text("5"), .integer(5)], read: .text("5")),
    KeyKind(
      column: "k INTEGER PRIMARY KEY", given: [.integer(5), .text("5")], read: .integer(5)),
    KeyKind(column: "k INT PRIMARY KEY", given: [.text("5"), .integer(5)], read: .integer(5)),
    KeyKind(column: "k INT UNIQUE", given: [.text("five")], read: .text("five")),
    KeyKind(
      column: "k REAL PRIMARY KEY", given: [.text("1.5"), .text("1.50")], read: .text("1.5")),
    KeyKind(
      column: "k BLOB PRIMARY KEY", given: [.text("x'0a'"), .text("X'0A'")], read: .text("x'0A'")),
    KeyKind(
      column: "k TEXT COLLATE NOCASE PRIMARY KEY", given: [.text("Ab"), .text("aB")],
      read: .text("Ab")),
    KeyKind(column: "k TEXT PRIMARY KEY NOT NULL", given: [.text("é/[1]'")], read: .text("é/[1]'")),
  ]

  @Test("A key means what its column means by it", arguments: kinds, ["", "WITHOUT ROWID"])
  func keys(_ kind: KeyKind, _ form: String) throws {
    if kind.column.contains("UNIQUE") && !form.isEmpty { return }
    let store = try TestStore(
      model: StoreModel(#"{ collections: { t: { table: "t", key: "k" } } }"#),
      schema: "CREATE TABLE t(\(kind.column), v) \(form)")
    for (count, key) in kind.given.enumerated() {
      try store.apply([
        .put(Node("t", key), type: nil, value: JSONText(valid: "{\"v\":\(count)}"), edges: nil)
      ])
      try store.apply([.patch(Node("t", key), set: [], unset: [])])
    }
    let all = try store.reader.nodes(in: "t", after: nil, limit: 10)
    #expect(all.map(\.node) == [Node("t", kind.read)])
    for key in kind.given { #expect(try store.exists(Node("t", key))) }
  }

  @Test("A key of several columns is a list", arguments: ["", "WITHOUT ROWID"])
  func composite(_ form: String) throws {
    let store = try TestStore(
      model: StoreModel(#"{ collections: { tags: { table: "tag", key: ["tag", "song"] } } }"#),
      schema:
        "CREATE TABLE tag(song INT, tag TEXT COLLATE NOCASE, n, PRIMARY KEY(song, tag)) \(form)"
    )
    let tag = Node("tags", .composite([.text("Pop"), .integer(3)]))
    let same = Node("tags", .composite([.text("pop"), .text("3")]))
    try store.apply([.put(tag, type: nil, value: JSONText(valid: #"{"n": 1}"#), edges: nil)])
    try store.apply([.put(same, type: nil, value: JSONText(valid: #"{"n": 2}"#), edges: nil)])
    let all = try store.reader.nodes(in: "tags", after: nil, limit: 10)
    #expect(all.map(\.node) == [tag])
    #expect(all[0].value?.text == #"{"song":3,"tag":"Pop","n":2}"#)
    let short = Change.put(Node("tags", .text("Pop")), type: nil, value: nil, edges: nil)
    #expect(
      try store.refusal(short)
        == #"the key of "tags" is (tag, song), which tags/Pop does not fit"#)
  }

  @Test("A list is no key of one column")
  func listForOneColumn() throws {
    let list = Node("songs", .composite([.integer(1)]))
    #expect(
      try store.refusal(.put(list, type: nil, value: nil, edges: nil))
        == #"the key of "songs" is (id), which ["songs",[1]] does not fit"#)
    #expect(try !store.exists(list))
  }

  @Test("Rows come in pages, in the order of their keys")
  func pages() throws {
    try store.apply((1...11).map { put("songs/\($0)") })
    var pages: [[Key]] = []
    var last: Key?
    while case let page = try store.reader.nodes(in: "songs", after: last, limit: 4), !page.isEmpty
    {
      pages.append(page.map(\.node.key))
      last = page.last?.node.key
    }
    #expect(pages == [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11]].map { $0.map { .integer($0) } })
  }

  @Test("Pages go on behind keys of several columns, of blobs, and behind spellings")
  func pagesOfAllKinds() throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { b: { table: "b", key: "k" }, c: { table: "c", key: ["x", "y"] },
          n: { table: "n", key: "k" } } }
        """),
      schema: """
        CREATE TABLE b(k BLOB PRIMARY KEY); INSERT INTO b VALUES(x'00'), (x'0A'), (x'0A00'), (NULL);
        CREATE TABLE c(x INT, y TEXT, PRIMARY KEY(x, y));
        INSERT INTO c VALUES(2, 'a'), (10, 'b'), (2, 'B'), (NULL, 'x');
        CREATE TABLE n(k TEXT PRIMARY KEY COLLATE NOCASE); INSERT INTO n VALUES('B'), ('a'), ('C')
        """)
    #expect(try store.paged("b") == ["b/x'00'", "b/x'0A'", "b/x'0A00'"])
    #expect(try store.paged("c") == [#"["c",[2,"B"]]"#, #"["c",[2,"a"]]"#, #"["c",[10,"b"]]"#])
    #expect(try store.paged("n") == ["n/a", "n/B", "n/C"])
  }

  @Test("A table that is not there has no nodes")
  func noTable() throws {
    let store = try TestStore(
      model: StoreModel(#"{ collections: { t: { table: "t", key: "k" } } }"#))
    #expect(try !store.exists(node("t/x")))
    #expect(try store.reader.nodes(in: "t", after: nil, limit: 1).isEmpty)
    #expect(
      try store.refusal(put("t/x"))
        == #""t" cannot be written: there is no table "t" in the store"#)
  }
}

extension TestStore {
  /// One at a time.
  fileprivate func paged(_ collection: String) throws -> [String] {
    var names: [String] = []
    var last: Key?
    while let next = try reader.nodes(in: collection, after: last, limit: 1).first {
      names.append(next.node.description)
      last = next.node.key
      if names.count > 10 { break }
    }
    return names
  }
}
