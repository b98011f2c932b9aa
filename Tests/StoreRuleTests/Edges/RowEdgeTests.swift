import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing

@Suite("Edges of rows that change")
struct RowEdgeTests {
  let store: TestStore

  init() throws {
    store = try Music.store()
    try store.apply([
      put("artists/a"), put("artists/b"), put("albums/1", #"{"artist_id": "a"}"#), put("albums/2"),
      put("songs/1", #"{"album_id": 1, "title": "one"}"#), put("notes/n"), put("notes/m"),
    ])
  }

  // MARK: - In columns

  @Test("A new reference counts as an edge that was added, a changed one as both")
  func counts() throws {
    let moved = try store.apply([patch("songs/1", #"{"album_id": 2}"#), put("albums/1")])
    #expect(moved.edgesAdded == 1)
    // The song's and the album's.
    #expect(moved.edgesRemoved == 2)
    let same = try store.apply([patch("songs/1", #"{"album_id": 2, "title": "x"}"#)])
    #expect(same.edgesAdded == 0 && same.edgesRemoved == 0)
  }

  @Test("The last reference that goes takes its destination along")
  func lastReference() throws {
    #expect(try store.apply([patch("songs/1", #"{"album_id": 2}"#)]).deleted.letters == "albums/1")
    #expect(try store.apply([put("songs/1")]).deleted.letters == "albums/2")
    #expect(try store.value("albums/1") == nil && store.value("albums/2") == nil)
  }

  @Test("A reference that comes back before the flush was never away")
  func cameBack() throws {
    let receipt = try store.apply([put("songs/1"), patch("songs/1", #"{"album_id": 1}"#)])
    #expect(receipt.edgesAdded == 0 && receipt.edgesRemoved == 0 && receipt.deletedCount == 0)
    let flushed = try store.apply([put("songs/1"), .flush, put("songs/1", #"{"album_id": 2}"#)])
    #expect(flushed.deleted.letters == "albums/1")
  }

  @Test("A reference that came and went without a flush never was")
  func neverWas() throws {
    let brief = [patch("songs/1", #"{"album_id": 2}"#), patch("songs/1", #"{"album_id": 1}"#)]
    let receipt = try store.apply(brief)
    #expect(receipt.edgesAdded == 0 && receipt.edgesRemoved == 0 && receipt.deletedCount == 0)
    let flushed = try store.apply([
      put("songs/2", #"{"album_id": 2}"#), .flush, put("songs/2", #"{"album_id": 1}"#),
    ])
    #expect(flushed.deleted.letters == "albums/2")
  }

  @Test("A row may refer to what the same transaction puts later, and not to what nobody puts")
  func references() throws {
    let later = [put("albums/3", #"{"artist_id": "c"}"#), put("artists/c")]
    #expect(try store.apply(later).deletedCount == 0)
    let never = try store.apply([put("albums/4", #"{"artist_id": "nobody"}"#)])
    #expect(never.deleted.letters == "albums/4")
    #expect(try store.value("albums/3") != nil && store.value("albums/4") == nil)
  }

  @Test("A reference that dangles already, and stays, is judged by nobody")
  func dangling() throws {
    try store.bySQL("UPDATE album SET artist_id = 'nobody' WHERE id = 2")
    #expect(try store.apply([patch("albums/2", #"{"title": "x"}"#)]).deletedCount == 0)
    #expect(try store.apply([patch("albums/2", #"{"artist_id": null}"#)]).edgesRemoved == 1)
  }

  // MARK: - In other places

  @Test("Lists, types and files are followed like columns")
  func otherPlaces() throws {
    let put1 = try store.apply([
      patch("songs/1", #"{"likes": ["n", "m", "n"], "about": "2", "about_type": "Album"}"#),
      patch("albums/1", #"{"cover_path": "1.jpg"}"#),
    ])
    #expect(put1.edgesAdded == 4)
    let put2 = try store.apply([
      patch("songs/1", #"{"likes": "[\"m\"]", "about": "n", "about_type": "Note"}"#),
      patch("albums/1", "{}", unset: ["cover_path"]),
    ])
    #expect(put2.edgesAdded == 1 && put2.edgesRemoved == 3)
  }

  @Test("A row of a join table carries an edge of others")
  func joins() throws {
    let credit = Node("credits", .composite([.integer(1), .text("b")]))
    let row = Change.put(credit, type: nil, value: nil, edges: nil)
    #expect(try store.apply([row]).edgesAdded == 1)
    #expect(try store.apply([row]).edgesAdded == 0)
    #expect(try store.apply([delete("artists/b")]).deletedCount == 2)
    #expect(try !store.exists(credit))
  }

  @Test("Of two rows that say the same edge, one may go")
  func sameEdgeTwice() throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { a: { table: "a", key: "k" }, b: { table: "b", key: "k" },
            ab: { table: "ab", key: "k" } },
          relationships: [
            { name: "e", from: "a", to: "b", toMany: true,
              join: { table: "ab", source: "a", destination: "b" },
              rules: ["deleteDestinationIfSourceDeleted"] },
            { name: "e", from: "a", to: "b", column: "b",
              rules: ["deleteDestinationIfSourceDeleted"] } ] }
        """),
      schema: """
        CREATE TABLE a(k INTEGER PRIMARY KEY, b); CREATE TABLE b(k INTEGER PRIMARY KEY);
        CREATE TABLE ab(k INTEGER PRIMARY KEY, a, b);
        INSERT INTO a VALUES(1, NULL); INSERT INTO b VALUES(1);
        INSERT INTO ab VALUES(1, 1, 1), (2, 1, 1)
        """)
    func apply(_ change: Change) throws -> Receipt { try store.apply([change]) }
    #expect(try apply(patch("ab/1", "{}", unset: ["b"])).edgesRemoved == 0)
    #expect(try apply(patch("a/1", #"{"b": 1}"#)).edgesAdded == 0)
    #expect(try apply(patch("ab/2", "{}", unset: ["b"])).edgesRemoved == 0)
    #expect(try apply(patch("a/1", "{}", unset: ["b"])).deleted.letters == "b/1")
  }

  // MARK: - Deletions

  @Test("A deleted row goes at the flush, and what depends on it")
  func deleted() throws {
    let receipt = try store.apply([delete("artists/a")])
    #expect(receipt.deleted.letters == "albums/1 artists/a")
    #expect(try store.value("artists/a") == nil && store.value("albums/1") == nil)
  }

  @Test("A row that is deleted and put again is not gone")
  func putAgain() throws {
    let receipt = try store.apply([delete("artists/a"), put("artists/a", #"{"name": "x"}"#)])
    #expect(receipt.deletedCount == 0)
    #expect(try store.value("artists/a") == #"{"id":"a","name":"x"}"#)
    let flushed = try store.apply([delete("artists/a"), .flush, put("artists/a")])
    #expect(flushed.deleted.letters == "albums/1 artists/a")
    #expect(try store.exists(node("artists/a")) && !store.exists(node("albums/1")))
  }

  @Test("A row that came and went without a flush is out of the way at once; its edges lost an end")
  func briefRow() throws {
    let receipt = try store.apply([
      put("songs/8", #"{"title": "same", "album_id": 2}"#), delete("songs/8"),
      put("songs/9", #"{"title": "same"}"#),
    ])
    #expect(receipt.deleted.letters == "albums/2" && receipt.edgesAdded == 0)
    #expect(try !store.exists(node("songs/8")) && store.exists(node("songs/9")))
    let again = try store.apply([
      put("artists/z"), put("albums/9", #"{"artist_id": "z"}"#), delete("artists/z"),
    ])
    #expect(again.deleted.letters == "albums/9")
    let twice = try store.apply([put("artists/y"), delete("artists/y"), put("artists/y")])
    #expect(twice.deletedCount == 0)
    #expect(try store.exists(node("artists/y")))
  }

  @Test("A flush between lets a value be taken again")
  func flushBetween() throws {
    let changes = [delete("songs/1"), .flush, put("songs/2", #"{"title": "one"}"#)]
    #expect(try store.apply(changes).deleted.letters == "albums/1 songs/1")
  }

  @Test("All rows of a table go together, new ones too")
  func all() throws {
    try store.apply([put("songs/2", #"{"album_id": 2}"#)])
    let receipt = try store.apply([put("songs/3"), .deleteAll(collection: "songs")])
    #expect(receipt.deleted.letters == "albums/1 albums/2 songs/1 songs/2")
    #expect(try store.alive(in: "songs") == "")
    let kept = try store.apply([
      put("songs/4"), .flush, .deleteAll(collection: "songs"), put("songs/4"),
    ])
    #expect(kept.deletedCount == 0)
  }

  @Test("A row that goes without a name gets one from whatever names it then")
  func named() throws {
    let twice = try store.apply([delete("artists/a"), delete("artists/a")])
    #expect(twice.deleted.letters == "albums/1 artists/a" && twice.skippedChanges == 1)
    #expect(try store.reasons([delete("songs/1"), patch("songs/1", "{}")]).count == 1)
    let all = Change.deleteAll(collection: "songs")
    #expect(try store.reasons([all, patch("songs/1", "{}")]).count == 1)
    #expect(try store.apply([all, put("songs/1", #"{"stars": 5}"#)]).deletedCount == 0)
    #expect(try store.exists(node("songs/1")))
    let linked = try store.apply([delete("songs/1")] + changes("songs/1-8>notes/n"))
    #expect(linked.deleted.letters == "notes/n songs/1")
  }

  @Test("A row below zero has its table's rows go by their names")
  func belowZero() throws {
    let received = try store.apply([delete("albums/1"), put("albums/-1"), delete("albums/2")])
    #expect(received.deleted.letters == "albums/1 albums/2")
    let others = [put("albums/-1"), put("songs/-7", #"{"album_id": -1}"#)]
    #expect(try store.apply(others + [delete("songs/1")]).deleted.letters == "songs/1")
    let mixed = [put("songs/2"), .flush, delete("songs/2"), .deleteAll(collection: "songs")]
    #expect(try store.apply(mixed).deleted.letters == "albums/-1 songs/-7 songs/2")
  }

  @Test("Deletions of composite and unusual keys find their rows")
  func unusualKeys() throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { c: { table: "c", key: ["x", "y"] }, w: { table: "w", key: "k" },
          nc: { table: "n", key: "k" }, b: { table: "b", key: "k" } } }
        """),
      schema: """
        CREATE TABLE c(x INT, y TEXT, PRIMARY KEY(x, y)) WITHOUT ROWID;
        INSERT INTO c VALUES(1, 'a'), (1, 'b');
        CREATE TABLE w(k TEXT PRIMARY KEY) WITHOUT ROWID; INSERT INTO w VALUES('a'), ('b');
        CREATE TABLE n(k TEXT PRIMARY KEY COLLATE NOCASE); INSERT INTO n VALUES('A'), ('b');
        CREATE TABLE b(k BLOB PRIMARY KEY, rowid, oid, _rowid_);
        INSERT INTO b(k) VALUES(x'00'), (x'01')
        """)
    try store.apply([
      .delete(Node("c", .composite([.text("1"), .text("a")]))), delete("w/a"), delete("nc/a"),
      delete("b/x'00'"),
    ])
    let left = try ["c", "w", "nc", "b"].map { try store.alive(in: $0) }
    #expect(left == ["c/", "w/b", "nc/b", "b/x'01'"])
    try store.apply(["c", "w", "nc", "b"].map { .deleteAll(collection: $0) })
    for name in ["c", "w", "nc", "b"] { #expect(try store.alive(in: name) == "") }
  }

  // MARK: - Stored edges

  @Test("Stored edges join rows and objects, both ways")
  func storedEdges() throws {
    try store.run("songs/1-8>notes/n notes/m-8>songs/1")
    #expect(
      try store.apply([delete("notes/m")]).deleted.letters == "albums/1 notes/m notes/n songs/1")
    #expect(try store.value("songs/1") == nil)
  }

  @Test("A link before its ends are put is like one behind them")
  func linkedFirst() throws {
    let before = try store.graph()
    let link = changes("songs/5-8>albums/5")
    #expect(try store.apply(link + [put("albums/5"), put("songs/5")]).deletedCount == 0)
    let half = try store.apply(changes("songs/6-4>albums/6") + [put("songs/6")])
    #expect(half.deleted.letters == "songs/6")
    #expect(try store.apply([delete("songs/5")]).deleted.letters == "albums/5 songs/5")
    #expect(try store.graph() == before)
  }

  @Test("A row keeps its edges when a link gives it another number")
  func renumbered() throws {
    let receipt = try store.apply(
      [put("songs/2", #"{"album_id": 2}"#), put("songs/1")] + changes("songs/2-8>albums/1")
        + changes("songs/2-8>albums/2")
        + [put("songs/2"), patch("songs/1", #"{"album_id": 1}"#)])
    #expect(receipt.edgesAdded == 2 && receipt.edgesRemoved == 0 && receipt.deletedCount == 0)
  }

  @Test("A link removed from a row runs its rule")
  func unlinked() throws {
    try store.run("songs/1-8>albums/2")
    #expect(try store.run("~songs/1->albums/1").skippedChanges == 1)
    #expect(try store.gone("~songs/1->albums/2") == "albums/2")
  }

  @Test("A row may declare edges")
  func declared() throws {
    let list = [DeclaredEdge(name: "e", destination: .node(node("notes/n")), rules: 8)]
    try store.apply([put("songs/2", edges: list)])
    #expect(try store.apply([put("songs/2")]).edgesRemoved == 0)
    #expect(try store.apply([put("songs/2", edges: [])]).deleted.letters == "notes/n")
    #expect(try store.apply([put("songs/2", edges: [])]).edgesRemoved == 0)
  }

  @Test("What a list does not declare any more, but a column or a property does, was not removed")
  func declaredTwice() throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { rows: { table: 'row', key: 'id' } },
          relationships: [
            { name: 'e', from: 'rows', to: 'rows', column: 'next',
              rules: ['deleteDestinationIfSourceDeleted'] },
            { name: 'e', from: 'notes', to: 'rows', property: 'next',
              rules: ['deleteDestinationIfSourceDeleted'] } ] }
        """),
      schema: "CREATE TABLE row(id INTEGER PRIMARY KEY, next INTEGER)")
    let list = [DeclaredEdge(name: "e", destination: .node(node("rows/1")), rules: 8)]
    try store.apply([put("rows/1")])
    for source in ["rows/2", "notes/2"] {
      try store.apply([put(source, #"{"next": 1}"#, edges: list)])
      let receipt = try store.apply([put(source, #"{"next": 1}"#, edges: [])])
      #expect(receipt.deletedCount == 0 && receipt.edgesRemoved == 0)
    }
    #expect(try store.apply([patch("notes/2", #"{"next": null}"#)]).deleted.letters == "rows/1")
  }

  @Test("What came in a list, went on in a column, and goes with no flush between never was")
  func movedBeforeTheFlush() throws {
    let list = [DeclaredEdge(name: "album", destination: .node(node("albums/2")), rules: 8)]
    let receipt = try store.apply([
      put("songs/2", edges: list), put("songs/2", #"{"album_id": 2}"#, edges: []), put("songs/2"),
    ])
    #expect(receipt.deletedCount == 0 && receipt.edgesAdded == 0 && receipt.edgesRemoved == 0)
    #expect(
      try store.apply([
        put("songs/2", edges: list), put("songs/2", #"{"album_id": 2}"#, edges: []),
      ]).edgesAdded == 1)
  }

  @Test("What dangled before a file is not the file's, unless it leaves an edge to the same")
  func namedInPassing() throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { t: { table: 't', key: 'id' }, a: { table: 'a', key: 'id' } },
          relationships: [ { name: 'a', from: 't', to: 'a', column: 'a',
            rules: ['deleteSourceIfDestinationDeleted'] } ] }
        """),
      schema: """
        CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER);
        INSERT INTO t VALUES(1, 7), (2, 7);
        """)
    let put = put("t/3", #"{"a": 7}"#)
    for changes in [
      [put, patch("t/3", #"{"a": null}"#)], changes("x x-4>a/7 ~x->a/7"), [delete("a/7")],
    ] {
      #expect(try store.apply(changes).deletedCount == 0)
    }
    #expect(try store.texts("SELECT id FROM t") == ["1", "2", "3"])
    #expect(try store.texts("SELECT key FROM cascade_node") == ["x"])
    #expect(try store.apply([put]).deleted.letters.hasSuffix("t/3"))
  }

  @Test("A node that is linked by another spelling of its key is the same")
  func spellings() throws {
    let store = try TestStore(
      model: StoreModel(#"{ collections: { t: { table: "t", key: "k" } } }"#),
      schema: "CREATE TABLE t(k TEXT COLLATE NOCASE PRIMARY KEY)")
    try store.apply(changes("t/ab-8>x") + [put("t/AB"), put("x")])
    try store.apply(changes("t/aB-8>y") + [put("y")])
    #expect(try store.alive(in: "t") == "t/AB")
    let gone = try store.apply([delete("t/Ab")]).deleted.letters
    #expect(gone == "t/AB x y")
  }

  @Test("A node is the same by several spellings before it is put")
  func spellingsOfAbsent() throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { t: { table: "t", key: "k" }, r: { table: "r", key: "id" } },
          relationships: [ { name: "t", from: "r", to: "t", column: "t",
            rules: ["deleteSourceIfDestinationDeleted"] } ] }
        """),
      schema: """
        CREATE TABLE t(k TEXT COLLATE NOCASE PRIMARY KEY);
        CREATE TABLE r(id TEXT PRIMARY KEY, t TEXT COLLATE NOCASE);
        """)
    try store.apply(
      [put("r/1", #"{"t": "K"}"#), put("r/2", #"{"t": "k"}"#), put("t/k")])
    #expect(try store.alive(in: "r") == "r/1 r/2")
    try store.apply(changes("x-4>t/L y-4>t/l") + [put("x"), put("y"), put("t/l")])
    #expect(try store.alive() == "x y")
    try store.apply(changes("x-4>t/M ~x->t/m") + [put("x")])
    #expect(try store.alive() == "x y")
  }

  @Test("What a rejected transaction did to rows is undone")
  func rejected() throws {
    let before = try store.value("songs/1")
    _ = try store.reasons([
      put("songs/1"), put("songs/2"), delete("albums/1"), .flush, patch("songs/7", "{}"),
    ])
    #expect(try store.value("songs/1") == before)
    #expect(try store.exists(node("albums/1")) && !store.exists(node("songs/2")))
    #expect(try store.apply([put("songs/2")]).edgesAdded == 0)
  }
}
