internal import CascadeModel
package import CascadeStore
import Testing

/// What change files write into rows and objects, and what they demand of them.
package struct WrittenValues {
  private let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  package enum Claim: String, CaseIterable, CustomTestStringConvertible {
    case sayWhatJSONCannot =
      "Bytes, infinity and texts in base64 are written as what they are"
    case areStrict =
      "A value in such a form that is none of it is rejected with the column"
    case areOrdinaryElsewhere =
      "In an object, or beside other members, such a member is an ordinary one"
    case leaveWhatIsSame =
      "A put writes no column that has the value already"
    case mergeRows =
      "A put that merges leaves the columns that it does not give, and inserts a row that is not there"
    case mergeObjects =
      "A put that merges leaves the members, the type and the list of an object that it does not give"
    case expectValues =
      "A change is rejected where the row has other values than it expects"
    case expectObjects =
      "A change is rejected where an object has other members than it expects"
    case expectDocuments =
      "Lists and objects are unchanged however they are written"
    case haveEmptyKeys =
      "A text key may be empty, in a table and in an object"
    case haveAnyLetters =
      "The parts of a key may have any letters, also those that JSON or a terminal escapes"
    case referByEmptyKeys =
      "What refers to an empty key goes with it, by a column and by a property"

    package var testDescription: String { rawValue }
  }

  package func expect(_ claim: Claim) throws {
    switch claim {
    case .sayWhatJSONCannot: try sayWhatJSONCannot()
    case .areStrict: try areStrict()
    case .areOrdinaryElsewhere: try areOrdinaryElsewhere()
    case .leaveWhatIsSame: try leaveWhatIsSame()
    case .mergeRows: try mergeRows()
    case .mergeObjects: try mergeObjects()
    case .expectValues: try expectValues()
    case .expectObjects: try expectObjects()
    case .expectDocuments: try expectDocuments()
    case .haveEmptyKeys: try haveEmptyKeys()
    case .haveAnyLetters: try haveAnyLetters()
    case .referByEmptyKeys: try referByEmptyKeys()
    }
  }

  private func store(_ more: String = "") throws -> any StoreUnderTest {
    try engine.makeStore(
      model: StoreModel("{ collections: { photos: { table: 'photo', key: 'id' }, notes: {} } }"),
      schema: """
        CREATE TABLE photo(id integer PRIMARY KEY, title text, size double precision,
          data \(engine.typeOfBytes), plays integer NOT NULL DEFAULT 7, place text, list text);
        \(more)
        """)
  }

  // MARK: - What JSON cannot say

  private func sayWhatJSONCannot() throws {
    let store = try store()
    try store.change(
      #"{"put": ["photos", 1], "value": {"data": {"$blob": "AP9BQg=="}, "title": {"$text": "w6Q="}}}"#,
      #"{"put": ["photos", 2], "value": {"size": {"$real": "Infinity"}, "data": {"$blob": ""}}}"#,
      #"{"patch": ["photos", 2], "set": {"title": "x"}}"#,
      #"{"put": ["photos", 3], "value": {"size": {"$real": "-Infinity"}}}"#)
    #expect(try store.texts("SELECT \(store.hex("data")) FROM photo WHERE id = 1") == ["00ff4142"])
    #expect(try store.texts("SELECT title FROM photo WHERE id < 3 ORDER BY id") == ["ä", "x"])
    #expect(try store.texts("SELECT length(data) FROM photo WHERE id = 2") == ["0"])
    #expect(try store.texts("SELECT id FROM photo WHERE size > 1e300") == ["2"])
    #expect(try store.texts("SELECT id FROM photo WHERE size < -1e300") == ["3"])
  }

  private func areStrict() throws {
    let store = try store()
    for value in [
      #"{"$blob": "AP9BQg"}"#, #"{"$blob": "A_9BQg=="}"#, #"{"$blob": "AB=="}"#, #"{"$blob": 5}"#,
      #"{"$blob": null}"#, #"{"$text": "?"}"#, #"{"$real": "inf"}"#, #"{"$real": 1}"#,
      #"{"$real": "1.5"}"#,
    ] {
      let reasons = try store.reasons(
        ofChange: #"{"put": ["photos", 1], "value": {"data": \#(value)}}"#)
      #expect(reasons.map(\.code) == [.invalid], "\(value)")
      #expect(reasons.first?.message.contains("\"data\"") == true, "\(reasons)")
      #expect(reasons.first?.path == "changes[0]")
    }
    #expect(try store.texts("SELECT id FROM photo") == [])
  }

  private func areOrdinaryElsewhere() throws {
    let store = try store()
    try store.change(
      #"{"put": ["notes", "a"], "value": {"x": {"$blob": "?"}}}"#,
      #"{"patch": ["notes", "a"], "set": {"y": {"$real": 1}}}"#,
      #"{"put": ["photos", 1], "value": {"list": {"$blob": "?", "b": 1}, "title": [{"$text": "?"}]}}"#
    )
    #expect(
      try store.reader.node(node("notes/a")).value?.json["x"] == ["$blob": "?"])
    #expect(try store.reader.node(node("notes/a")).value?.json["y"] == ["$real": 1])
    #expect(
      try store.texts("SELECT list FROM photo").map { try JSON.parse($0) }
        == [["$blob": "?", "b": 1]])
  }

  // MARK: - Columns that stay

  private func leaveWhatIsSame() throws {
    let store = try store(engine.counting(updatesOf: ["title", "size", "data"], of: "photo"))
    let values = #""title": "a", "size": 1.5, "data": {"$blob": "AAE="}, "plays": 7"#
    try store.change(#"{"put": ["photos", 1], "value": {\#(values)}}"#)
    try store.change(#"{"put": ["photos", 1], "value": {\#(values)}}"#)
    #expect(try store.texts("SELECT name FROM counted ORDER BY name") == [])
    try store.change(
      #"{"put": ["photos", 1], "value": {\#(values.replacing("\"a\"", with: "\"b\""))}}"#)
    #expect(try store.texts("SELECT name FROM counted ORDER BY name") == ["title"])
    try store.change(#"{"put": ["photos", 1], "value": {"title": "b", "size": 1.5}}"#)
    #expect(try store.texts("SELECT name FROM counted ORDER BY name") == ["data", "title"])
    #expect(try store.texts("SELECT id FROM photo WHERE data IS NULL") == ["1"])
  }

  private func mergeRows() throws {
    let store = try store()
    try store.bySQL("INSERT INTO photo(id, title, plays, place) VALUES(1, 'a', 3, 'Rome')")
    let receipt = try store.change(
      #"{"put": ["photos", 1], "value": {"title": "b"}, "merge": true}"#,
      #"{"put": ["photos", 2], "value": {"title": "c"}, "merge": true}"#,
      #"{"put": ["photos", 1], "merge": true}"#)
    #expect(receipt.outcome == .applied)
    #expect(try store.texts("SELECT title FROM photo ORDER BY id") == ["b", "c"])
    #expect(try store.texts("SELECT plays FROM photo ORDER BY id") == ["3", "7"])
    #expect(try store.texts("SELECT place FROM photo WHERE id = 1") == ["Rome"])
    try store.change(#"{"put": ["photos", 1], "value": {"title": "d"}}"#)
    #expect(
      try store.texts("SELECT plays FROM photo WHERE place IS NULL ORDER BY id") == ["7", "7"])
  }

  private func mergeObjects() throws {
    let store = try store()
    try store.change(
      #"{"put": ["notes", "a"], "type": "t", "value": {"x": 1, "y": [2]}, "edges": [{"name": "e", "to": ["notes", "b"], "rules": []}]}"#,
      #"{"put": ["notes", "b"]}"#,
      #"{"put": ["notes", "a"], "value": {"x": 3, "z": 4}, "merge": true}"#,
      #"{"put": ["notes", "c"], "value": {"x": 5}, "merge": true}"#)
    let a = try store.reader.node(node("notes/a"))
    #expect(a.value?.json == ["x": 3, "y": [2], "z": 4])
    #expect(a.type == "t")
    #expect(try store.edges().count == 1)
    #expect(try store.reader.node(node("notes/c")).value?.json == ["x": 5])
    let reasons = try store.reasons(
      ofChange: #"{"put": ["notes", "a"], "value": [1], "merge": true}"#)
    #expect(reasons.map(\.code) == [.invalid])
  }

  // MARK: - Values that are expected

  private func expectValues() throws {
    let store = try store()
    try store.change(
      #"{"put": ["photos", 1], "value": {"title": "a", "size": 2, "data": {"$blob": "AAE="}}}"#)
    let same =
      #""title": "a", "size": 2.0, "data": {"$blob": "AAE="}, "plays": 7, "place": null, "id": 1"#
    try store.change(
      #"{"patch": ["photos", 1], "set": {"plays": 8}, "ifUnchanged": {\#(same)}}"#,
      #"{"patch": ["photos", 1], "set": {"plays": 9}, "ifUnchanged": {"plays": 8}}"#)
    for other in [
      #""title": "A""#, #""title": null"#, #""size": 3"#, #""data": {"$blob": "AAI="}"#,
      #""data": null"#, #""plays": 8"#, #""place": """#, #""title": {"$text": "Yg=="}"#,
    ] {
      for change in [#""patch": ["photos", 1], "set": {"plays": 1}"#, #""delete": ["photos", 1]"#] {
        let reasons = try store.reasons(
          ofChange: #"{\#(change), "ifUnchanged": {\#(other)}}"#)
        #expect(reasons.map(\.code) == [.changed], "\(other)")
        #expect(reasons.first?.node == Node("photos", .integer(1)))
      }
    }
    #expect(try store.texts("SELECT plays FROM photo") == ["9"])
    try expectMissing(in: store)
    try store.change(#"{"delete": ["photos", 1], "ifUnchanged": {"plays": 9}}"#)
    #expect(try store.texts("SELECT id FROM photo") == [])
  }

  private func expectMissing(in store: any StoreUnderTest) throws {
    for change in [#""patch": ["photos", 2], "set": {"plays": 1}"#, #""delete": ["photos", 2]"#] {
      let reasons = try store.reasons(ofChange: #"{\#(change), "ifUnchanged": {}}"#)
      #expect(reasons.map(\.code) == [.changed])
    }
    let later = try store.reasons(
      ofChange: #"{"delete": ["photos", 1]}"#,
      #"{"patch": ["photos", 1], "set": {"plays": 1}, "ifUnchanged": {"title": "a"}}"#)
    #expect(later.map(\.code) == [.changed])
    #expect(later.first?.path == "changes[1]")
    let unknown = try store.reasons(
      ofChange: #"{"delete": ["photos", 1], "ifUnchanged": {"titel": "a"}}"#)
    #expect(unknown.map(\.code) == [.invalid])
  }

  private func expectObjects() throws {
    let store = try store()
    try store.change(#"{"put": ["notes", "a"], "value": {"x": 1, "y": {"b": [1], "c": null}}}"#)
    try store.change(
      #"{"patch": ["notes", "a"], "set": {"z": 1}, "ifUnchanged": {"x": 1.0, "w": null, "y": {"c": null, "b": [1]}}}"#
    )
    for other in [#""x": "1""#, #""x": null"#, #""y": {"b": [1]}"#, #""w": 0"#] {
      let reasons = try store.reasons(
        ofChange: #"{"delete": ["notes", "a"], "ifUnchanged": {\#(other)}}"#)
      #expect(reasons.map(\.code) == [.changed], "\(other)")
    }
    let missing = try store.reasons(
      ofChange: #"{"delete": ["notes", "b"], "ifUnchanged": {}}"#)
    #expect(missing.map(\.code) == [.changed])
  }

  private func expectDocuments() throws {
    let store = try store()
    try store.bySQL(#"INSERT INTO photo(id, list) VALUES(1, '{"b": [1, 2],  "a": "\u00e4"}')"#)
    try store.change(
      #"{"patch": ["photos", 1], "set": {"plays": 1}, "ifUnchanged": {"list": {"a": "ä", "b": [1,2]}}}"#
    )
    let reasons = try store.reasons(
      ofChange: #"{"delete": ["photos", 1], "ifUnchanged": {"list": {"a": "ä", "b": [2,1]}}}"#)
    #expect(reasons.map(\.code) == [.changed])
  }

  // MARK: - Empty keys

  private func haveEmptyKeys() throws {
    let store = try engine.makeStore(
      model: StoreModel("{ collections: { songs: { table: 'song', key: 'id' }, notes: {} } }"),
      schema: "CREATE TABLE song(id text PRIMARY KEY, title text)")
    for collection in ["songs", "notes"] {
      let empty = Node(collection, .text(""))
      try store.change(#"{"put": ["\#(collection)", ""], "value": {"title": "x"}}"#)
      try store.change(#"{"patch": ["\#(collection)", ""], "set": {"title": "y"}}"#)
      #expect(try store.exists(empty))
      #expect(try store.reader.node(empty).value?.json["title"] == "y")
      #expect(try store.reader.nodes(in: collection, after: nil, limit: 9).map(\.node) == [empty])
      #expect(try store.reader.why(.node(empty)).isAlive)
      #expect(try store.reader.plan(deleting: [empty]).deletedCount == 1)
      #expect(Node(commandLine: "\(empty)") == empty)
      let receipt = try store.change(#"{"delete": ["\#(collection)", ""]}"#)
      #expect(receipt.deleted == [empty])
      #expect(try store.reader.why(.node(empty)).isDeleted)
    }
  }

  private func haveAnyLetters() throws {
    let store = try engine.makeStore(
      model: StoreModel(
        "{ collections: { pairs: { table: 'pair', key: ['a', 'b'] }, notes: {} } }"),
      schema: "CREATE TABLE pair(a text, b text, n integer, PRIMARY KEY(a, b))")
    for letter in [
      "\u{1}", "\u{8}", "\u{C}", "\u{1F}", "\u{7F}", "\u{85}", "\u{202E}", "\u{2028}", "\"", "\\",
      "é",
    ] {
      let key = Key.composite([.text("\(letter)x"), .text("x'\(letter)")])
      let node = Node("pairs", key)
      let note = Node("notes", .text("1"))
      let put = #"{"put": \#(node.json.text), "value": {"n": 1}}"#
      let link = """
        {"link": {"name": "about", "from": ["notes", "1"], "to": \(node.json.text),
          "rules": ["deleteSourceIfDestinationDeleted"]}}
        """
      // The edge names a row that is there only later.
      try store.change(#"{"put": ["notes", "1"]}"#, link, header: #""mayDeleteItself": true,"#)
      #expect(try !store.exists(note))
      try store.change(put, #"{"patch": \#(node.json.text), "set": {"n": 2}}"#)
      #expect(try store.reader.nodes(in: "pairs", after: nil, limit: 9).map(\.node) == [node])
      try store.change(#"{"put": ["notes", "1"]}"#, link)
      #expect(try store.change(#"{"delete": \#(node.json.text)}"#).deletedCount == 2)
      #expect(try store.reader.why(.node(node)).isDeleted)
      try store.change(#"{"put": ["notes", "1"]}"#, link, put)
      try store.bySQL("DELETE FROM pair")
      _ = try store.writer.sweep([.cascade], at: 1)
      #expect(try !store.exists(note), "\(node)")
      // Nothing tells of this row but the name that the rows it takes with it have in the trash.
      let other = Node("pairs", .composite([.text("x'"), .text(letter)]))
      try store.change(
        #"{"put": ["notes", "1"]}"#, link.replacing(node.json.text, with: other.json.text),
        #"{"put": \#(other.json.text), "value": {"n": 1}}"#)
      try store.bySQL("DELETE FROM pair")
      _ = try store.writer.sweep([.cascade], at: 1)
      #expect(try !store.exists(note), "\(node)")
      #expect(try store.reader.why(.node(other)).isDeleted, "\(node)")
    }
  }

  private func referByEmptyKeys() throws {
    let store = try engine.makeStore(
      model: StoreModel(
        """
        { collections: { songs: { table: 'song', key: 'id' }, albums: { table: 'album', key: 'id' },
            notes: {} },
          relationships: [
            { name: 'album', from: 'songs', to: 'albums', column: 'album_id',
              rules: ['deleteSourceIfDestinationDeleted'] },
            { name: 'about', from: 'notes', to: 'albums', property: 'album',
              rules: ['deleteSourceIfDestinationDeleted'] }] }
        """),
      schema: """
        CREATE TABLE album(id text PRIMARY KEY);
        CREATE TABLE song(id text PRIMARY KEY, album_id text);
        CREATE INDEX song_album ON song(album_id)
        """)
    try store.change(
      #"{"put": ["albums", ""]}"#, #"{"put": ["songs", "a"], "value": {"album_id": ""}}"#,
      #"{"put": ["notes", "n"], "value": {"album": ""}}"#)
    #expect(try store.edges().count == 2)
    #expect(try store.change(#"{"delete": ["albums", ""]}"#).deletedCount == 3)
  }
}

extension StoreUnderTest {
  /// Applies changes as a file has them.
  @discardableResult
  package func change(_ changes: String..., header: String = "") throws -> Receipt {
    try apply(file(changes, header))
  }

  func reasons(ofChange changes: String..., header: String = "") throws -> [Reason] {
    do {
      _ = try apply(file(changes, header))
      return []
    } catch let rejection as Rejection {
      return rejection.reasons
    }
  }

  private func file(_ changes: [String], _ header: String) throws -> ChangeDocument {
    let text = #"{\#(header) "changes": [\#(changes.joined(separator: ","))]}"#
    return try ChangeDocument(Array(text.utf8))
  }

  private func apply(_ document: ChangeDocument) throws -> Receipt {
    var document = document
    count += 1
    var submission = Submission(id: "test-\(count)", author: "test", fingerprint: count, at: count)
    submission.mayDeleteItself = document.header.mayDeleteItself
    return try writer.group { try writer.apply(submission) { document.next() } }
  }
}

extension String {
  fileprivate func replacing(_ part: String, with other: String) -> String {
    guard let range = firstRange(of: part) else { return self }
    return replacingSubrange(range, with: other)
  }

  private func firstRange(of part: String) -> Range<Index>? {
    indices.first { self[$0...].hasPrefix(part) }.map { $0..<index($0, offsetBy: part.count) }
  }

  private func replacingSubrange(_ range: Range<Index>, with other: String) -> String {
    self[..<range.lowerBound] + other + self[range.upperBound...]
  }
}

extension Why {
  fileprivate var isAlive: Bool { if case .alive = self { true } else { false } }
  fileprivate var isDeleted: Bool { if case .deleted = self { true } else { false } }
}
