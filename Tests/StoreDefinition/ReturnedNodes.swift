internal import CascadeModel
internal import CascadeStore
import Testing

/// A node that a change file deletes and puts again is the same node: an edge that it does not have again
/// was removed.
package struct ReturnedNodes {
  private let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  package enum Claim: String, CaseIterable, CustomTestStringConvertible {
    case deniesNothing = "An edge that it lacks then denies nothing when it is deleted after all"
    case denies = "An edge that it has again denies"
    case losesIt = "What follows from the loss of an edge follows"
    case neverWas = "An edge that the file has given it, and it lacks then, never was"

    package var testDescription: String { rawValue }
  }

  /// Where its edges are, and how it is deleted first.
  package enum Place: String, CaseIterable, CustomTestStringConvertible {
    case row = "a row"
    case object = "an object"
    case all = "a row of a collection that is emptied"

    package var testDescription: String { rawValue }

    fileprivate var collection: String { self == .object ? "notes" : "songs" }
    fileprivate func node(_ number: Int64) -> Node {
      Node(collection, self == .object ? .text("\(number)") : .integer(number))
    }
  }

  package func expect(_ claim: Claim, _ place: Place) throws {
    let store = try store()
    let (one, two) = (place.node(1), place.node(2))
    func deletion(of node: Node) -> Change {
      place == .all ? .deleteAll(collection: place.collection) : .delete(node)
    }
    switch claim {
    case .deniesNothing:
      try store.apply([deletion(of: one), put(one), .delete(one)])
      #expect(try !store.exists(one))
    case .denies:
      let reasons = try store.reasons([deletion(of: one), put(one, album: 1), .delete(one)])
      #expect(reasons.map(\.code) == [.denied])
    case .losesIt:
      try store.apply([deletion(of: one), put(one)])
      #expect(try labels(store) == ["2"])
    case .neverWas:
      try store.apply([
        put(two, label: 2), deletion(of: two), put(two), put(one, album: 1, label: 1),
      ])
      #expect(try labels(store) == ["1", "2"])
    }
  }

  private func labels(_ store: any StoreUnderTest) throws -> [String] {
    try store.texts("SELECT CAST(id AS TEXT) FROM label ORDER BY id")
  }

  private func put(_ node: Node, album: Int64? = nil, label: Int64? = nil) -> Change {
    let members = [("album", album), ("label", label)].map { name, key in
      JSON.Field(name, key.map { .integer($0) } ?? .null)
    }
    return .put(node, type: nil, value: JSONText(.object(members)), edges: nil)
  }

  /// Song 1 and note 1 have the album 1, which denies their deletion, and the label 1, which goes with
  /// them.
  private func store() throws -> any StoreUnderTest {
    let store = try engine.makeStore(
      model: StoreModel(
        """
        { collections: {
            songs: { table: "song", key: "id" }, albums: { table: "album", key: "id" },
            labels: { table: "label", key: "id" }, notes: {} },
          relationships: [
            { name: "album", from: "songs", to: "albums", column: "album",
              rules: ["denySourceDeletion"] },
            { name: "label", from: "songs", to: "labels", column: "label",
              rules: ["deleteDestinationIfSourceDeleted"] },
            { name: "album", from: "notes", to: "albums", property: "album",
              rules: ["denySourceDeletion"] },
            { name: "label", from: "notes", to: "labels", property: "label",
              rules: ["deleteDestinationIfSourceDeleted"] }] }
        """),
      schema: """
        CREATE TABLE song(id INTEGER PRIMARY KEY, album INTEGER, label INTEGER);
        CREATE TABLE album(id INTEGER PRIMARY KEY); CREATE TABLE label(id INTEGER PRIMARY KEY);
        CREATE INDEX song_album ON song(album); CREATE INDEX song_label ON song(label);
        INSERT INTO album VALUES(1); INSERT INTO label VALUES(1), (2);
        INSERT INTO song VALUES(1, 1, 1);
        """)
    try store.apply([put(Node("notes", .text("1")), album: 1, label: 1)])
    return store
  }
}
