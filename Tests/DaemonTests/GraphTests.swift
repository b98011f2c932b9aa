import CascadeModel
import CascadeSystem
import Testing

/// `graph`: a node's neighbourhood, as JSON and for Graphviz.
@Suite struct GraphTests {
  private static func store() throws -> TestStore { try Library.store() }

  @Worker @Test func tellsWhatIsAroundANode() throws {
    let store = try GraphTests.store()
    let graph = try store.ctl("--json", "graph", "artists/nina").json
    let nodes = graph["nodes"]?.array ?? []
    let album: JSON = ["albums", 1]
    #expect(
      nodes.map { $0["node"] } == [
        ["artists", "nina"], album, ["songs", 10], ["songs", 11],
      ])
    #expect(nodes.map { $0["depth"] } == [0, 1, 2, 2])
    #expect(nodes.allSatisfy { $0["goes"] == true && $0["more"] == 0 })
    let edges = graph["edges"]?.array ?? []
    #expect(edges.count == 3 && edges[0]["kind"] == "column" && edges[0]["denies"] == false)
    #expect(graph["denied"] == [])
  }

  @Worker @Test func tellsWhatStaysAndWhatDenies() throws {
    let store = try GraphTests.store()
    let graph = try store.ctl("--json", "graph", "artists/ella", "--depth", "1").json
    let stays = (graph["nodes"]?.array ?? []).filter { $0["goes"] == false }
    #expect(stays.map { $0["node"] } == [["contracts", 1]])
    let denying = (graph["edges"]?.array ?? []).filter { $0["denies"] == true }
    #expect(denying.map { $0["name"] } == ["binds"])
    #expect(graph["denied"]?.array?.count == 1)
    let dot = try store.ctl("graph", "artists/ella").output
    #expect(
      dot.contains(#"[label="binds\nkeeps destination", arrowhead="vee", style="bold,dashed"]"#))
    #expect(dot.contains(#"n0 [label="artists/ella", style="rounded,bold", color="red""#))
  }

  @Worker @Test func saysWhatIsLeftOut() throws {
    let store = try GraphTests.store()
    try store.sql("INSERT INTO song SELECT value, 1 FROM json_each('[100,101,102,103,104]')")
    let dot = try store.ctl("graph", "albums/1", "--limit", "4").output
    #expect(dot.contains(#"m0 [label="+5 more", shape="plaintext"]"#), "\(dot)")
    #expect(dot.contains("n0 -> m0"))
    let alone = try store.ctl("--json", "graph", "albums/1", "--depth", "0").json
    #expect(alone["nodes"]?.array?.count == 1 && alone["edges"] == [])
  }

  @Worker @Test func drawsEdgesAmongTheOutermost() throws {
    let store = try TestStore()
    try store.apply(
      #"""
      {"changes": [{"put": ["n", "h"]}, {"put": ["n", "a"]}, {"put": ["n", "b"]},
        {"link": {"name": "x", "from": ["n", "a"], "to": ["n", "h"],
          "rules": ["deleteSourceIfDestinationDeleted"]}},
        {"link": {"name": "x", "from": ["n", "b"], "to": ["n", "h"], "rules": []}},
        {"link": {"name": "deny", "from": ["n", "b"], "to": ["n", "a"],
          "rules": ["denyDestinationDeletion"]}}]}
      """#)
    let graph = try store.ctl("--json", "graph", "n/h", "--depth", "1").json
    let denying = (graph["edges"]?.array ?? []).filter { $0["denies"] == true }
    #expect(denying.map { $0["name"] } == ["deny"])
    #expect(graph["nodes"]?.array?.allSatisfy { $0["more"] == 0 } == true)
  }

  @Worker @Test func quotesWhatDotWouldTakeForItsOwn() throws {
    let store = try TestStore()
    try store.apply(
      #"""
      {"changes": [{"put": ["a", "x\"]; evil \\ [\n"]},
        {"put": ["b", "1"], "edges": [{"name": "e\"\\&lt;", "to": ["a", "x\"]; evil \\ [\n"],
          "rules": []}]}]}
      """#)
    let dot = try store.ctl("graph", "b/1").output
    #expect(dot.contains(#"label="[\"a\",\"x\\\"]; evil \\\\ [\\n\"]""#), "\(dot)")
    #expect(dot.contains(#"label="e\"\\&amp;lt;""#))
  }

  @Worker @Test func drawsWithGraphvizWhereThatIs() throws {
    let store = try GraphTests.store()
    let svg = try store.ctl("graph", "artists/nina", "--format", "svg")
    if try run(["/usr/bin/env", "which", "dot"]).status != 0 {
      #expect(svg.status == 69 && svg.error.contains("install graphviz"))
    } else {
      #expect(svg.status == 0 && svg.output.contains("<svg") && svg.output.contains("red"))
    }
  }

  @Worker @Test func refusesWhatItCannotDraw() throws {
    let store = try GraphTests.store()
    #expect(try store.ctl("graph", "artists/nobody").status == 65)
    #expect(try store.ctl("graph", "artists/nina", "--format", "png").status == 64)
    #expect(try store.ctl("graph", "artists/nina", "--depth", "-1").status == 64)
    #expect(try store.ctl("graph").status == 64)
  }
}
