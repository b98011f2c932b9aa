import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing

/// Edges that objects hold in their values.
@Suite("Properties")
struct PropertyTests {
  // MARK: - What is a reference

  @Test("A string or an integer is one reference, a list is many, null and nothing are none")
  func references() throws {
    let store = try TestStore("property: 'p', toMany: true")
    try store.run("1 2 B")
    let edges = [
      (#"{"p":"B"}"#, "A=0>B"), (#"{"p":1}"#, "A=0>1"),
      (#"{"p":["B",1,"2"]}"#, "A=0>1 A=0>2 A=0>B"),
      (#"{"p":[]}"#, ""), (#"{"p":null}"#, ""), (#"{"q":"B"}"#, ""), ("{}", ""),
      (#"{ "q" : {"p":"B"} }"#, ""), (#"{ "\u0070" : "\u0042" }"#, "A=0>B"),
      ("1", ""), (#"["B"]"#, ""), ("null", ""),
    ]
    for (value, graph) in edges {
      try store.apply([put("A", value)])
      #expect(try store.graph() == graph, "\(value)")
    }
    try store.apply([put("A", #"{"p":["B",1]}"#), put("A")])
    #expect(try store.graph() == "")
  }

  @Test("Repeated references are one edge")
  func repeated() throws {
    let store = try TestStore("property: 'p', toMany: true")
    let receipt = try store.apply([put("1"), put("A", #"{"p":["1",1,"1"]}"#)])
    #expect(receipt.edgesAdded == 1)
    #expect(try store.graph() == "A=0>1")
  }

  @Test("A dot is a step into an object")
  func path() throws {
    let store = try TestStore("property: 'a.b.c'")
    let edges = [
      (#"{"a":{"b":{"c":"B"}}}"#, "A=0>B"), (#"{"a":{"b":{}}}"#, ""), (#"{"a":{"b":null}}"#, ""),
      (#"{"a":null}"#, ""), (#"{"a.b.c":"B"}"#, ""),
    ]
    for (value, graph) in edges {
      try store.apply([put("B"), put("A", value)])
      #expect(try store.graph() == graph, "\(value)")
    }
  }

  @Test(
    "What cannot be a reference refuses the transaction and says why",
    arguments: [
      (
        "property: 'p'", #"{"p":["B"]}"#,
        #"n/A: "p" is a list, but the relationship "e" is to-one"#
      ),
      (
        "property: 'p'", #"{"p":{"id":"B"}}"#,
        #"n/A: a reference must be a string or an integer, but "p" has an object"#
      ),
      (
        "property: 'p'", #"{"p":true}"#,
        #"n/A: a reference must be a string or an integer, but "p" has true"#
      ),
      (
        "property: 'p'", #"{"p":1.5}"#,
        #"n/A: a reference must be a string or an integer, but "p" has 1.5"#
      ),
      (
        "property: 'p', toMany: true", #"{"p":["B",["n","B"]]}"#,
        #"n/A: a reference must be a string or an integer, but "p" has a list"#
      ),
      (
        "property: 'p', toMany: true", #"{"p":["B",null]}"#,
        #"n/A: a reference must be a string or an integer, but "p" has null"#
      ),
      (
        "property: 'p.q.r'", #"{"p":{"q":["B"]}}"#,
        #"n/A: "p.q" of "p.q.r" is a list, not an object"#
      ),
      (
        "property: 'p', to: { files: 'media' }", #"{"p":7}"#,
        #"n/A: "p" must be the path of a file, but it is 7"#
      ),
      (
        "property: 'p', to: { files: 'media' }", #"{"p":"../x"}"#,
        #"n/A: "p": the path leads out of its root: it has "..""#
      ),
      (
        "column: 'p', typeColumn: 't', to: { News: 'n' }", #"{"p":"B","t":"New"}"#,
        #"n/A: "t" is "New", which is not a type of "e", did you mean "News"?"#
      ),
      (
        "column: 'p', typeColumn: 't', to: { News: 'n' }", #"{"p":"B","t":1}"#,
        #"n/A: "t" must be the name of a type, but it is 1"#
      ),
      (
        "column: 'p', typeColumn: 't', to: { News: 'n' }", #"{"p":["B"],"t":"News"}"#,
        #"n/A: "p" is a list, but the relationship "e" is to-one"#
      ),
    ])
  func misfits(relationship: String, value: String, message: String) throws {
    let store = try TestStore(relationship)
    #expect(try store.messages(put("B"), put("A", value)) == [message])
    #expect(try store.reasons([put("A", value)]).map(\.code) == [.invalid])
    #expect(try store.reasons([put("A", value)]).map(\.node) == [node("A")])
    #expect(try store.alive() == "")
  }

  @Test("Of two types one is meant, and without a word or a key there is no reference")
  func polymorphic() throws {
    let store = try TestStore("column: 'p', typeColumn: 't', to: { N: 'n', M: 'm', P: 'photos' }")
    try store.apply([put("1"), put("m/1"), put("posts/1")])
    let edges = [
      (#"{"p":1,"t":"N"}"#, "A=0>1"), (#"{"t":"M","p":"1"}"#, "A=0>m/1"),
      (#"{"t":"P","p":1}"#, "A=0>posts/1"), (#"{"p":1}"#, ""), (#"{"p":1,"t":null}"#, ""),
      (#"{"t":"N","p":null}"#, ""), (#"{"t":"X"}"#, ""), (#"{"t":"X","p":null}"#, ""),
    ]
    for (value, graph) in edges {
      try store.apply([put("A", value)])
      #expect(try store.graph() == graph, "\(value)")
    }
  }

  @Test("A file that a property names is counted like any other")
  func files() throws {
    let store = try TestStore(
      "property: 'p', to: { files: 'media' }, rules: ['deleteDestinationIfAllSourcesDeleted']")
    try store.apply([put("A", #"{"p":"a/1.jpg"}"#), put("B", #"{"p":"a/1.jpg"}"#)])
    let file = Destination.file(root: "media", path: "a/1.jpg")
    #expect(try store.edges().map(\.destination) == [file, file])
    try store.apply([put("A", "{}")])
    #expect(try store.reader.plan(deleting: [node("B")]).files == 1)
    #expect(try store.gone("!B") == "B")
  }

  // MARK: - What kind of edge it is

  @Test("A listing tells where an edge lives, to the outside it is declared")
  func kinds() throws {
    let store = try TestStore(
      "property: 'p'", "name: 'f', column: 'q', typeColumn: 't', to: { N: 'n' }")
    try store.apply([put("B"), put("A", #"{"p":"B","q":"B","t":"N"}"#)])
    let edges = try store.edges()
    #expect(edges.map(\.kind) == [.property, .polymorphic])
    #expect(edges.map(\.origin.name) == ["declared", "declared"])
  }

  @Test("An edge of the list, one of nobody's and one of a property, alike, are three")
  func threeAlike() throws {
    let store = try TestStore()
    let declared = DeclaredEdge(name: "e", destination: .node(node("B")), rules: 32)
    let value = JSONText(valid: #"{"p":"B"}"#)
    try store.apply([put("B"), .put(node("A"), type: nil, value: value, edges: [declared])])
    try store.run("A-32>B")
    let writer = try Writer(
      path: store.path,
      model: StoreModel(
        relationships: ["property: 'p', rules: ['deleteDestinationIfAllSourcesDeleted']"]))
    #expect(try store.graph() == "A-32>B A=32>B A=32>B")
    #expect(try store.reader.count(EdgeQuery(name: "e")) == 3)
    try store.apply([put("A", "{}")], by: writer)
    #expect(try store.apply(changes("~A->B"), by: writer).deleted.letters == "")
    #expect(try store.apply(changes("A{}"), by: writer).deleted.letters == "B")
  }

  @Test("Unlink takes a reference out of a property, before it means an edge that was made by hand")
  func unlink() throws {
    let store = try TestStore()
    try store.apply([put("B"), put("A", #"{"p":"B"}"#)])
    try store.run("A-0>B")
    let writer = try Writer(path: store.path, model: StoreModel(relationships: ["property: 'p'"]))
    #expect(try store.apply(changes("~A->B"), by: writer).skippedChanges == 0)
    #expect(try store.graph() == "A-0>B")
    #expect(try store.reader.node(node("A")).value?.text == #"{"p":null}"#)
    #expect(try store.apply(changes("~A->B"), by: writer).skippedChanges == 0)
    #expect(try store.graph() == "")
    #expect(try store.apply(changes("~A->B"), by: writer).skippedChanges == 1)
  }

  @Test("What a property refers to is held by it, and a plan follows it")
  func whyAndPlan() throws {
    let store = try TestStore("property: 'p', rules: ['deleteSourceIfDestinationDeleted']")
    try store.apply([put("B"), put("A", #"{"p":"B"}"#)])
    guard case .alive(let holders, _, _) = try store.reader.why(node("B")) else {
      Issue.record("B is there")
      return
    }
    #expect(holders.map(\.letters) == ["A=4>B"])
    #expect(try store.reader.plan(deleting: [node("B")]).steps.map(\.node.letters) == ["B", "A"])
  }

  // MARK: - Puts

  @Test("The same references again change nothing")
  func sameAgain() throws {
    let store = try TestStore("property: 'p', toMany: true, rules: ['notifyIfSourceDeleted']")
    let value = #"{"p":["B","C"]}"#
    try store.apply([put("B"), put("C"), put("A", value)])
    let receipt = try store.apply([put("A", #"{"p":["C","B"],"x":1}"#)])
    #expect(receipt.edgesAdded + receipt.edgesRemoved + receipt.notices == 0)
  }

  @Test("A reference that a transaction adds and takes back never was")
  func neverWas() throws {
    let store = try TestStore("property: 'p', rules: ['deleteDestinationIfSourceDeleted']")
    try store.run("B")
    #expect(try store.apply([put("A", #"{"p":"B"}"#), put("A", "{}")]).deletedCount == 0)
    try store.apply([put("A", #"{"p":"B"}"#)])
    #expect(try store.apply([put("A", "{}"), put("A", #"{"p":"B"}"#)]).deletedCount == 0)
    #expect(try store.apply([put("A", "{}"), .flush]).deleted.letters == "B")
  }

  @Test("A declared list says nothing of properties")
  func declaredList() throws {
    let store = try TestStore("property: 'p'")
    try store.apply([put("B"), put("A", #"{"p":"B"}"#)])
    try store.run("C")
    let value = JSONText(valid: #"{"p":"B"}"#)
    try store.apply([.put(node("A"), type: nil, value: value, edges: [])])
    #expect(try store.graph() == "A=0>B")
  }
}
