internal import CascadeModel
internal import CascadeStore
import Testing

/// Writes by which the very node goes that they write.
package struct OwnDeletions {
  private let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  package enum Claim: String, CaseIterable, CustomTestStringConvertible {
    case areTold =
      "A write that deletes what it writes is applied, and the receipt lists the node"
    case areRejected =
      "It is rejected where the file, or the change, does not allow it"
    case areAllowedByOne =
      "A change may allow it where the file does not, and the reverse"
    case areNoOthers =
      "What goes by an edge that was there before is no own deletion"
    case areOfNewEdges =
      "A new reference to what the same file deletes is one"
    case areOfAnyPlace =
      "It is told whether the edge is in a column, a list, an object, a list of edges or made by hand"

    package var testDescription: String { rawValue }
  }

  package func expect(_ claim: Claim) throws {
    switch claim {
    case .areTold: try areTold()
    case .areRejected: try areRejected()
    case .areAllowedByOne: try areAllowedByOne()
    case .areNoOthers: try areNoOthers()
    case .areOfNewEdges: try areOfNewEdges()
    case .areOfAnyPlace: try areOfAnyPlace()
    }
  }

  private static let model = """
    { collections: { photos: { table: 'photo', key: 'id' }, albums: { table: 'album', key: 'id' },
        marks: { table: 'mark', key: 'id' }, notes: {} },
      relationships: [
        { name: 'album', from: 'photos', to: 'albums', column: 'album_id',
          rules: ['deleteSourceIfDestinationDeleted'] },
        { name: 'photo', from: 'marks', to: 'photos', column: 'photo_id',
          rules: ['deleteSourceIfDestinationDeleted'] },
        { name: 'shelves', from: 'photos', to: 'albums', property: 'shelves', toMany: true,
          rules: ['deleteSourceIfAllDestinationsDeleted'] },
        { name: 'about', from: 'notes', to: 'albums', property: 'about',
          rules: ['deleteSourceIfDestinationDeleted'] },
        { name: 'of', from: 'notes', to: 'albums', rules: ['deleteSourceIfDestinationDeleted'] }] }
    """

  private func store() throws -> any StoreUnderTest {
    try engine.makeStore(
      model: StoreModel(OwnDeletions.model),
      schema: """
        CREATE TABLE album(id integer PRIMARY KEY);
        CREATE TABLE photo(id integer PRIMARY KEY, title text, album_id integer, shelves text);
        CREATE TABLE mark(id integer PRIMARY KEY, photo_id integer);
        CREATE INDEX photo_album ON photo(album_id); CREATE INDEX mark_photo ON mark(photo_id);
        INSERT INTO album VALUES(1); INSERT INTO photo VALUES(1, 'a', 1, NULL);
        INSERT INTO mark VALUES(1, 1);
        """)
  }

  private let photo = Node("photos", .integer(1))

  private func areTold() throws {
    let store = try store()
    let edited = try store.change(#"{"patch": ["photos", 1], "set": {"album_id": 9}}"#)
    #expect(edited.outcome == .applied)
    #expect(edited.deletedOwn == [photo])
    #expect(edited.deletedCount == 2)
    let made = try store.change(#"{"put": ["photos", 2], "value": {"album_id": 9}}"#)
    #expect(made.deletedOwn == [Node("photos", .integer(2))])
    #expect(try store.texts("SELECT id FROM photo") == [])
    let harmless = try store.change(
      #"{"put": ["photos", 2], "value": {"album_id": 1}}"#, #"{"delete": ["photos", 2]}"#)
    #expect(harmless.deletedOwn == [])
  }

  private func areRejected() throws {
    let store = try store()
    for (change, header) in [
      (#"{"patch": ["photos", 1], "set": {"album_id": 9}, "mayDeleteItself": false}"#, ""),
      (#"{"patch": ["photos", 1], "set": {"album_id": 9}}"#, #""mayDeleteItself": false,"#),
      (#"{"put": ["photos", 1], "value": {"album_id": 9}, "mayDeleteItself": false}"#, ""),
      (#"{"put": ["photos", 1], "value": {"album_id": 9}}"#, #""mayDeleteItself": false,"#),
    ] {
      let reasons = try store.reasons(ofChange: change, header: header)
      #expect(reasons.map(\.code) == [.deletesItself], "\(change)")
      #expect(reasons.first?.node == photo)
      #expect(reasons.first?.edge?.name == "album")
      #expect(reasons.first?.edge?.source == photo)
      #expect(reasons.first?.edge?.destination == .node(Node("albums", .integer(9))))
    }
    #expect(try store.texts("SELECT album_id FROM photo") == ["1"])
    let kept = try store.change(
      #"{"put": ["photos", 2], "value": {"album_id": 9}}"#, #"{"put": ["albums", 9]}"#,
      header: #""mayDeleteItself": false,"#)
    #expect(kept.deletedCount == 0)
  }

  private func areAllowedByOne() throws {
    let store = try store()
    let put = #"{"put": ["photos", 2], "value": {"album_id": 9}"#
    let allowed = try store.change(
      #"\#(put), "mayDeleteItself": true}"#, header: #""mayDeleteItself": false,"#)
    #expect(allowed.deletedOwn == [Node("photos", .integer(2))])
    let reasons = try store.reasons(
      ofChange: #"\#(put), "mayDeleteItself": true}"#,
      #"{"patch": ["photos", 1], "set": {"album_id": 9}}"#, header: #""mayDeleteItself": false,"#)
    #expect(reasons.map(\.node) == [photo])
    let last = try store.reasons(
      ofChange: #"\#(put), "mayDeleteItself": true}"#,
      #"{"patch": ["photos", 2], "set": {"title": "x"}}"#, #"\#(put), "mayDeleteItself": false}"#)
    #expect(last.map(\.code) == [.deletesItself])
  }

  private func areNoOthers() throws {
    let store = try store()
    let receipt = try store.change(
      #"{"patch": ["photos", 1], "set": {"title": "x"}}"#,
      #"{"put": ["photos", 1], "value": {"title": "y", "album_id": 1}}"#,
      #"{"delete": ["albums", 1]}"#, header: #""mayDeleteItself": false,"#)
    #expect(receipt.deletedCount == 3)
    #expect(receipt.deletedOwn == [])
  }

  private func areOfNewEdges() throws {
    let store = try store()
    let changes = [
      #"{"delete": ["albums", 1]}"#, #"{"put": ["photos", 2], "value": {"album_id": 1}}"#,
    ]
    let receipt = try store.change(changes[0], changes[1])
    #expect(receipt.deletedOwn == [Node("photos", .integer(2))])
    #expect(receipt.deletedCount == 4)
    let chain = try store.change(
      #"{"put": ["marks", 2], "value": {"photo_id": 3}}"#,
      #"{"put": ["photos", 3], "value": {"album_id": 9}}"#)
    #expect(
      Set(chain.deletedOwn) == [Node("photos", .integer(3)), Node("marks", .integer(2))])
  }

  private func areOfAnyPlace() throws {
    let store = try store()
    try store.change(#"{"put": ["notes", "linked"]}"#)
    for (change, node) in [
      (#"{"patch": ["photos", 1], "set": {"shelves": [8, 9]}}"#, photo),
      (#"{"put": ["notes", "a"], "value": {"about": 9}}"#, node("notes/a")),
      (
        #"{"put": ["notes", "b"], "edges": [{"name": "of", "to": ["albums", 9]}]}"#, node("notes/b")
      ),
      (
        #"{"link": {"name": "of", "from": ["notes", "linked"], "to": ["albums", 9]}}"#,
        node("notes/linked")
      ),
    ] {
      let reasons = try store.reasons(ofChange: change, header: #""mayDeleteItself": false,"#)
      #expect(reasons.map(\.node) == [node], "\(change)")
      let receipt = try store.change(change)
      #expect(receipt.deletedOwn == [node], "\(change)")
    }
  }
}
