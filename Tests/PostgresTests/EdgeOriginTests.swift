import CascadeModel
import CascadeStore
import PostgresStore
import PostgresSupport
import StoreDefinition
import Testing

/// Edges of one name between the same nodes.
@Suite(
  "Manual and declared edges on PostgreSQL",
  .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct EdgeOriginTests {
  private func store(_ rules: String) throws -> PostgresFixture {
    let store = try PostgresFixture(
      """
      { collections: { notes: {}, images: {} }, relationships: [
        { name: "image", from: "notes", to: "images", property: "image", rules: [\(rules)] },
        { name: "image", from: "notes", to: "images", rules: [\(rules)] },
        { name: "seen", from: "notes", to: "images", rules: [\(rules)] }] }
      """, schema: "")
    let edges = ["image", "seen"].map { #"{"name": "\#($0)", "to": ["images", "i"]}"# }
    try store.change(
      #"{"put": ["images", "i"]}"#, #"{"link": \#(seen)}"#,
      #"{"put": ["notes", "n"], "value": {"image": "i"}, "edges": [\#(edges.joined(separator: ","))]}"#
    )
    return store
  }

  private let seen = #"{"name": "seen", "from": ["notes", "n"], "to": ["images", "i"]}"#

  @Test("They are two, with a notice each; one edge in two places has one notice")
  func notices() throws {
    let store = try store(#""notifyIfSourceDeleted""#)
    try store.change(#"{"delete": ["notes", "n"]}"#)
    let edges = try store.reader.notices(after: 0, limit: 10).map(\.edge)
    #expect(edges.filter { $0.origin == .manual }.count == 1)
    #expect(edges.filter { $0.name == "seen" }.count == 2)
    #expect(edges.filter { $0.name == "image" }.count == 1)
  }

  @Test("Neither keeps what the other one lets go")
  func removal() throws {
    let store = try store(#""deleteDestinationIfSourceDeleted""#)
    try store.change(#"{"unlink": \#(seen)}"#)
    #expect(try !store.exists(Node("images", .text("i"))))
  }

  @Test("A new reference to a missing node is told, and an older one is not told again")
  func missing() throws {
    let store = try PostgresFixture(
      """
      { collections: { notes: {}, images: {} }, relationships: [
        { name: "image", from: "notes", to: "images", property: "image",
          rules: ["notifyIfDestinationDeleted", "deleteSourceIfAllDestinationsDeleted"] },
        { name: "image", from: "notes", to: "notes", property: "like" }] }
      """, schema: "")
    try store.change(#"{"put": ["notes", "m"]}"#, #"{"put": ["images", "i"]}"#)
    try store.change(#"{"put": ["notes", "n"], "value": {"image": "i", "like": "m"}}"#)
    try store.change(#"{"delete": ["images", "i"]}"#)
    #expect(try store.lastNotice() == 1)
    let link = #"{"name": "of", "from": ["notes", "m"], "to": ["images", "i"], "rules": []}"#
    try store.change(#"{"link": \#(link)}"#, #"{"patch": ["notes", "n"], "set": {"a": 1}}"#)
    #expect(try store.exists(Node("notes", .text("n"))))
    #expect(try store.lastNotice() == 1)
  }
}
