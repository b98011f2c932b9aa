import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteJournal

/// A model that says otherwise than the last one of what properties mean.
@Suite("Properties under a changed model")
struct ChangedPropertyTests {
  /// What the store's edges are once it was opened with other relationships.
  private func reopen(
    _ store: TestStore, _ relationships: String...
  ) throws -> Writer {
    try Writer(path: store.path, model: StoreModel(relationships: relationships))
  }

  private func filled(_ relationships: String...) throws -> TestStore {
    let store = try TestStore(model: StoreModel(relationships: relationships))
    try store.apply([
      put("1"), put("2"), put("m/1"), put("A", #"{"p":1,"q":[1,2],"t":"M"}"#),
      put("posts/1", #"{"p":1}"#, type: "photo"), put("posts/2", #"{"p":1}"#, type: "text"),
    ])
    return store
  }

  @Test("A relationship that comes finds its edges in the values, one that goes takes its away")
  func comesAndGoes() throws {
    let store = try filled()
    #expect(try store.graph() == "")
    _ = try reopen(store, "property: 'p'", "name: 'f', property: 'q', toMany: true")
    #expect(try store.graph() == "A=0>1 A=0f>1 A=0f>2")
    _ = try reopen(store, "name: 'f', property: 'q', toMany: true")
    #expect(try store.graph() == "A=0f>1 A=0f>2")
    _ = try reopen(store)
    #expect(try store.graph() == "")
  }

  @Test(
    "Name, rules, target, property, type and number are all looked at",
    arguments: [
      ("name: 'f', property: 'p'", "A=0f>1"),
      ("property: 'p', rules: ['deleteSourceIfDestinationDeleted']", "A=4>1"),
      ("property: 'p', to: 'm'", "A=0>m/1"),
      ("property: 'q', toMany: true", "A=0>1 A=0>2"),
      ("column: 'p', typeColumn: 't', to: { M: 'm' }", "A=0>m/1"),
      ("property: 'p', from: 'posts'", "posts/1=0>1 posts/2=0>1"),
      ("property: 'p', from: 'photos'", "posts/1=0>1"),
      ("property: 'p', from: 'texts'", "posts/2=0>1"),
      ("property: 'p', to: { files: 'media' }", ""),
    ])
  func differences(relationship: String, graph: String) throws {
    let store = try filled("property: 'p'")
    #expect(try store.graph() == "A=0>1")
    _ = try reopen(store, relationship)
    #expect(try store.graph() == graph)
    _ = try reopen(store, "property: 'p'")
    #expect(try store.graph() == "A=0>1")
  }

  @Test("The same model again writes nothing")
  func sameAgain() throws {
    let store = try filled("property: 'p'", "name: 'f', property: 'q', toMany: true")
    let before = try store.writer.foreignCommits()
    _ = try reopen(store, "property: 'p'", "name: 'f', property: 'q', toMany: true")
    #expect(try store.writer.foreignCommits() == before)
    _ = try reopen(store, "property: 'p'")
    #expect(try store.writer.foreignCommits() != before)
  }

  @Test("No rule runs and nothing is judged: what is missing has no edge, what misfits is skipped")
  func noRules() throws {
    let store = try TestStore()
    try store.apply([
      put("1"), put("A", #"{"p":["1","gone",{},1.5,"1"]}"#), put("B", #"{"p":"gone"}"#),
      put("C", #"{"p":{"x":1}}"#), put("D", "7"), put("E"),
    ])
    let rules: Rules = [.deleteSourceIfDestinationDeleted, .notifyIfDestinationDeleted]
    _ = try reopen(store, "property: 'p', toMany: true, min: 2, rules: \(rules.list)")
    #expect(try store.graph() == "A=6>1")
    #expect(try store.alive() == "1 A B C D E")
    #expect(try store.told() == [])
  }

  @Test("An edge that was found again is an old one: its removal runs its rules")
  func foundEdgesAreOld() throws {
    let store = try filled()
    let model = try StoreModel(
      relationships: ["property: 'p', rules: ['deleteDestinationIfSourceDeleted']"])
    let writer = try Writer(path: store.path, model: model)
    var rest = [put("A", "{}")][...]
    let submission = Submission(id: "later", author: nil, fingerprint: 1, at: 1)
    let receipt = try writer.group { try writer.apply(submission) { rest.popFirst() } }
    #expect(receipt.deleted.letters == "1")
    #expect(try store.alive() == "2 A")
  }

  @Test("Edges of others stay as they are")
  func others() throws {
    let store = try filled()
    try store.run("A-4>1 2{8>1}")
    _ = try reopen(store, "property: 'p'")
    _ = try reopen(store)
    #expect(try store.graph() == "2=8>1 A-4>1")
  }

  @Test("More objects than fit on a page are all read")
  func many() throws {
    let store = try TestStore()
    try store.apply([put("B")] + (0..<350).map { put("m/\($0)", #"{"p":"B"}"#) })
    _ = try reopen(store, "property: 'p', from: 'm'")
    #expect(try store.edges().count == 350)
  }
}
