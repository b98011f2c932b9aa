import CascadeModel
import Testing

/// Reads one line, as an `.ndjson` file has it.
func change(_ line: String, number: Int = 1) throws(ChangeError) -> Change {
  var parser = ChangeLineParser()
  let bytes = Array(line.utf8)
  return try parser.change(bytes.span, number: number)
}

/// All changes of a `.json` file.
func changes(_ text: String) throws(ChangeError) -> [Change] {
  var document = try ChangeDocument(Array(text.utf8))
  var changes: [Change] = []
  while let change = document.next() { changes.append(change) }
  return changes
}

private let a = Node("songs", .text("a"))
private let b = Node("albums", .integer(7))

@Suite struct ChangeTests {
  @Test(
    arguments: [
      (#"{"put":["songs","a"]}"#, .put(a, type: nil, value: nil, edges: nil)),
      (
        #"{"put":["songs","a"],"type":null,"value":null,"edges":[]}"#,
        .put(a, type: nil, value: JSONText(valid: "null"), edges: [])
      ),
      (
        #" { "edges" : [ { "to" : [ "albums" , 7 ] , "name" : "album" } ] , "value" : { "x" : [ 1 ] } , "#
          + #""type" : "t" , "put" : [ "songs" , "a" ] } "#,
        .put(
          a, type: "t", value: JSONText(valid: #"{ "x" : [ 1 ] }"#),
          edges: [DeclaredEdge(name: "album", destination: .node(b), rules: nil)])
      ),
      (
        #"{"put":["songs","a"],"edges":[{"name":"c","to":{"root":"media","file":"x/1.jpg"},"rules":[]},"#
          + #"{"name":"d","to":["albums",7],"rules":["notifyIfSourceDeleted","notifyIfSourceDeleted"]}]}"#,
        .put(
          a, type: nil, value: nil,
          edges: [
            DeclaredEdge(name: "c", destination: .file(root: "media", path: "x/1.jpg"), rules: []),
            DeclaredEdge(name: "d", destination: .node(b), rules: .notifyIfSourceDeleted),
          ])
      ),
      (
        #"{"patch":["songs","a"],"set":{"x":1e2,"\u0079":"\u0041"},"unset":["z","z"]}"#,
        .patch(
          a,
          set: [
            Member(name: "x", value: JSONText(valid: "1e2")),
            Member(name: "y", value: JSONText(valid: #""\u0041""#)),
          ], unset: ["z", "z"])
      ),
      (#"{"patch":["songs","a"],"set":{}}"#, .patch(a, set: [], unset: [])),
      (#"{"unset":["x"],"patch":["songs","a"]}"#, .patch(a, set: [], unset: ["x"])),
      (#"{"delete":["albums",7]}"#, .delete(b)),
      (
        #"{"delete":["tags",["a",-9223372036854775808]]}"#,
        .delete(Node("tags", .composite([.text("a"), .integer(.min)])))
      ),
      (
        #"{"p\u0075t":["song\u0073","\ud83d\ude00"]}"#,
        .put(Node("songs", .text("😀")), type: nil, value: nil, edges: nil)
      ),
      (#"{"deleteAll":"songs"}"#, .deleteAll(collection: "songs")),
      (
        #"{"link":{"name":"album","from":["songs","a"],"to":["albums",7]}}"#,
        .link(name: "album", from: a, to: .node(b), rules: nil)
      ),
      (
        #"{"link":{"rules":["deleteSourceIfDestinationDeleted","\u0064enySourceDeletion"],"#
          + #""to":["albums",7],"from":["songs","a"],"name":"album"}}"#,
        .link(
          name: "album", from: a, to: .node(b),
          rules: [.deleteSourceIfDestinationDeleted, .denySourceDeletion])
      ),
      (
        #"{"unlink":{"name":"album","from":["songs","a"],"to":["albums",7]}}"#,
        .unlink(name: "album", from: a, to: .node(b), as: .sourceDeleted)
      ),
      (
        #"{"as":"edgeDeleted","unlink":{"name":"c","from":["songs","a"],"to":{"file":"x","root":"m"}}}"#,
        .unlink(name: "c", from: a, to: .file(root: "m", path: "x"), as: .edgeDeleted)
      ),
      (#"{"flush":true}"#, .flush),
      (
        #"{"put":["songs",["",""]],"merge":true,"mayDeleteItself":false}"#,
        .put(
          Node("songs", .composite([.text(""), .text("")])), type: nil, value: nil, edges: nil,
          merge: true, mayDeleteItself: false)
      ),
      (
        #"{"mayDeleteItself":true,"ifUnchanged":{"x":{"$blob":"AA=="}},"patch":["songs","a"],"set":{}}"#,
        .patch(
          a, set: [], unset: [],
          ifUnchanged: [Member(name: "x", value: JSONText(valid: #"{"$blob":"AA=="}"#))],
          mayDeleteItself: true)
      ),
      (#"{"delete":["songs","a"],"ifUnchanged":{}}"#, .delete(a, ifUnchanged: [])),
      (
        #"{"mayDeleteItself":false,"link":{"name":"n","from":["songs","a"],"to":["albums",7]}}"#,
        .link(name: "n", from: a, to: .node(b), rules: nil, mayDeleteItself: false)
      ),
      (
        #"{"relink":{"name":"n","from":["songs","a"],"to":[["albums",7],{"file":"x","root":"m"}]}}"#,
        .relink(
          name: "n", from: a, to: [.node(b), .file(root: "m", path: "x")], rules: nil)
      ),
      (
        #"{"relink":{"to":[],"rules":[],"name":"n","from":["songs","a"]},"mayDeleteItself":true}"#,
        .relink(name: "n", from: a, to: [], rules: [], mayDeleteItself: true)
      ),
    ] as [(String, Change)])
  func `Every change is read, its members in any order`(line: String, expected: Change) throws {
    #expect(try change(line) == expected)
    #expect(try changes(#"{"changes":[\#(line)]}"#) == [expected])
    #expect(try changes(#"{"changes":[\#(line),\#(line)],"id":"x"}"#) == [expected, expected])
  }

  @Test(arguments: Rules.allNames)
  func `Every rule is known`(name: String) throws {
    let line = #"{"link":{"name":"n","from":["songs","a"],"to":["albums",7],"rules":["\#(name)"]}}"#
    #expect(try change(line) == .link(name: "n", from: a, to: .node(b), rules: Rules(name: name)))
  }

  @Test(arguments: [
    (#"{"changes":[]}"#, ChangeHeader()),
    (#"{"id":"7","changes":[]}"#, ChangeHeader(id: "7")),
    (#"{"changes":[{"flush":true}],"author":"me","id":"7"}"#, ChangeHeader(id: "7", author: "me")),
    (#"{"changes":[],"mayDeleteItself":false}"#, ChangeHeader(mayDeleteItself: false)),
  ])
  func `A document's header may stand before or behind`(text: String, header: ChangeHeader) throws {
    #expect(try ChangeDocument(Array(text.utf8)).header == header)
  }

  @Test func `Who asks a document after its end is told the same`() throws {
    var document = try ChangeDocument(Array(#"{"changes":[{"flush":true}],"id":"x"}"#.utf8))
    #expect(document.next() == .flush)
    #expect(document.next() == nil)
    #expect(document.next() == nil)
  }

  @Test(arguments: [
    (#"{"id":"7","author":"me","batch":5000}"#, ChangeHeader(id: "7", author: "me", batch: 5000)),
    (#"{"batch":1}"#, ChangeHeader(batch: 1)),
    (#"{"mayDeleteItself":false}"#, ChangeHeader(mayDeleteItself: false)),
    (#"{"mayDeleteItself":false,"batch":1}"#, ChangeHeader(batch: 1, mayDeleteItself: false)),
    (#"{"mayDeleteItself":false,"put":["songs","a"]}"#, nil),
    (#"{"put":["songs","a"]}"#, nil), (#"{"pit":["songs","a"]}"#, nil), ("{}", nil), ("[]", nil),
    (#"{"as":"edgeDeleted","unlink":{}}"#, nil), ("", nil), (#"{"nothing like it":1}"#, nil),
  ])
  func `The first line of many is a header or a change`(line: String, header: ChangeHeader?) throws
  {
    var parser = ChangeLineParser()
    let bytes = Array(line.utf8)
    #expect(try parser.header(bytes.span) == header)
  }

  @Test(arguments: 1...20)
  func `What one parser remembers of a line changes no other line`(seed: UInt64) throws {
    var random = Seeded(seed: seed)
    var parser = ChangeLineParser()
    for _ in 0..<200 {
      let collection = "collection-\(random.below(12))-of-a-long-name"
      let name =
        random.below(2) == 0 ? "edge\(random.below(12))" : "edge-of-a-long-name\(random.below(12))"
      let line = #"{"link":{"name":"\#(name)","from":["\#(collection)",1],"to":["songs","a"]}}"#
      let expected = Change.link(
        name: name, from: Node(collection, .integer(1)), to: .node(a), rules: nil)
      let bytes = Array(line.utf8)
      #expect(try parser.change(bytes.span, number: 1) == expected)
    }
  }
}
