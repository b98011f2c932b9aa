internal import CascadeModel
internal import CascadeStore
import Testing

/// Edges that are added and removed by their names, where the model says that they live.
package struct PlacedLinks {
  private let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  package enum Claim: String, CaseIterable, CustomTestStringConvertible {
    case areJoinRows = "A link inserts a join row, and an unlink deletes it"
    case areReplacedInJoins = "A relink leaves the join rows that stay as they are"
    case areNodes = "A join row that is a node comes and goes as one"
    case areColumns = "A link sets a column in place of what it had, and an unlink empties it"
    case haveTypes = "A link of a polymorphic reference sets the type beside it"
    case areListed = "A link adds an element to a list in a column, and an unlink takes it out"
    case areProperties =
      "A link sets a property of an object, or adds to a list at a path within it"
    case areFiles = "A link to a file sets the column of paths"
    case areManual =
      "A name that the model does not place has manual edges, and a relink sets those"
    case runRules = "What follows is what follows if the row is written so"
    case areAlone = "An edge that is removed by itself has no consequences"
    case nameLaterNodes = "A join row may name nodes that the same file puts later"
    case move = "An edge that a change moves to another place is not lost"
    case haveReasons = "What cannot be is rejected with the reason, and nothing is written"

    package var testDescription: String { rawValue }
  }

  package func expect(_ claim: Claim) throws {
    switch claim {
    case .areJoinRows: try areJoinRows()
    case .areReplacedInJoins: try areReplacedInJoins()
    case .areNodes: try areNodes()
    case .areColumns: try areColumns()
    case .haveTypes: try haveTypes()
    case .areListed: try areListed()
    case .areProperties: try areProperties()
    case .areFiles: try areFiles()
    case .areManual: try areManual()
    case .runRules: try runRules()
    case .areAlone: try areAlone()
    case .nameLaterNodes: try nameLaterNodes()
    case .move: try move()
    case .haveReasons: try haveReasons()
    }
  }

  private static let model = """
    { collections: {
        songs: { table: 'song', key: 'id' }, albums: { table: 'album', key: 'id' },
        tags: { table: 'tag', key: 'id' }, uses: { table: 'song_use', key: 'id' },
        pairs: { table: 'song_pair', key: ['song_id', 'tag_id'] },
        notes: {}, posts: { types: { photo: 'photos', text: 'texts' } } },
      files: { media: '/nowhere/media' },
      relationships: [
        { name: 'album', from: 'songs', to: 'albums', column: 'album_id',
          rules: ['deleteDestinationIfAllSourcesDeleted'] },
        { name: 'parent', from: 'albums', to: 'albums', column: 'parent_id', none: [0] },
        { name: 'tags', from: 'songs', to: 'tags', toMany: true,
          join: { table: 'song_tag', source: 'song_id', destination: 'tag_id' },
          rules: ['deleteDestinationIfAllSourcesDeleted'] },
        { name: 'used', from: 'songs', to: 'tags', toMany: true,
          join: { table: 'song_use', source: 'song_id', destination: 'tag_id' } },
        { name: 'paired', from: 'songs', to: 'tags', toMany: true,
          join: { table: 'song_pair', source: 'song_id', destination: 'tag_id' } },
        { name: 'strict', from: 'songs', to: 'tags', toMany: true,
          join: { table: 'song_strict', source: 'song_id', destination: 'tag_id' } },
        { name: 'about', from: 'songs', column: 'about_id', typeColumn: 'about_type',
          to: { Album: 'albums', Tag: 'tags' } },
        { name: 'listed', from: 'songs', to: 'tags', property: 'list', toMany: true,
          rules: ['deleteDestinationIfAllSourcesDeleted'] },
        { name: 'deep', from: 'songs', to: 'tags', property: 'document.tags', toMany: true },
        { name: 'cover', from: 'albums', to: { files: 'media' }, column: 'cover' },
        { name: 'album', from: 'notes', to: 'albums', property: 'album',
          rules: ['deleteSourceIfDestinationDeleted'] },
        { name: 'images', from: 'notes', to: 'notes', property: 'meta.images', toMany: true },
        { name: 'subject', from: 'photos', to: 'albums', property: 'album' },
        { name: 'subject', from: 'texts', to: 'tags', property: 'tag' } ] }
    """

  private static let schema = """
    CREATE TABLE album(id integer PRIMARY KEY, parent_id integer NOT NULL DEFAULT 0, cover text);
    CREATE TABLE tag(id text PRIMARY KEY);
    CREATE TABLE song(id integer PRIMARY KEY, album_id integer, about_id text, about_type text,
      list text, document text);
    CREATE TABLE song_tag(song_id integer, tag_id text, place integer NOT NULL DEFAULT 5,
      PRIMARY KEY(song_id, tag_id));
    CREATE TABLE song_use(id integer PRIMARY KEY \(generated), song_id integer, tag_id text);
    CREATE TABLE song_pair(song_id integer, tag_id text, PRIMARY KEY(song_id, tag_id));
    CREATE TABLE song_strict(song_id integer, tag_id text, place integer NOT NULL);
    INSERT INTO album(id) VALUES(1), (2); INSERT INTO tag VALUES('a'), ('b'), ('c');
    INSERT INTO song(id, album_id) VALUES(1, 1), (2, 1);
    """

  private static let generated = "/* generated */"

  private func store() throws -> any StoreUnderTest {
    let parts = PlacedLinks.schema.split(separator: Substring(PlacedLinks.generated))
    return try engine.makeStore(
      model: StoreModel(PlacedLinks.model),
      schema: parts.joined(separator: engine.generatedKey))
  }

  private func link(_ name: String, _ from: String, _ to: String, _ more: String = "") -> String {
    #"{"link": {"name": "\#(name)", "from": [\#(from)], "to": [\#(to)]}\#(more)}"#
  }

  private func unlink(_ name: String, _ from: String, _ to: String, _ more: String = "") -> String {
    #"{"unlink": {"name": "\#(name)", "from": [\#(from)], "to": [\#(to)]}\#(more)}"#
  }

  private func relink(_ name: String, _ from: String, _ to: String...) -> String {
    let ends = to.map { "[\($0)]" }.joined(separator: ", ")
    return #"{"relink": {"name": "\#(name)", "from": [\#(from)], "to": [\#(ends)]}}"#
  }

  private let song = #""songs", 1"#
  private func tag(_ key: String) -> String { #""tags", "\#(key)""# }
  private func album(_ key: Int) -> String { #""albums", \#(key)"# }

  // MARK: - Join tables

  private func areJoinRows() throws {
    let store = try store()
    let added = try store.change(link("tags", song, tag("a")), link("tags", song, tag("b")))
    #expect(added.edgesAdded == 2)
    #expect(try store.texts("SELECT tag_id FROM song_tag ORDER BY 1") == ["a", "b"])
    #expect(try store.edges().filter { $0.name == "tags" }.allSatisfy { $0.origin == .declared })
    let again = try store.change(link("tags", song, tag("a")))
    #expect((again.edgesAdded, again.skippedChanges) == (0, 0))
    let removed = try store.change(unlink("tags", song, tag("b")))
    #expect((removed.edgesRemoved, removed.skippedChanges) == (1, 0))
    #expect(removed.deleted == [Node("tags", .text("b"))])
    #expect(try store.texts("SELECT tag_id FROM song_tag") == ["a"])
    #expect(try store.change(unlink("tags", song, tag("c"))).skippedChanges == 1)
    let both = try store.change(link("tags", song, tag("c")), unlink("tags", song, tag("c")))
    #expect(both.deletedCount == 0)
    #expect((both.edgesAdded, both.edgesRemoved) == (0, 0))
    let back = try store.change(unlink("tags", song, tag("a")), link("tags", song, tag("a")))
    #expect(back.deletedCount == 0)
    #expect((back.edgesAdded, back.edgesRemoved) == (0, 0))
  }

  private func areReplacedInJoins() throws {
    let store = try store()
    try store.bySQL("INSERT INTO song_tag VALUES(1, 'a', 7), (1, 'b', 8), (2, 'b', 9)")
    let receipt = try store.change(relink("tags", song, tag("c"), tag("a"), tag("c")))
    #expect(
      try store.texts("SELECT tag_id FROM song_tag WHERE song_id = 1 ORDER BY 1") == ["a", "c"])
    #expect(try store.texts("SELECT place FROM song_tag ORDER BY place") == ["5", "7", "9"])
    #expect((receipt.edgesAdded, receipt.edgesRemoved, receipt.deletedCount) == (1, 1, 0))
    #expect(try store.change(relink("tags", song)).deletedCount == 2)
    #expect(try store.texts("SELECT tag_id FROM song_tag") == ["b"])
  }

  private func areNodes() throws {
    let store = try store()
    for (name, table) in [("used", "song_use"), ("paired", "song_pair")] {
      try store.change(link(name, song, tag("a")), link(name, song, tag("b")))
      #expect(try store.texts("SELECT tag_id FROM \(table) ORDER BY 1") == ["a", "b"])
      #expect(try store.edges().filter { $0.name == name }.count == 2)
      let removed = try store.change(unlink(name, song, tag("a")))
      #expect(removed.deleted.map(\.collection) == [name == "used" ? "uses" : "pairs"])
      #expect(try store.texts("SELECT tag_id FROM \(table)") == ["b"])
    }
    let receipt = try store.change(#"{"delete": ["songs", 1]}"#)
    #expect(Set(receipt.deleted.map(\.collection)) == ["songs", "uses", "pairs"])
  }

  private func nameLaterNodes() throws {
    let store = try store()
    let receipt = try store.change(
      link("tags", #""songs", 7"#, tag("z")), #"{"put": ["songs", 7]}"#, #"{"put": ["tags", "z"]}"#)
    #expect(receipt.deletedCount == 0)
    #expect(try store.texts("SELECT tag_id FROM song_tag") == ["z"])
    try store.change(link("tags", song, tag("nothing")))
    #expect(try store.texts("SELECT tag_id FROM song_tag") == ["z"])
  }

  // MARK: - Columns

  private func areColumns() throws {
    let store = try store()
    let receipt = try store.change(link("album", #""songs", 2"#, album(2)))
    #expect((receipt.edgesAdded, receipt.edgesRemoved) == (1, 1))
    #expect(try store.texts("SELECT album_id FROM song ORDER BY id") == ["1", "2"])
    #expect(try store.change(unlink("album", #""songs", 2"#, album(1))).skippedChanges == 1)
    let gone = try store.change(unlink("album", #""songs", 2"#, album(2)))
    #expect(gone.deleted == [Node("albums", .integer(2))])
    #expect(try store.texts("SELECT id FROM song WHERE album_id IS NULL") == ["2"])
    try store.change(#"{"put": ["albums", 3]}"#, link("parent", album(3), album(1)))
    #expect(try store.texts("SELECT parent_id FROM album ORDER BY id") == ["0", "1"])
    try store.change(unlink("parent", album(3), album(1)))
    #expect(try store.texts("SELECT parent_id FROM album ORDER BY id") == ["0", "0"])
    try store.change(relink("album", #""songs", 2"#, album(3)))
    #expect(try store.texts("SELECT album_id FROM song WHERE id = 2") == ["3"])
  }

  private func haveTypes() throws {
    let store = try store()
    let about = "SELECT about_type || about_id FROM song WHERE id = 1 AND about_id IS NOT NULL"
    try store.change(link("about", song, album(1)))
    #expect(try store.texts(about) == ["Album1"])
    try store.change(link("about", song, tag("a")))
    #expect(try store.texts(about) == ["Taga"])
    #expect(try store.change(unlink("about", song, album(1))).skippedChanges == 1)
    try store.change(unlink("about", song, tag("a")))
    #expect(try store.texts("SELECT id FROM song WHERE about_type IS NULL AND id = 1") == ["1"])
  }

  private func areFiles() throws {
    let store = try store()
    func edge(_ path: String) -> String {
      #"{"name": "cover", "from": ["albums", 1], "to": {"file": "\#(path)", "root": "media"}}"#
    }
    try store.change(#"{"link": \#(edge("1.jpg"))}"#)
    #expect(try store.texts("SELECT cover FROM album WHERE id = 1") == ["1.jpg"])
    #expect(try store.change(#"{"unlink": \#(edge("2.jpg"))}"#).skippedChanges == 1)
    try store.change(#"{"unlink": \#(edge("1.jpg"))}"#)
    #expect(try store.texts("SELECT cover FROM album WHERE cover IS NOT NULL") == [])
  }

  // MARK: - Properties

  private func areListed() throws {
    let store = try store()
    func list() throws -> [JSON] {
      try store.texts("SELECT list FROM song WHERE id = 1").map { try JSON.parse($0) }
    }
    try store.change(link("listed", song, tag("a")), link("listed", song, tag("b")))
    #expect(try list() == [["a", "b"]])
    try store.change(link("listed", song, tag("a")))
    #expect(try list() == [["a", "b"]])
    #expect(
      try store.change(unlink("listed", song, tag("a"))).deleted == [Node("tags", .text("a"))])
    #expect(try list() == [["b"]])
    try store.change(relink("listed", song, tag("c"), tag("b")))
    #expect(try list() == [["c", "b"]])
    try store.bySQL(#"UPDATE song SET document = '{"x": 1, "tags": null}' WHERE id = 1"#)
    try store.change(link("deep", song, tag("c")), link("deep", #""songs", 2"#, tag("c")))
    #expect(
      try store.texts("SELECT document FROM song ORDER BY id").map { try JSON.parse($0) }
        == [["x": 1, "tags": ["c"]], ["tags": ["c"]]])
    #expect(try store.edges().filter { $0.name == "deep" }.count == 2)
  }

  private func move() throws {
    let rules = "rules: ['deleteDestinationIfSourceDeleted']"
    let store = try engine.makeStore(
      model: StoreModel(
        """
        { collections: { notes: {}, images: {} }, relationships: [
          { name: 'image', from: 'notes', to: 'images', property: 'image', \(rules) },
          { name: 'image', from: 'notes', to: 'images', \(rules) } ] }
        """), schema: "")
    let stored = #"[{"name": "image", "to": ["images", "i"]}]"#
    try store.change(
      #"{"put": ["images", "i"]}"#, #"{"put": ["notes", "n"], "edges": \#(stored)}"#)
    try store.change(#"{"put": ["notes", "n"], "value": {"image": "i"}, "edges": []}"#)
    #expect(try store.exists(node("images/i")))
    try store.change(#"{"delete": ["notes", "n"]}"#)
    #expect(try !store.exists(node("images/i")))
  }

  private func areProperties() throws {
    let store = try store()
    try store.change(
      #"{"put": ["notes", "n"], "value": {"meta": {"x": 1}}}"#, #"{"put": ["notes", "m"]}"#,
      link("album", #""notes", "n""#, album(1)), link("images", #""notes", "n""#, #""notes", "m""#))
    let value = { try store.reader.node(node("notes/n")).value?.json }
    #expect(try value() == ["meta": ["x": 1, "images": ["m"]], "album": 1])
    try store.change(link("album", #""notes", "n""#, album(2)))
    #expect(try value()?["album"] == 2)
    try store.change(
      unlink("album", #""notes", "n""#, album(2)),
      unlink("images", #""notes", "n""#, #""notes", "m""#)
    )
    #expect(try value() == ["meta": ["x": 1, "images": []], "album": nil])
    try store.change(
      #"{"put": ["posts", "p"], "type": "photo"}"#, #"{"put": ["posts", "t"], "type": "text"}"#,
      link("subject", #""posts", "p""#, album(1)), link("subject", #""posts", "t""#, tag("a")))
    #expect(try store.reader.node(node("posts/p")).value?.json == ["album": 1])
    #expect(try store.reader.node(node("posts/t")).value?.json == ["tag": "a"])
  }

  // MARK: - Manual edges

  private func areManual() throws {
    let store = try store()
    let rules = #", "rules": ["deleteDestinationIfAllSourcesDeleted"]"#
    func change(_ verb: String, _ to: String) -> String {
      #"{"\#(verb)": {"name": "likes", "from": ["songs", 1], "to": \#(to)\#(rules)}}"#
    }
    try store.change(change("link", #"["tags", "a"]"#), change("link", #"["notes", "n"]"#))
    let receipt = try store.change(change("relink", #"[["tags", "b"], ["tags", "a"]]"#))
    #expect(
      Set(try store.edges().filter { $0.name == "likes" }.map(\.destination.json.text))
        == [#"["tags","a"]"#, #"["tags","b"]"#])
    #expect(try store.edges().filter { $0.name == "likes" }.allSatisfy { $0.origin == .manual })
    #expect(receipt.edgesAdded == 1)
    #expect(try store.change(change("relink", "[]")).deletedCount == 2)
  }

  // MARK: - What follows

  private func runRules() throws {
    let store = try store()
    try store.change(#"{"put": ["notes", "n"], "value": {"album": 1}}"#)
    let receipt = try store.change(link("album", #""notes", "n""#, album(9)))
    #expect(receipt.deletedOwn == [node("notes/n")])
    try store.change(#"{"put": ["notes", "n"], "value": {"album": 1}}"#)
    let reasons = try store.reasons(
      ofChange: link("album", #""notes", "n""#, album(9), #", "mayDeleteItself": false"#))
    #expect(reasons.map(\.code) == [.deletesItself])
    #expect(try store.exists(node("notes/n")))
  }

  private func areAlone() throws {
    let store = try store()
    let alone = #", "as": "edgeDeleted""#
    try store.bySQL("INSERT INTO song_tag(song_id, tag_id) VALUES(1, 'a')")
    let join = try store.change(unlink("tags", song, tag("a"), alone))
    #expect((join.deletedCount, join.edgesRemoved) == (0, 1))
    try store.change(link("album", #""songs", 2"#, album(2)))
    let column = try store.change(unlink("album", #""songs", 2"#, album(2), alone))
    #expect((column.deletedCount, column.edgesRemoved) == (0, 1))
    try store.change(link("listed", song, tag("b")))
    let list = try store.change(unlink("listed", song, tag("b"), alone))
    #expect((list.deletedCount, list.edgesRemoved) == (0, 1))
    #expect(try store.writer.sweep([.all], at: 1).deletedCount == 0)
  }

  // MARK: - What cannot be

  private func haveReasons() throws {
    let store = try store()
    let before = try store.dump()
    for (change, part) in [
      (
        #"{"link": {"name": "tags", "from": ["songs", 1], "to": ["tags", "a"], "rules": []}}"#,
        "leave out \"rules\""
      ),
      (link("tags", song, album(1)), "leads to \"tags\""),
      (link("strict", song, tag("a")), "place"),
      (link("album", #""songs", 9"#, album(1)), "not there"),
      (link("subject", #""posts", "x""#, album(1)), "not there"),
      (relink("album", song, album(1), album(2)), "one reference"),
      (unlink("album", song, album(1), #", "as": "destinationDeleted""#), "destinationDeleted"),
      (
        #"{"link": {"name": "cover", "from": ["albums", 1], "to": {"file": "x", "root": "other"}}}"#,
        "\"other\""
      ),
    ] {
      let reasons = try store.reasons(ofChange: change)
      #expect(reasons.map(\.code) == [.invalid], "\(change)")
      #expect(reasons.first?.message.contains(part) == true, "\(change): \(reasons)")
    }
    try store.bySQL("UPDATE song SET list = 'no JSON' WHERE id = 1")
    let reasons = try store.reasons(ofChange: link("listed", song, tag("a")))
    #expect(reasons.first?.message.contains("no JSON") == true, "\(reasons)")
    try store.bySQL("UPDATE song SET list = NULL WHERE id = 1")
    #expect(try store.dump() == before)
  }
}
