import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing

/// Questions about what would go, what went, and why.
@Suite("Plan and why")
struct PlanAndWhyTests {
  let store: TestStore

  init() throws { store = try TestStore() }

  private func holders(of letters: String) throws -> [String]? {
    guard case .alive(let holders, let total, _) = try store.reader.why(node(letters)) else {
      return nil
    }
    #expect(total == holders.count)
    return holders.map(\.letters)
  }

  // MARK: - Plan

  @Test("A plan names what would go, and the edge that takes each, and changes nothing")
  func plan() throws {
    try store.run("A x/B C D A-8>x/B C-4b>x/B A-32d>D")
    let plan = try store.reader.plan(deleting: [node("A")])
    #expect(plan.steps.map(\.node.letters) == ["A", "D", "x/B", "C"])
    #expect(plan.steps.map(\.edge?.letters) == [nil, "A=32d>D", "A=8>x/B", "C=4b>x/B"])
    #expect(plan.steps.last?.rule == "deleteSourceIfDestinationDeleted")
    #expect(plan.deletedCount == 4)
    #expect(plan.byCollection == ["n": 3, "x": 1])
    #expect(plan.byRule.values.sorted() == [1, 1, 1])
    #expect(plan.denials.isEmpty)
    #expect(try store.alive() == "A C D")
    #expect(try store.reader.plan(deleting: [node("C")]).deletedCount == 1)
  }

  @Test("A plan says what its execution does", arguments: RuleTests.maps)
  func planIsDone(graph: String, deletion: String, gone: String) throws {
    let nodes = Set(graph.filter { $0.isUppercase }).map(String.init).sorted()
    try store.run(nodes.joined(separator: " ") + " " + graph)
    let asked = deletion.split(separator: " ").map { node($0.dropFirst()) }
    #expect(try store.reader.plan(deleting: asked).steps.map(\.node).letters == gone)
    #expect(try store.gone(deletion) == gone)
  }

  @Test("A plan lists what would deny it")
  func denials() throws {
    try store.run("A B H A-8>B H-128>B")
    let plan = try store.reader.plan(deleting: [node("A")])
    #expect(plan.denials.compactMap(\.edge).map(\.letters) == ["H-128>B"])
    #expect(try store.reader.plan(deleting: [node("A"), node("H")]).denials.isEmpty)
  }

  @Test("What is not there is no part of a plan")
  func missing() throws {
    try store.run("A")
    let composite = Node("n", .composite([.text("A")]))
    let plan = try store.reader.plan(deleting: [node("Z"), node("z/A"), composite])
    #expect(plan.steps.isEmpty)
    #expect(plan.deletedCount == 0)
  }

  // MARK: - Why

  @Test("What went names its batch, its file and its author")
  func deleted() throws {
    try store.run("A")
    let receipt = try store.apply(changes("!A"), id: "the file")
    let deletion = try #require(try store.deletion(of: "A"))
    #expect(deletion.batch == receipt.batch)
    #expect((deletion.id, deletion.author) == ("the file", "test"))
    #expect(deletion.chain.map(\.node.letters) == ["A"])
    #expect(deletion.chain[0].edge == nil)
  }

  @Test("The chain leads back to the first cause")
  func chain() throws {
    try store.run("A B C D A-8>B C-4>B C-32>D")
    try store.run("!A")
    let chain = try #require(try store.deletion(of: "D")).chain
    #expect(chain.map(\.node.letters) == ["D", "C", "B", "A"])
    #expect(chain.map(\.edge?.letters) == ["C=32>D", "C=4>B", "A=8>B", nil])
    #expect(chain.first?.rule == "deleteDestinationIfAllSourcesDeleted")
  }

  @Test("A chain may begin with an edge that was removed from a node which lives")
  func chainOfRemovedEdge() throws {
    try store.run("A B C A-8>B B-8>C")
    try store.run("~A->B")
    let chain = try #require(try store.deletion(of: "C")).chain
    #expect(chain.map(\.edge?.letters) == ["B=8>C", "A=8>B"])
    try store.run("!A")
    #expect(try #require(try store.deletion(of: "B")).chain.count == 1)
  }

  @Test("The last deletion is told, and a node that is back is alive")
  func lastDeletion() throws {
    try store.run("A B A-8>B")
    try store.run("!A")
    try store.run("B")
    #expect(try holders(of: "B") == [])
    let receipt = try store.run("!B")
    #expect(try store.deletion(of: "B")?.batch == receipt.batch)
    #expect(try store.deletion(of: "B")?.chain.count == 1)
  }

  @Test("Who is alive is held by the edges to it, and by those that deny or count")
  func alive() throws {
    try store.run("A B C D E B-0>A A-256>C A-16d>D A-0>E A-8b>B")
    #expect(try holders(of: "A") == ["A-16d>D", "A-256>C", "B-0>A"])
    #expect(try holders(of: "E") == ["A-0>E"])
    try store.run("A-256>A")
    #expect(try holders(of: "A")?.count == 4)
  }

  @Test("What was never there is unknown, and so is what nobody keeps")
  func unknown() throws {
    #expect(try store.isUnknown("A"))
    #expect(try store.isUnknown("x/A"))
    let forgetful = try TestStore(model: StoreModel("{ trash: '0' }"))
    try forgetful.run("A B A-8>B")
    #expect(try forgetful.gone("!A") == "A B")
    #expect(try forgetful.isUnknown("B"))
  }

  // MARK: - Nodes

  @Test("Nodes come in pages, in the order of their keys")
  func pages() throws {
    try store.run("E C A D B x/Z")
    var pages: [String] = []
    var last: Key?
    while case let page = try store.reader.nodes(in: "n", after: last, limit: 2), !page.isEmpty {
      pages.append(page.map(\.node).letters)
      last = page.last?.node.key
    }
    #expect(pages == ["A B", "C D", "E"])
    #expect(try store.reader.nodes(in: "unknown", after: nil, limit: 2).isEmpty)
  }

  @Test("A node is given back as it was put")
  func stored() throws {
    let value = JSONText(valid: #"{"b":1.50, "a":"\u00e9"}"#)
    try store.apply([.put(node("A"), type: "photo", value: value, edges: nil)])
    let found = try store.reader.node(node("A"))
    #expect((found.exists, found.type, found.value) == (true, "photo", value))
    try store.run("A")
    let replaced = try store.reader.node(node("A"))
    #expect((replaced.exists, replaced.type, replaced.value) == (true, nil, nil))
    #expect(try !store.exists(node("B")))
  }

  @Test("Only an edge names it: such a node is nowhere to be seen")
  func namedOnly() throws {
    try store.run("A A-0>B")
    #expect(try !store.exists(node("B")))
    #expect(try store.alive() == "A")
  }
}
