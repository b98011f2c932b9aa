import CascadeModel
import Testing

@Suite struct NodeFormsTests {
  @Test(arguments: [
    ("songs/7", Node("songs", .text("7")), "songs/7"),
    ("songs/a/b", Node("songs", .text("a/b")), "songs/a/b"),
    (#"["songs",7]"#, Node("songs", .integer(7)), "songs/7"),
    (
      #"["tags", ["x", 2]]"#, Node("tags", .composite([.text("x"), .integer(2)])),
      #"["tags",["x",2]]"#
    ),
    (#"["a b","\n"]"#, Node("a b", .text("\n")), #"["a b","\n"]"#),
    (#"["[a","b"]"#, Node("[a", .text("b")), #"["[a","b"]"#),
    ("songs/", Node("songs", .text("")), "songs/"),
    (
      #"["songs",["",""]]"#, Node("songs", .composite([.text(""), .text("")])),
      #"["songs",["",""]]"#
    ),
  ])
  func `A node on the command line`(text: String, node: Node, description: String) {
    #expect(Node(commandLine: text) == node)
    #expect(node.description == description)
    #expect(Node(commandLine: node.description)?.json.text.isEmpty == false)
  }

  @Test(arguments: [
    "", "songs", "/7", "cascade_node/7", "[", "[]", #"["songs"]"#, #"["songs",1.5]"#,
    #"["songs",[]]"#, #"["songs",[["a"]]]"#, #"["songs",null]"#, #"["",1]"#, #"["a/b",1]"#,
    #"["songs",1,2]"#, "a\0b/1",
  ])
  func `What is no node is refused`(text: String) {
    #expect(Node(commandLine: text) == nil)
  }

  @Test func `An edge names its rules`() {
    let edge = Edge(
      name: "cover", source: Node("albums", .integer(1)),
      destination: .file(root: "media", path: "a.jpg"), rules: .deleteDestinationIfSourceDeleted,
      origin: .declared)
    #expect(
      edge.json.text
        == #"{"name":"cover","from":["albums",1],"to":{"file":"a.jpg","root":"media"},"#
        + #""rules":["deleteDestinationIfSourceDeleted"],"origin":"declared"}"#)
  }

  @Test(arguments: 1...50)
  func `A compact text is the same value on one line`(seed: UInt64) throws {
    var random = Seeded(seed: seed)
    let json = random.json(depth: 3)
    #expect(JSONText(json).compact == JSONText(json))
    let wide = JSONText(valid: "{\n \"a b\\\\\" : [ \(json.text) , \"\\\" \" ]\t}\r\n")
    #expect(wide.compact.text == #"{"a b\\":[\#(json.text),"\" "]}"#)
    #expect(try JSON.parse(wide.text) == JSON.parse(wide.compact.text))
  }

  @Test func `The members of an object, and the object of members`() {
    let text = JSONText(valid: #" {"a" : [1, {"b":2}], "\u0063":"x" } "#)
    let members = [
      Member(name: "a", value: JSONText(valid: #"[1, {"b":2}]"#)),
      Member(name: "c", value: JSONText(valid: #""x""#)),
    ]
    #expect(text.members() == members)
    #expect(JSONText(object: members).text == #"{"a":[1, {"b":2}],"c":"x"}"#)
    #expect(JSONText(valid: "[]").members() == nil)
    #expect(JSONText(valid: "{}").members() == [])
    #expect(JSONText(object: []).text == "{}")
  }
}

@Suite struct NearestTests {
  @Test(arguments: [
    ("pit", "put"), ("deleteall", "deleteAll"), ("linkk", "link"), ("unlnik", "unlink"),
    ("zzzzzz", nil), ("", nil), ("put", "put"),
  ])
  func `The nearest name is the one that was meant`(typed: String, meant: String?) {
    #expect(
      nearest(typed, in: ["put", "patch", "delete", "deleteAll", "link", "unlink"]) == meant)
  }
}
