import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteBinding
import SQLiteTables
import Testing
import SQLiteJournal

/// Patches, files, strict models, and the ledger.
@Suite("The managed store")
struct ManagedStoreTests {
  // MARK: - Patch

  private func put(_ value: String?) -> Change {
    .put(node("A"), type: "t", value: value.map(JSONText.init(valid:)), edges: nil)
  }

  private func member(_ name: String, _ value: String) -> Member {
    Member(name: name, value: JSONText(valid: value))
  }

  @Test("A patch sets and unsets members, and leaves the rest and the type alone")
  func patch() throws {
    let store = try TestStore()
    try store.apply([put(#"{"a":1,"b":[2],"c":3}"#)])
    let set = [member("b", "null"), member("d", #""x""#)]
    try store.apply([.patch(node("A"), set: set, unset: ["c", "z"])])
    let found = try store.reader.node(node("A"))
    let value = try #require(found.value?.text)
    #expect(try JSON.parse(value) == ["a": 1, "b": nil, "d": "x"])
    #expect(found.type == "t")
  }

  @Test("Without a value there is an empty object to be patched")
  func patchOfNothing() throws {
    let store = try TestStore()
    try store.apply([put(nil), .patch(node("A"), set: [member("a", "1")], unset: [])])
    #expect(try store.reader.node(node("A")).value?.text == #"{"a":1}"#)
  }

  @Test("A value that is no object cannot be patched", arguments: ["1", "[1]", #""x""#, "null"])
  func patchOfOther(value: String) throws {
    let store = try TestStore()
    try store.apply([put(value)])
    let reasons = try store.reasons([.patch(node("A"), set: [member("a", "1")], unset: [])])
    #expect(reasons.map(\.code) == [.invalid])
    #expect(try store.reader.node(node("A")).value?.text == value)
  }

  @Test("A patch of what is not there refuses the transaction", arguments: ["", "A !A", "B-0>A B"])
  func patchOfMissing(before: String) throws {
    let store = try TestStore()
    let patch = Change.patch(node("A"), set: [], unset: [])
    let reasons = try store.reasons(changes("Z \(before)") + [patch])
    #expect(reasons.map(\.code) == [.invalid])
    #expect(reasons.map(\.node) == [node("A")])
    #expect(reasons.first?.path == "changes[\(changes("Z \(before)").count)]")
    #expect(try !store.exists(node("Z")))
  }

  @Test("A patch keeps the edges")
  func patchKeepsEdges() throws {
    let store = try TestStore()
    try store.run("A{8>B} B")
    try store.apply([.patch(node("A"), set: [member("a", "1")], unset: [])])
    #expect(try store.graph() == "A=8>B")
  }

  // MARK: - Files

  private static let withFiles = "{ files: { media: '/srv/media', covers: '/srv/covers' } }"

  private func fileEdge(_ path: String, _ rules: Rules = 32) -> DeclaredEdge {
    DeclaredEdge(name: "f", destination: .file(root: "media", path: path), rules: rules)
  }

  private func released(_ store: TestStore) throws -> [String] {
    try Connection(path: store.path, access: .readOnly).all(
      """
      SELECT c.name, f.path FROM cascade_released_file AS f
      JOIN cascade_collection AS c ON c.id = f.collection ORDER BY f.id
      """
    ) { "\($0.text(0))/\($0.text(1))" }
  }

  @Test("A file is released with its last edge, and not before")
  func fileReleased() throws {
    let store = try TestStore(model: StoreModel(ManagedStoreTests.withFiles))
    try store.apply([
      .put(node("A"), type: nil, value: nil, edges: [fileEdge("1"), fileEdge("2")]),
      .put(node("B"), type: nil, value: nil, edges: [fileEdge("2")]),
    ])
    let receipt = try store.run("!A")
    #expect(receipt.deleted.letters == "A")
    #expect(receipt.deletedCount == 1)
    #expect(try released(store) == ["cascade_file/media/1"])
    #expect(try store.run("B{}").deletedCount == 0)
    #expect(try released(store) == ["cascade_file/media/1", "cascade_file/media/2"])
  }

  @Test("With rule 8 a file goes although others name it")
  func fileCascades() throws {
    let store = try TestStore(model: StoreModel(ManagedStoreTests.withFiles))
    try store.apply([
      .put(node("A"), type: nil, value: nil, edges: [fileEdge("1", 8)]),
      .put(node("B"), type: nil, value: nil, edges: [fileEdge("1")]),
    ])
    try store.run("!A")
    #expect(try released(store) == ["cascade_file/media/1"])
    #expect(try store.graph() == "")
  }

  @Test("A refused transaction releases no file")
  func fileKept() throws {
    let store = try TestStore(model: StoreModel(ManagedStoreTests.withFiles))
    try store.apply([.put(node("A"), type: nil, value: nil, edges: [fileEdge("1")])])
    try store.run("H H-128d>A")
    #expect(try store.refusals("A{} | !A") == ["denied A"])
    #expect(try released(store) == [])
    #expect(try store.graph() == "A=32f>file H-128d>A")
  }

  @Test("An unknown root is refused, and the nearest one named")
  func unknownRoot() throws {
    let store = try TestStore(model: StoreModel(ManagedStoreTests.withFiles))
    let file = Destination.file(root: "cover", path: "1")
    for change in [
      Change.link(name: "f", from: node("A"), to: file, rules: 32),
      .unlink(name: "f", from: node("A"), to: file, as: .sourceDeleted),
    ] {
      let reasons = try store.reasons([change])
      #expect(
        reasons.map(\.message)
          == ["the model has no file root \"cover\", did you mean \"covers\"?"])
    }
  }

  @Test("A file of the same name as a node is another thing")
  func fileIsNoNode() throws {
    let store = try TestStore(model: StoreModel(ManagedStoreTests.withFiles))
    let edge = DeclaredEdge(name: "f", destination: .file(root: "media", path: "A"), rules: 32)
    try store.apply([.put(node("media/A"), type: nil, value: nil, edges: [edge])])
    #expect(try store.run("!media/A").deletedCount == 1)
    #expect(try released(store) == ["cascade_file/media/A"])
  }

  // MARK: - Strict models

  @Test(
    "A strict model admits its own collections only",
    arguments: [
      "noets/1", "!noets/1", "notes/1-0>noets/1", "~noets/1->notes/1", "~notes/2->noets/1",
      "notes/1{0>noets/1}",
    ])
  func strict(script: String) throws {
    let store = try TestStore(model: StoreModel("{ strict: true, collections: { notes: {} } }"))
    let reasons = try store.reasons(changes("notes/1") + changes(script))
    #expect(
      reasons.map(\.message)
        == ["the model has no collection \"noets\" and is strict, did you mean \"notes\"?"])
    #expect(reasons.map(\.path) == ["changes[1]"])
  }

  @Test("A strict model knows no other collection after it was emptied either")
  func strictDeleteAll() throws {
    let store = try TestStore(model: StoreModel("{ strict: true, collections: { notes: {} } }"))
    let deleteAll = Change.deleteAll(collection: "noets")
    #expect(try store.reasons([deleteAll]).map(\.code) == [.invalid])
    #expect(try store.reasons([deleteAll] + changes("noets/1")).map(\.code) == [.invalid])
    #expect(try store.reasons(changes("notes/1")).isEmpty)
  }

  @Test(
    "A model that lists a collection without a table is as strict, if it does not say otherwise")
  func strictByItself() throws {
    let model = "{ collections: { notes: {} }, roots: ['pages'] }"
    let store = try TestStore(model: StoreModel(model))
    #expect(
      try store.reasons(changes("noets/1")).map(\.message) == [
        "the model has no collection \"noets\" and is strict, did you mean \"notes\"?; "
          + "`strict: false` in it allows others"
      ])
    #expect(try store.reasons(changes("pages/1")).isEmpty)
  }

  @Test(
    "Any other model makes a collection of every name",
    arguments: ["{}", "{ strict: false, collections: { notes: {} } }"])
  func lenient(model: String) throws {
    let store = try TestStore(model: StoreModel(model))
    #expect(try store.reasons(changes("noets/1")).isEmpty)
    #expect(try store.alive(in: "noets") == "noets/1")
  }

  // MARK: - Groups

  @Test("In a group each transaction is for itself")
  func group() throws {
    let store = try TestStore()
    try store.writer.group {
      for (index, script) in ["A", "B H H-128>B", "C !B", "D A-8>D", "!A"].enumerated() {
        var rest = changes(script)[...]
        let submission = Submission(
          id: "\(index)", author: nil, fingerprint: 1, at: Int64(index))
        let receipt = try? store.writer.apply(submission) { rest.popFirst() }
        #expect((receipt == nil) == (index == 2))
      }
    }
    #expect(try store.alive() == "B H")
    #expect(try store.writer.ledgerEntry("1")?.isComplete == true)
    #expect(try store.writer.ledgerEntry("2") == nil)
    #expect(try store.reader.fingerprint(ofId: "4") == 1)
    #expect(try store.reader.fingerprint(ofId: "5") == nil)
  }

  @Test("A group that fails leaves nothing, and the next one is whole")
  func failedGroup() throws {
    struct Failure: Error {}
    let store = try TestStore()
    try store.run("A B A-8>B")
    #expect(throws: Failure.self) {
      try store.writer.group {
        var rest = changes("!A C x/D C-8>x/D")[...]
        let submission = Submission(id: "lost", author: nil, fingerprint: 1, at: 1)
        _ = try store.writer.apply(submission) { rest.popFirst() }
        throw Failure()
      }
    }
    #expect(try store.alive() == "A B")
    #expect(try store.writer.ledgerEntry("lost") == nil)
    try store.run("C x/D C-8>x/D")
    #expect(try store.graph() == "A-8>B C-8>x/D")
    #expect(try store.gone("!A !C") == "A B C x/D")
  }
}
