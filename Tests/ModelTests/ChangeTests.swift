import Model
import Testing

@Suite struct ChangeTests {
  @Test func `A document gives its changes one after the other`() throws {
    let text = """
      {"changes": [{"put": ["songs", 7], "type": "a", "value": {"a" : [1]}, "edges": [
        {"name": "album", "to": ["albums", "x"], "rules": ["deleteSourceIfDestinationDeleted"]},
        {"name": "cover", "to": {"file": "covers/1.jpg", "root": "media"}}]},
        {"flush": true}], "id": "x"}
      """
    var document = try ChangeDocument(Array(text.utf8))
    #expect(document.header == ChangeHeader(id: "x"))
    #expect(
      document.next()
        == .put(
          Node("songs", .integer(7)), type: "a", value: JSONText(valid: #"{"a" : [1]}"#),
          edges: [
            DeclaredEdge(
              name: "album", destination: .node(Node("albums", .text("x"))),
              rules: .deleteSourceIfDestinationDeleted),
            DeclaredEdge(
              name: "cover", destination: .file(root: "media", path: "covers/1.jpg"), rules: nil),
          ]))
    #expect(document.next() == .flush)
    #expect(document.next() == nil)
    #expect(document.next() == nil)
  }

  @Test func `An unknown key is named with its place and what was meant`() throws {
    var parser = ChangeLineParser()
    let line = Array(#"{"pit": ["songs", 7]}"#.utf8)
    let error = #expect(throws: ChangeError.self) { try parser.change(line.span, number: 12) }
    #expect(
      error?.description == #"line 12, column 2, pit: unknown key "pit", did you mean "put"?"#)
  }
}
