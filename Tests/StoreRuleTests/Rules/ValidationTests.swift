import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteSweeps
import SQLiteJournal

/// What the model demands of the nodes that a transaction touched.
@Suite("Validation")
struct ValidationTests {
  /// A store whose relationships these are, from songs to albums unless they say otherwise.
  private func store(_ relationships: String...) throws -> TestStore {
    let whole = relationships.map { text in
      text.contains("from:") ? "{ \(text) }" : "{ from: 'songs', to: 'albums', \(text) }"
    }
    return try TestStore(
      model: StoreModel(
        """
        { strict: false, collections: { songs: {}, albums: {}, posts: { types: { photo: 'photos', text: 'texts' } } },
          relationships: [\(whole.joined(separator: ", "))] }
        """))
  }

  // MARK: - One relationship

  @Test("A missing mandatory reference is refused, and one that is there is not")
  func mandatory() throws {
    let store = try store("name: 'album', optional: false")
    #expect(try store.refusals("songs/1") == ["missingMandatory songs/1"])
    #expect(try store.refusals("songs/1{album>albums/1}") == ["missingMandatory songs/1"])
    #expect(try store.refusals("songs/1{album>albums/1} albums/1") == [])
    #expect(try store.refusals("songs/1{}") == ["missingMandatory songs/1"])
    #expect(try store.refusals("albums/2 songs/1{album>albums/2}") == [])
  }

  @Test("A manual edge is as good as a declared one")
  func manual() throws {
    let store = try store("name: 'album', optional: false")
    #expect(try store.refusals("songs/1 songs/1-album>albums/1 albums/1") == [])
    #expect(try store.refusals("~songs/1-album>albums/1") == ["missingMandatory songs/1"])
  }

  @Test("A to-one reference is at most one, two edges to one destination are one")
  func toOne() throws {
    let store = try store("name: 'album'")
    #expect(try store.refusals("albums/1 albums/2 songs/1{album>albums/1}") == [])
    #expect(try store.refusals("songs/1-album>albums/1") == [])
    #expect(try store.refusals("songs/1-album>albums/2") == ["tooMany songs/1"])
  }

  @Test(
    "The other end is found along the edge, not among all that it might be", .timeLimit(.minutes(1))
  )
  func many() throws {
    let store = try store("name: 'album'")
    let numbers = 1...25_000
    try store.run(numbers.map { "albums/\($0)" }.joined(separator: " "))
    let songs = numbers.map { "songs/\($0){album>albums/\($0)}" }.joined(separator: " ")
    #expect(try store.refusals(songs) == [])
  }

  @Test("Too few and too many are refused, the bounds themselves are not")
  func bounds() throws {
    let store = try store("name: 'on', toMany: true, min: 2, max: 3, optional: false")
    try store.run("albums/1 albums/2 albums/3 albums/4")
    let edges = (1...4).map { "on>albums/\($0)" }
    let verdicts = try (0...4).map { count in
      try store.refusals("songs/\(count){\(edges.prefix(count).joined(separator: ","))}")
    }
    #expect(
      verdicts == [["missingMandatory songs/0"], ["tooFew songs/1"], [], [], ["tooMany songs/4"]])
  }

  @Test("An optional to-many may be empty even below its minimum")
  func optionalEmpty() throws {
    let store = try store("name: 'on', toMany: true, min: 2")
    #expect(try store.refusals("songs/1 albums/1 albums/2") == [])
    #expect(try store.refusals("songs/1-on>albums/1") == ["tooFew songs/1"])
    #expect(try store.refusals("songs/1-on>albums/1 songs/1-on>albums/2") == [])
    #expect(try store.refusals("~songs/1-on>albums/1") == ["tooFew songs/1"])
    #expect(try store.refusals("~songs/1-on>albums/1 ~songs/1-on>albums/2") == [])
  }

  @Test("No two sources share a unique destination")
  func unique() throws {
    let store = try store("name: 'album', unique: true")
    #expect(try store.refusals("albums/1 songs/1{album>albums/1} songs/1-album>albums/1") == [])
    #expect(try store.refusals("songs/2{album>albums/1}") == ["notUnique albums/1"])
    #expect(try store.refusals("songs/2{album>albums/1} !songs/1") == [])
    #expect(try store.refusals("songs/3-album>albums/1 songs/3") == ["notUnique albums/1"])
  }

  @Test("Edges of other names, and between other collections, are nobody's business")
  func otherEdges() throws {
    let store = try store("name: 'album', optional: false, max: 1", "name: 'x', unique: true")
    try store.run("songs/1{album>albums/1} albums/1 n/1 n/2")
    #expect(try store.refusals("songs/1-0album>n/1 songs/1-0y>albums/1 n/1-0x>albums/1") == [])
    #expect(try store.refusals("n/2-0x>albums/1 albums/1-0album>n/1") == [])
  }

  @Test("An edge without rules has those of its relationship, in Core Data's words too")
  func deleteRule() throws {
    let store = try store(
      "name: 'a', deleteRule: 'cascade', inverse: { name: 'b', deleteRule: 'nullify' }",
      "name: 'c', deleteRule: 'deny', inverse: { name: 'd', deleteRule: 'cascade' }")
    try store.run("songs/1{a>albums/1} songs/2-c>albums/2 songs/2 albums/1 albums/2")
    #expect(try store.graph() == "songs/1=72a>albums/1 songs/2-260c>albums/2")
    #expect(try store.gone("!songs/1") == "albums/1 songs/1")
    #expect(try store.refusals("!songs/2") == ["denied songs/2"])
    #expect(try store.gone("!albums/2") == "albums/2 songs/2")
  }

  @Test("An edge without rules that no relationship declares is refused")
  func noRules() throws {
    let store = try store("name: 'a'")
    let reasons = try store.reasons(changes("songs/1 songs/1-b>albums/1"))
    #expect(reasons.map(\.code) == [.invalid])
    #expect(reasons.map(\.path) == ["changes[1]"])
    #expect(try store.refusals("albums/1{a>songs/1}") == ["invalid albums/1"])
  }

  // MARK: - The other side

  @Test("The inverse has bounds of its own")
  func inverseBounds() throws {
    let store = try store(
      "name: 'album', inverse: { name: 'songs', toMany: true, min: 2, max: 3, optional: false }")
    #expect(try store.refusals("albums/1") == ["missingMandatory albums/1"])
    #expect(try store.refusals("albums/1 songs/1{album>albums/1}") == ["tooFew albums/1"])
    let two = "songs/1{album>albums/1} songs/2{album>albums/1}"
    #expect(try store.refusals("albums/1 \(two)") == [])
    #expect(try store.refusals("songs/3{album>albums/1}") == [])
    #expect(try store.refusals("songs/4{album>albums/1}") == ["tooMany albums/1"])
    #expect(try store.refusals("!songs/2 !songs/3") == ["tooFew albums/1"])
    #expect(try store.refusals("songs/2{} !songs/3") == ["tooFew albums/1"])
    #expect(try store.refusals("!songs/1 !songs/2 !songs/3 !albums/1") == [])
  }

  @Test("A to-one inverse admits one")
  func toOneInverse() throws {
    let store = try store("name: 'album', inverse: { name: 'song', toMany: false }")
    #expect(try store.refusals("albums/1 songs/1{album>albums/1}") == [])
    #expect(try store.refusals("songs/2{album>albums/1}") == ["tooMany albums/1"])
  }

  @Test("Edges written from the other side count, where both sides are declared")
  func bothSides() throws {
    let store = try store(
      "name: 'album', optional: false, inverse: 'songs'",
      "name: 'songs', from: 'albums', to: 'songs', toMany: true, inverse: 'album'")
    #expect(try store.refusals("songs/1 albums/1{songs>songs/1}") == [])
    #expect(try store.refusals("albums/1{}") == ["missingMandatory songs/1"])
    #expect(try store.refusals("albums/2 songs/1{album>albums/2}") == ["tooMany songs/1"])
    #expect(try store.refusals("songs/1{album>albums/1}") == [])
  }

  // MARK: - Survivors

  @Test("Who loses a mandatory reference may not stay behind", arguments: [0, 64, 1, 2])
  func survivors(rules: Int) throws {
    let store = try store("name: 'album', optional: false")
    try store.run("albums/1 songs/1{\(rules)album>albums/1}")
    #expect(try store.refusals("!albums/1") == ["missingMandatory songs/1"])
    #expect(try store.refusals("!albums/1 !songs/1") == [])
  }

  @Test("Neighbours of what a flush deleted are judged at the end")
  func survivorsOfFlush() throws {
    let store = try store("name: 'album', optional: false")
    try store.run("albums/1 albums/2 songs/1{album>albums/1}")
    #expect(try store.refusals("!albums/1 |") == ["missingMandatory songs/1"])
    #expect(try store.refusals("!albums/1 | songs/1-album>albums/2") == [])
  }

  @Test("What nobody touched is not judged")
  func untouched() throws {
    let first = try store()
    try first.run("songs/1 songs/2")
    let model = try StoreModel(
      "{ relationships: [{ name: 'a', from: 'songs', to: 'albums', optional: false }] }")
    let writer = try Writer(path: first.path, model: model)
    func isRefused(_ script: String) -> Bool {
      var rest = changes(script)[...]
      let submission = Submission(id: script, author: nil, fingerprint: 1, at: 1)
      return (try? writer.group { try writer.apply(submission) { rest.popFirst() } }) == nil
    }
    #expect(isRefused("songs/1"))
    #expect(!isRefused("albums/1"))
    #expect(try first.alive(in: "songs") == "songs/1 songs/2")
  }

  @Test("Every violation is listed, with its code")
  func allListed() throws {
    let store = try store(
      "name: 'one', optional: false", "name: 'few', toMany: true, min: 2",
      "name: 'many'", "name: 'own', unique: true")
    let script = """
      albums/1 albums/2 songs/1{few>albums/1,many>albums/1,many>albums/2,own>albums/1} \
      songs/2{one>albums/1,own>albums/1}
      """
    #expect(
      try store.refusals(script) == [
        "missingMandatory songs/1", "notUnique albums/1", "tooFew songs/1", "tooMany songs/1",
      ])
    #expect(try store.alive(in: "songs") == "")
  }

  @Test("A reason says what it is about")
  func messages() throws {
    let store = try store("name: 'album', optional: false", "name: 'own', unique: true")
    let script = "songs/1 songs/2 albums/1 songs/1-own>albums/1 songs/2-own>albums/1 !songs/2"
    #expect(
      try store.reasons(changes(script)).map(\.message)
        == ["songs/1 has no \"album\", which is not optional"])
    #expect(
      try store.reasons(changes(script).dropLast()).map(\.message).last
        == "2 of \"songs\" have [\"albums\",\"1\"] as their \"own\", which is unique")
  }

  @Test("A sweep leaves no verdict behind for the next transaction")
  func afterSweep() throws {
    let store = try store("name: 'album', optional: false")
    try store.run("albums/1 songs/1{album>albums/1}")
    try store.bySQL(
      "DELETE FROM cascade_node WHERE key = '1' AND collection IN "
        + "(SELECT id FROM cascade_collection WHERE name = 'albums')")
    _ = try store.writer.sweep([.dangling], at: 1)
    #expect(try store.refusals("n/1") == [])
    #expect(try store.refusals("songs/1") == ["missingMandatory songs/1"])
  }
}
