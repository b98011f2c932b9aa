import CascadeModel
import Testing

private let link = #""name":"n","from":["songs","a"]"#
private let file =
  #"an edge to a file takes only deleteDestinationIfSourceDeleted or "#
  + "deleteDestinationIfAllSourcesDeleted"

@Suite struct ChangeRefusalTests {
  @Test(arguments: [
    ("", "", "expected a change, found the end"),
    ("[]", "", "expected a change, found a list"),
    ("null", "", "expected a change, found null"),
    (
      "{}", "",
      "no change; expected one of put, patch, delete, deleteAll, link, unlink, relink, flush"
    ),
    (#"{"pit":["songs",1]}"#, "pit", #"unknown key "pit", did you mean "put"?"#),
    (
      #"{"deleteall":"songs"}"#, "deleteall", #"unknown key "deleteall", did you mean "deleteAll"?"#
    ),
    (#"{"put":["songs",1],"vallue":1}"#, "vallue", #"unknown key "vallue", did you mean "value"?"#),
    (#"{"put":["songs",1],"put":["songs",1]}"#, "put", #"duplicate key "put""#),
    (#"{"put":["songs",1],"\u0070ut":["songs",1]}"#, "put", #"duplicate key "put""#),
    (
      #"{"put":["songs",1],"delete":["songs",1]}"#, "delete",
      #""put" and "delete" are two changes; write two objects"#
    ),
    (
      #"{"put":["songs",1],"as":"edgeDeleted"}"#, "as",
      #""as" belongs to "unlink", but this is a "put""#
    ),
    (
      #"{"value":1,"patch":["songs",1]}"#, "patch",
      #""value" belongs to "put", but this is a "patch""#
    ),
    (#"{"value":1,"set":{}}"#, "set", #""set" belongs to "patch", but this is a "put""#),
    (#"{"value":1}"#, "", #""value" without "put""#),
    (
      #"{"ifUnchanged":{},"put":["songs",1]}"#, "put",
      #""ifUnchanged" belongs to "patch" or "delete", but this is a "put""#
    ),
    (
      #"{"set":{},"as":"edgeDeleted"}"#, "as",
      #""as" belongs to "unlink", but this is a "patch""#
    ),
    (#"{"ifUnchanged":{}}"#, "", #""ifUnchanged" without "patch" or "delete""#),
    (
      #"{"put":["songs",1],"mayDeleteItself":0}"#, "mayDeleteItself",
      "expected true or false, found a number"
    ),
    (#"{"put":["songs",1],"merge":null}"#, "merge", "expected true or false, found null"),
    (
      #"{"delete":["songs",1],"mayDeleteItself":true}"#, "mayDeleteItself",
      #""mayDeleteItself" belongs to "put" or "patch" or "link" or "relink", but this is a "delete""#
    ),
    (
      #"{"relink":{"name":"n","from":["songs",1],"to":["songs",1]}}"#, "relink.to[0]",
      #"expected a node, ["collection", key], or {"file": …, "root": …}, found a string"#
    ),
    (#"{"relink":{"name":"n","from":["songs",1]}}"#, "relink", #"an edge without "to""#),
    (
      #"{"relink":{"name":"n","from":["songs",1],"to":[{"file":"a","root":"m"}],"rules":["notifyIfSourceDeleted"]}}"#,
      "relink.rules", #"notifyIfSourceDeleted: \#(file)"#
    ),
    (#"{"put":["songs",1]} {"#, "", "expected nothing more, found '{'"),
    (#"{"put":["songs",1],}"#, "", "a trailing comma"),
    // Nodes
    (#"{"put":"songs/1"}"#, "put", #"expected a node, ["collection", key], found a string"#),
    (#"{"put":[]}"#, "put", #"an empty list; write a node, ["collection", key]"#),
    (#"{"put":["songs"]}"#, "put", #"a node without a key; write a node, ["collection", key]"#),
    (
      #"{"put":["tags","a","b"]}"#, "put[2]",
      "a node has two parts; write a composite key as a list"
    ),
    (#"{"put":[1,1]}"#, "put[0]", "expected a collection's name, found a number"),
    (#"{"put":["",1]}"#, "put[0]", "a collection's name must not be empty"),
    (#"{"put":["a/b",1]}"#, "put[0]", "a '/' in a collection's name"),
    (#"{"put":["a\u0000b",1]}"#, "put[0]", "a NUL in a collection's name"),
    (
      #"{"put":["cascade_node",1]}"#, "put[0]",
      "names that begin with cascade_ are reserved for Cascade"
    ),
    (
      #"{"deleteAll":"cascade_"}"#, "deleteAll",
      "names that begin with cascade_ are reserved for Cascade"
    ),
    (
      #"{"put":["songs",1.0]}"#, "put[1]",
      "a numeric key must be a 64-bit integer; write other keys as strings"
    ),
    (
      #"{"put":["songs",1e2]}"#, "put[1]",
      "a numeric key must be a 64-bit integer; write other keys as strings"
    ),
    (
      #"{"put":["songs",9223372036854775808]}"#, "put[1]",
      "a numeric key must be a 64-bit integer; write other keys as strings"
    ),
    (#"{"put":["songs",01]}"#, "put[1]", "a number with a leading zero"),
    (
      #"{"put":["songs",null]}"#, "put[1]",
      "expected a key: a string, an integer or a list of them, found null"
    ),
    (#"{"put":["songs",[]]}"#, "put[1]", "a composite key without parts"),
    (
      #"{"put":["songs",["a",["b"]]]}"#, "put[1][1]",
      "expected a string or an integer in a composite key, found a list"
    ),
    // Members
    (#"{"put":["songs",1],"type":7}"#, "type", "expected a type's name or null, found a number"),
    (
      #"{"put":["songs",1],"type":nil}"#, "type",
      "expected a value, found nil; strings need double quotes"
    ),
    (#"{"put":["songs",1],"value":{"a":1,"a":2}}"#, "value.a", #"duplicate key "a""#),
    (
      #"{"put":["songs",1],"value":[0,{"a b":[1,tru]}]}"#, #"value[1]["a b"][1]"#,
      "expected a value, found tru; strings need double quotes"
    ),
    (#"{"put":["songs",1],"value":[1e999]}"#, "value[0]", "a number too large for a double"),
    (
      #"{"put":["songs",1],"value":"\ud800"}"#, "value",
      "an unpaired surrogate stands for no character"
    ),
    (#"{"put":["songs",1],"edges":null}"#, "edges", "expected a list of edges, found null"),
    (#"{"patch":["songs",1]}"#, "", #"a patch needs "set" or "unset""#),
    (#"{"patch":["songs",1],"set":[]}"#, "set", "expected an object of values, found a list"),
    (#"{"patch":["songs",1],"set":{"a":1,"a":1}}"#, "set.a", #"duplicate key "a""#),
    (#"{"patch":["songs",1],"unset":"a"}"#, "unset", "expected a list of names, found a string"),
    (#"{"patch":["songs",1],"unset":["a",1]}"#, "unset[1]", "expected a name, found a number"),
    (#"{"patch":["songs",1],"set":{"a":1},"unset":["a"]}"#, "", #""a" is in "set" and in "unset""#),
    (#"{"flush":false}"#, "flush", #""flush" must be true or be left out"#),
    (#"{"flush":1}"#, "flush", #""flush" must be true or be left out"#),
    (
      #"{"unlink":{\#(link),"to":["songs",1]},"as":"edgeDelete"}"#, "as",
      #"unknown word "edgeDelete", did you mean "edgeDeleted"?"#
    ),
    (
      #"{"unlink":{\#(link),"to":["songs",1]},"as":"x"}"#, "as",
      #"unknown word "x"; known: sourceDeleted, destinationDeleted, edgeDeleted"#
    ),
    (
      #"{"unlink":{\#(link),"to":["songs",1],"rules":[]}}"#, "unlink.rules",
      #"unknown key "rules"; known: name, from, to"#
    ),
    // Edges
    (#"{"link":["songs",1]}"#, "link", "expected an edge, found a list"),
    (#"{"link":{}}"#, "link", #"an edge without "from""#),
    (#"{"link":{\#(link)}}"#, "link", #"an edge without "to""#),
    (#"{"link":{"from":["songs",1],"to":["songs",1]}}"#, "link", #"an edge without "name""#),
    (#"{"link":{"name":""}}"#, "link.name", "an edge's name must not be empty"),
    (#"{"link":{"nam":""}}"#, "link.nam", #"unknown key "nam", did you mean "name"?"#),
    (
      #"{"link":{\#(link),"to":"x"}}"#, "link.to",
      #"expected a node, ["collection", key], or {"file": …, "root": …}, found a string"#
    ),
    (#"{"put":["songs",1],"edges":[{"name":"n"}]}"#, "edges[0]", #"an edge without "to""#),
    (
      #"{"put":["songs",1],"edges":[{"name":"n","from":["songs",1]}]}"#, "edges[0].from",
      #"unknown key "from"; known: name, to, rules"#
    ),
    // Rules
    (#"{"link":{"rules":null}}"#, "link.rules", "expected a list of rules, found null"),
    (#"{"link":{"rules":[1]}}"#, "link.rules[0]", "expected a rule's name, found a number"),
    (
      #"{"link":{"rules":["deleteSourceIfDestinationDelete"]}}"#, "link.rules[0]",
      #"unknown rule "deleteSourceIfDestinationDelete", did you mean "deleteSourceIfDestinationDeleted"?"#
    ),
    (
      #"{"link":{"rules":["denySourceDeletion","notifyIfSourceDeleted","deleteDestinationIfSourceDeleted"]}}"#,
      "link.rules",
      "deleteDestinationIfSourceDeleted and denySourceDeletion contradict each other; keep one"
    ),
    (
      #"{"link":{"rules":["denyDestinationDeletion"],\#(link),"to":{"file":"a","root":"m"}}}"#,
      "link.rules", "denyDestinationDeletion: \(file)"
    ),
    // Files
    (#"{"link":{"to":{"file":"a"}}}"#, "link.to", #"a file without "root", its file root"#),
    (#"{"link":{"to":{"root":"a"}}}"#, "link.to", #"a file without "file", its path"#),
    (#"{"link":{"to":{"root":""}}}"#, "link.to.root", "a file root's name must not be empty"),
    (#"{"link":{"to":{"path":"a"}}}"#, "link.to.path", #"unknown key "path"; known: file, root"#),
    (#"{"link":{"to":{"file":7}}}"#, "link.to.file", "expected a path, found a number"),
    (#"{"link":{"to":{"file":""}}}"#, "link.to.file", "a path must not be empty"),
    (#"{"link":{"to":{"file":"a\u0000"}}}"#, "link.to.file", "a path must not contain a NUL"),
    (
      #"{"link":{"to":{"file":"/etc/passwd"}}}"#, "link.to.file",
      "the path leads out of its root: it begins with '/'"
    ),
    (
      #"{"link":{"to":{"file":"a/../../b"}}}"#, "link.to.file",
      #"the path leads out of its root: it has "..""#
    ),
    (#"{"link":{"to":{"file":"./a"}}}"#, "link.to.file", #"the path contains ".""#),
    (
      #"{"link":{"to":{"file":"a//b"}}}"#, "link.to.file",
      "an empty part in a path ('//' or a '/' at its end)"
    ),
    (
      #"{"link":{"to":{"file":"a/"}}}"#, "link.to.file",
      "an empty part in a path ('//' or a '/' at its end)"
    ),
  ])
  func `A wrong change is refused with its place and reason`(
    line: String, path: String, message: String
  ) {
    let alone = #expect(throws: ChangeError.self) { try change(line, number: 41) }
    #expect(alone?.line == 41)
    #expect(alone?.path == path)
    #expect(alone?.message == message)
    // What stands around a cut-off change in a document is another matter.
    guard line.hasSuffix("}"), !line.hasPrefix("{}") else { return }
    let text = "{\"changes\":[{\"flush\":true},\n\(line)]}"
    let within = #expect(throws: ChangeError.self) { try changes(text) }
    #expect(within?.line == 2)
    #expect(within?.path == "changes[1]" + (path.isEmpty ? "" : ".\(path)"))
    #expect(within?.message == message)
    #expect(within?.column == alone?.column)
  }

  @Test(arguments: [
    ("", "line 1, column 1: expected an object with \"changes\", found the end"),
    ("[]", "line 1, column 1: expected an object with \"changes\", found a list"),
    ("\u{FEFF}{}", "line 1, column 1: a byte order mark; write UTF-8 without it"),
    ("{}", "line 1, column 1: no \"changes\""),
    (#"{"changes":{}}"#, "line 1, column 12, changes: expected a list of changes, found an object"),
    (#"{"changes":[7]}"#, "line 1, column 13, changes[0]: expected a change, found a number"),
    (
      #"{"changes":[],"changes":[]}"#,
      #"line 1, column 15, changes: duplicate key "changes""#
    ),
    (
      #"{"change":[]}"#, #"line 1, column 2, change: unknown key "change", did you mean "changes"?"#
    ),
    (
      #"{"changes":[],"batch":5}"#,
      #"line 1, column 15, batch: "batch" is for .ndjson files; a .json file is one transaction"#
    ),
    (#"{"changes":[],"id":7}"#, "line 1, column 20, id: expected an id, a string, found a number"),
    (
      #"{"changes":[],"id":""}"#,
      "line 1, column 20, id: an empty id; leave it out for the file's name"
    ),
    (
      #"{"changes":[],"author":null}"#,
      "line 1, column 24, author: expected an author's name, found null"
    ),
    ("{\"changes\":[]}\n{", "line 2, column 1: expected nothing more, found '{'"),
    (
      #"{"changes":[{"flush":true}"#,
      "line 1, column 27, changes[0]: expected ',' or ']', found the end"
    ),
  ])
  func `A wrong document is refused with its place and reason`(text: String, description: String) {
    let error = #expect(throws: ChangeError.self) { try ChangeDocument(Array(text.utf8)) }
    #expect(error?.description == description)
  }

  @Test(arguments: [
    (#"{"id":"7","batch":0}"#, #"batch: "batch" must be a number of lines, above 0"#),
    (#"{"batch":"7"}"#, #"batch: "batch" must be a number of lines, above 0"#),
    (#"{"batch":1.5}"#, #"batch: "batch" must be a number of lines, above 0"#),
    (
      #"{"id":"7","put":["songs",1]}"#,
      #"put: unknown key "put"; known: id, author, batch, mayDeleteItself, archive"#
    ),
    (#"{"bacth":7}"#, #"bacth: unknown key "bacth", did you mean "batch"?"#),
  ])
  func `A wrong header is refused`(line: String, description: String) {
    var parser = ChangeLineParser()
    let bytes = Array(line.utf8)
    let error = #expect(throws: ChangeError.self) { try parser.header(bytes.span) }
    #expect(error?.description.hasSuffix(description) == true, "\(error as Any)")
  }

  @Test func `A hostile name neither fills the message nor commands the terminal`() {
    let name = #"\u001b[2J"# + String(repeating: "x", count: 1_000_000)
    let error = #expect(throws: ChangeError.self) { try change(#"{"\#(name)":1}"#) }
    #expect(error?.description.utf8.count ?? .max < 500)
    #expect(error?.description.contains("\u{1B}") == false)
  }

  @Test(arguments: [(61, true), (62, true), (63, true), (64, false), (100_000, false)])
  func `A value counts the levels around it`(levels: Int, isFine: Bool) throws {
    let value = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
    let line = #"{"put":["songs",1],"value":\#(value)}"#
    if isFine {
      #expect(try change(line) != .flush)
    } else {
      let error = #expect(throws: ChangeError.self) { try change(line) }
      #expect(error?.message == "nested deeper than 64 levels")
    }
  }
}
