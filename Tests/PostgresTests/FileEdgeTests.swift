import CascadeModel
import CascadePostgres
import CascadeStore
import PostgresStore
import PostgresSupport
import StoreDefinition
import Testing

/// Stored edges to files.
@Suite(
  "Stored edges to files beside PostgreSQL",
  .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct FileEdgeTests {
  private static let a1 = Node("albums", .text("a1"))
  private static let b1 = Node("albums", .text("b1"))

  private static func file(_ path: String, root: String = "media") -> Destination {
    .file(root: root, path: path)
  }

  private static func link(
    _ node: Node, _ path: String, _ name: String = "cover", rules: Rules? = nil
  ) -> Change {
    .link(name: name, from: node, to: file(path), rules: rules)
  }

  @Test("Edges of change files keep files until their source goes, and an undo brings both back")
  func stored() throws {
    let covers = try Covers(place: "toMany: true")
    let store = covers.store
    let receipt = try store.apply([
      Self.link(Self.a1, "covers/1.jpg"), Self.link(Self.a1, "2.jpg"), Self.link(Self.b1, "2.jpg"),
    ])
    #expect(receipt.edgesAdded == 3)
    #expect(try store.reader.checkFiles(covers.paths, limit: 9).total == 0)
    #expect(try store.reader.count(EdgeQuery(name: "cover")) == 3)
    let first = try store.reader.edges(EdgeQuery(name: "cover"), after: nil, limit: 2)
    let rest = try store.reader.edges(EdgeQuery(name: "cover"), after: first.next, limit: 9)
    #expect(Set((first.edges + rest.edges).map(\.json.text)).count == 3)
    #expect(try store.reader.plan(deleting: [Node("artists", .text("anna"))]).files == 1)
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    let result = try store.sweep()
    try covers.settle()
    #expect(covers.isKept("covers/1.jpg", result.batch))
    #expect(covers.text("2.jpg") == "2.jpg")
    let undone = try store.writer.undo(#require(result.batch), by: "me", at: 2)
    #expect(undone.edges == 2 && undone.files == 1)
    try covers.tend()
    #expect(covers.text("covers/1.jpg") == "covers/1.jpg")
    guard case .alive(let holders, 1, _) = try store.reader.why(Self.file("covers/1.jpg")) else {
      Issue.record("not alive")
      return
    }
    #expect(holders.map(\.source) == [Self.a1] && holders.map(\.origin) == [.manual])
  }

  @Test("An unlinked file goes, unless the removal counts as no loss or the edge never was")
  func unlinked() throws {
    let covers = try Covers(place: "toMany: true")
    let store = covers.store
    try covers.write("3.jpg")
    try store.apply(["covers/1.jpg", "2.jpg"].map { Self.link(Self.a1, $0) })
    func unlink(_ path: String, _ removal: Removal) -> Change {
      .unlink(name: "cover", from: Self.a1, to: Self.file(path), as: removal)
    }
    let receipt = try store.apply([
      unlink("covers/1.jpg", .sourceDeleted), unlink("2.jpg", .edgeDeleted),
      Self.link(Self.a1, "3.jpg"), unlink("3.jpg", .sourceDeleted), unlink("4.jpg", .edgeDeleted),
    ])
    #expect(receipt.files == 1 && receipt.skippedChanges == 1)
    try covers.settle()
    #expect(covers.isKept("covers/1.jpg", receipt.batch))
    #expect(covers.text("2.jpg") == "2.jpg" && covers.text("3.jpg") == "3.jpg")
  }

  @Test("What a node declares replaces what it declared, also with rules of its own")
  func declared() throws {
    let covers = try Covers(place: "toMany: true", collections: "notes: {},")
    let store = covers.store
    func put(_ paths: [String], _ rules: Rules) -> Change {
      .put(
        Node("notes", .text("n")), type: nil, value: nil,
        edges: paths.map {
          DeclaredEdge(name: "image", destination: Self.file($0), rules: rules)
        })
    }
    try store.apply([put(["covers/1.jpg", "2.jpg"], .deleteDestinationIfAllSourcesDeleted)])
    // An edge that gets other rules lets nothing go.
    let receipt = try store.apply([put(["2.jpg"], .deleteDestinationIfSourceDeleted)])
    #expect(receipt.files == 1 && receipt.edgesRemoved == 1 && receipt.edgesAdded == 0)
    try covers.settle()
    #expect(covers.isKept("covers/1.jpg", receipt.batch) && covers.text("2.jpg") == "2.jpg")
    let last = try store.apply([.delete(Node("notes", .text("n")))])
    try covers.settle()
    #expect(covers.isKept("2.jpg", last.batch))
  }

  @Test("An edge of a source that is not there goes at once, and an unknown root is refused")
  func missing() throws {
    let covers = try Covers(place: "toMany: true")
    let receipt = try covers.store.apply([Self.link(Node("albums", .text("x")), "2.jpg")])
    #expect(receipt.edgesAdded == 1 && receipt.edgesRemoved == 1)
    #expect(try covers.store.reader.count(EdgeQuery(name: "cover")) == 0)
    let unknown = Change.link(
      name: "cover", from: Self.a1, to: Self.file("1.jpg", root: "medja"),
      rules: .deleteDestinationIfSourceDeleted)
    #expect(
      try covers.store.reasons([unknown]).first?.message
        == #"the model has no file root "medja", did you mean "media"?"#)
  }
}
