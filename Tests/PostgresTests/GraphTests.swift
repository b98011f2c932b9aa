import CascadeModel
import CascadeStore
import PostgresStore
import PostgresSupport
import StoreDefinition
import Testing

@Suite("Graphs on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct GraphTests {
  private func graph(
    _ store: PostgresFixture, _ node: Node, depth: Int = 2, limit: Int = 50
  ) throws -> Graph {
    try #require(try store.reader.graph(around: node, depth: depth, limit: limit))
  }

  @Test("The surroundings of a node, and what its deletion takes along")
  func surroundings() throws {
    let store = try Music.store()
    let anna = Node("artists", .text("anna"))
    let graph = try graph(store, anna)
    let ends = graph.vertices.map { "\($0.depth) \($0.end.node!) \($0.isDeleted)" }
    let songs = try store.texts("SELECT id FROM song WHERE album_id LIKE 'a%' ORDER BY id")
    #expect(
      Set(ends)
        == Set(
          [
            "0 artists/anna true", "1 albums/a1 true", "1 albums/a2 true", "2 photos/1 true",
            "2 photos/2 false",
          ] + songs.map { "2 songs/\($0) true" }))
    #expect(graph.arrows.count == 2 + 2 + 3)
    #expect(graph.denials.isEmpty)
    // Two of the albums fit, and one edge leads to the other.
    let small = try self.graph(store, anna, limit: 2)
    #expect(small.vertices.count == 2)
    #expect(small.vertices[0].hiddenEdgeCount == 1)
    #expect(try store.reader.graph(around: Node("artists", .text("x")), depth: 1, limit: 9) == nil)
  }

  @Test("An edge that denies is marked, and leaves tell whether they would go")
  func denials() throws {
    let store = try PostgresFixture(
      """
      { collections: { songs: { table: "song", key: "id" }, tags: { table: "tag", key: "id" } },
        files: { media: "/nowhere" },
        relationships: [
          { name: "tag", from: "songs", to: "tags", column: "tag", rules: ["denyDestinationDeletion"] },
          { name: "cover", from: "tags", to: { files: "media" }, column: "cover",
            rules: ["deleteDestinationIfAllSourcesDeleted"] }] }
      """,
      schema: """
        CREATE TABLE song(id int PRIMARY KEY, tag int); CREATE TABLE tag(id int PRIMARY KEY, cover text);
        INSERT INTO song VALUES(1, 1); INSERT INTO tag VALUES(1, 'a.jpg'), (2, 'b.jpg');
        """)
    let denied = try graph(store, Node("tags", .integer(1)))
    #expect(denied.denials.count == 1)
    #expect(denied.arrows.filter(\.denies).map(\.edge.name) == ["tag"])
    let free = try graph(store, Node("tags", .integer(2)))
    #expect(free.vertices.map(\.isDeleted) == [true, true])
    #expect(free.vertices[1].end == .file(root: "media", path: "b.jpg"))
  }
}
