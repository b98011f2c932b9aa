import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore
import Testing

@Suite("Querying for edges")
struct EdgeQueryTests {
  let store: TestStore

  init() throws {
    store = try TestStore()
    try store.run("A B C A-0>B A-0x>B A-0>C B-0>C B-0x>C C{0>A,0x>B} C-0>A")
  }

  /// Name, source and destination, each a letter or a dash for any.
  static let questions: [(text: String, edges: String)] = [
    ("---", "A-0>B A-0>C A-0x>B B-0>C B-0x>C C-0>A C=0>A C=0x>B"),
    ("x--", "A-0x>B B-0x>C C=0x>B"),
    ("-A-", "A-0>B A-0>C A-0x>B"),
    ("--B", "A-0>B A-0x>B C=0x>B"),
    ("xA-", "A-0x>B"),
    ("e-A", "C-0>A C=0>A"),
    ("-AB", "A-0>B A-0x>B"),
    ("eCA", "C-0>A C=0>A"),
    ("xCA", ""), ("y--", ""), ("-D-", ""), ("--D", ""), ("eAD", ""),
  ]

  private func query(_ text: String) -> EdgeQuery {
    let parts = text.map { $0 == "-" ? nil : String($0) }
    return EdgeQuery(
      name: parts[0], from: parts[1].map { node($0) }, to: parts[2].map { .node(node($0)) })
  }

  @Test("Any combination of name, source and destination is a query", arguments: questions)
  func combinations(text: String, edges: String) throws {
    let found = try store.reader.edges(query(text))
    #expect(found.edges.map(\.letters).sorted().joined(separator: " ") == edges)
    #expect(found.next == nil)
    #expect(try store.reader.count(query(text)) == found.edges.count)
  }

  @Test("Pages of any size give the same edges, each once", arguments: questions, 1...4)
  func pages(question: (text: String, edges: String), limit: Int) throws {
    var found: [Edge] = []
    var cursor: EdgeCursor?
    repeat {
      let page = try store.reader.edges(query(question.text), after: cursor, limit: limit)
      #expect(page.edges.count <= limit)
      found += page.edges
      cursor = page.next
    } while cursor != nil
    #expect(found.map(\.letters).sorted().joined(separator: " ") == question.edges)
  }

  @Test("A page continues behind an edge that was removed meanwhile")
  func removedMeanwhile() throws {
    let first = try store.reader.edges(EdgeQuery(), limit: 2)
    try store.run("~A-x>B ~A->B ~A->C")
    let rest = try store.reader.edges(EdgeQuery(), after: first.next, limit: 100)
    #expect(rest.edges.allSatisfy { $0.source != node("A") })
    #expect(rest.edges.count == 5)
  }

  @Test("An edge whose end somebody deleted by SQL ends no listing")
  func danglingAmong() throws {
    try store.bySQL("DELETE FROM cascade_node WHERE key = 'B'")
    var found: [String] = []
    var cursor: EdgeCursor?
    repeat {
      let page = try store.reader.edges(EdgeQuery(), after: cursor, limit: 2)
      found += page.edges.map(\.letters)
      cursor = page.next
    } while cursor != nil
    #expect(found.sorted() == ["A-0>C", "C-0>A", "C=0>A"])
  }

  @Test("An edge to a file is found by its file")
  func files() throws {
    let store = try TestStore(model: StoreModel("{ files: { media: '/srv' } }"))
    let file = Destination.file(root: "media", path: "a/1.jpg")
    let edge = DeclaredEdge(name: "cover", destination: file, rules: 32)
    try store.apply([.put(node("A"), type: nil, value: nil, edges: [edge])])
    #expect(try store.reader.edges(EdgeQuery(to: file)).edges.map(\.destination) == [file])
    #expect(try store.reader.count(EdgeQuery(to: .file(root: "media", path: "2"))) == 0)
    #expect(try store.reader.count(EdgeQuery(to: .file(root: "other", path: "a/1.jpg"))) == 0)
  }
}
