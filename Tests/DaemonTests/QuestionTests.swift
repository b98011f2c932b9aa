import CascadeModel
import CascadeSystem
import Testing

/// Commands that only read: status, node, nodes, edges, plan, why.
@Suite struct QuestionTests {
  /// Two songs on an album by an artist, who is held by a contract.
  private static func music() throws -> TestStore {
    let store = try TestStore()
    try store.apply(
      #"""
      {"id": "music", "author": "me", "changes": [
        {"put": ["artists", "1"], "type": "person", "value": {"name": "Björk"}},
        {"put": ["albums", 7], "value": {"title": "Post"}},
        {"put": ["songs", "a/b"], "edges": [{"name": "album", "to": ["albums", 7],
          "rules": ["deleteSourceIfDestinationDeleted", "deleteDestinationIfAllSourcesDeleted"]}]},
        {"put": ["songs", "c"], "edges": [{"name": "album", "to": ["albums", 7],
          "rules": ["deleteSourceIfDestinationDeleted", "deleteDestinationIfAllSourcesDeleted"]}]},
        {"link": {"name": "artist", "from": ["albums", 7], "to": ["artists", "1"],
          "rules": ["deleteSourceIfDestinationDeleted"]}},
        {"put": ["contracts", "x"]},
        {"link": {"name": "binds", "from": ["contracts", "x"], "to": ["artists", "1"],
          "rules": ["denyDestinationDeletion"]}}]}
      """#)
    return store
  }

  @Worker @Test func tellsTheStatus() throws {
    let store = try TestStore(model: "{ sweeps: { cascade: 'immediate', trash: 'never' } }")
    let kinds = ["cascade", "refcount", "dangling", "unreachable", "files", "trash"]
    let schedules = kinds.map { kind -> JSON in
      let isImmediate = kind == "cascade"
      return [
        "kind": .string(kind), "schedule": isImmediate ? "immediate" : "never", "next": nil,
        "nextWhy": isImmediate ? "immediate" : nil, "last": nil,
      ]
    }
    #expect(
      try store.ctl("--json", "status").json == [
        "version": .string(Release.version),
        "stores": [
          [
            "store": .string(store.path), "state": "ok", "reason": nil,
            "spool": ["waiting": 0, "held": 0, "rejected": 0, "stuck": 0], "journal": 0,
            "progress": nil,
            "longestReader": nil,
            "lockMs": ["p50": 0, "p99": 0, "max": 0], "heldPlans": [], "jobs": [],
            "expired": ["waiting": 0, "oldest": .null],
            "lastSweep": nil,
            "schedules": .array(schedules),
          ]
        ],
        "problems": [],
      ])
    try store.enqueue("bad.json", "{}")
    try store.waitUntil("it is rejected") { try store.count(in: "rejected") == 2 }
    #expect(
      try store.ctl("status").output == """
        cascaded \(Release.version)
          ok  \(store.path)  (0 waiting, 0 held, 1 rejected)
            cascade: immediate

        """)
  }

  @Worker @Test func listsWhatIsAsDeepAsAFileMayBe() throws {
    let store = try TestStore()
    let deep = String(repeating: #"{"a":"#, count: 61) + "1" + String(repeating: "}", count: 61)
    try store.apply(#"{"id": "deep", "changes": [{"put": ["notes", "n"], "value": \#(deep)}]}"#)
    for (command, about) in [("node", "notes/n"), ("nodes", "notes")] {
      #expect(try store.ctl("--json", command, about).output.contains(deep))
    }
  }

  @Worker @Test func showsANode() throws {
    let store = try QuestionTests.music()
    #expect(
      try store.ctl("node", "artists/1").output
        == "artists/1 (person)  {\"name\":\"Björk\"}\n")
    #expect(
      try store.ctl("--json", "node", "artists/1").json == [
        "node": ["artists", "1"], "exists": true, "type": "person", "value": ["name": "Björk"],
      ])
    #expect(try store.ctl("node", "songs/a/b").output == "songs/a/b\n")
    #expect(try store.ctl("node", "[\"albums\", 7]").output == "albums/7  {\"title\":\"Post\"}\n")
    #expect(
      try store.ctl("--json", "node", "songs/none").json == [
        "node": ["songs", "none"], "exists": false, "type": nil, "value": nil,
      ])
    #expect(try store.ctl("node", "songs/none").output == "songs/none does not exist\n")
  }

  @Worker @Test func namesANodeWithAnEmptyKey() throws {
    let store = try TestStore()
    try store.apply(#"{"changes": [{"put": ["songs", ""], "value": {"n": 1}}]}"#)
    #expect(try store.ctl("node", "songs/").output == "songs/  {\"n\":1}\n")
    #expect(try store.ctl("nodes", "songs").output == "songs/  {\"n\":1}\n")
    #expect(try store.ctl("--json", "why", "songs/").json["state"] == "alive")
    #expect(try store.ctl("--json", "plan", "songs/").json["deletedCount"] == 1)
  }

  @Worker @Test(arguments: ["songs", "/1", "[\"songs\"]", "[1, 2]", "cascade_x/1"])
  func refusesWhatIsNoNode(text: String) throws {
    let store = try TestStore()
    for command in ["node", "why", "plan"] {
      let outcome = try store.ctl(command, text)
      #expect(outcome.status == 64)
      #expect(outcome.error.contains("\"\(text)\" is not a node"))
    }
  }

  @Worker @Test(arguments: ["node", "why", "plan", "graph", "lease"])
  func refusesAKeyThatNothingCanHave(command: String) throws {
    let store = try Library.store()
    for (node, reason) in [
      (#"["albums", [1, 2]]"#, #"the key of "albums" is (id), which ["albums",[1,2]] does not"#),
      (#"["notes", ["a", "b"]]"#, "the key of a managed node must be text"),
    ] {
      let outcome = try store.ctl(command, node)
      #expect(outcome.status == 64)
      #expect(outcome.error.contains(reason))
    }
  }

  @Worker @Test func listsNodes() throws {
    let store = try QuestionTests.music()
    #expect(try store.ctl("nodes", "songs").output == "songs/a/b\nsongs/c\n")
    #expect(
      try store.ctl("--json", "nodes", "songs").lines.map { $0["node"] } == [
        ["songs", "a/b"], ["songs", "c"],
      ])
    let unknown = try store.ctl("--json", "nodes", "films")
    #expect(unknown.status == 0 && unknown.output == "")
    #expect(try store.ctl("--quiet", "nodes", "songs").output == "")
  }

  @Worker @Test func listsMoreNodesAndEdgesThanOneReplyHas() throws {
    let store = try TestStore()
    var text = ""
    for number in 1...2_500 {
      let key = String(String(10_000 + number).dropFirst())
      text += #"{"put": ["n", "\#(key)"], "edges": [{"name": "e", "to": ["m", "0"], "rules": []}]}"#
      text += "\n"
    }
    try store.apply(text + #"{"put": ["m", "0"]}"#)
    let nodes = try store.ctl("nodes", "n").output.split(separator: "\n")
    #expect(nodes.count == 2_500)
    #expect(nodes == nodes.sorted())
    #expect(Set(try store.ctl("edges", "--to", "m/0").output.split(separator: "\n")).count == 2_500)
    #expect(try store.ctl("edges", "--count").output == "2500\n")
  }

  /// Each combination, and how many edges it means.
  @Worker @Test func listsAndCountsEdgesInEveryCombination() throws {
    let store = try QuestionTests.music()
    let names: [(String?, Set<Int>)] = [
      (nil, [0, 1, 2, 3]), ("album", [2, 3]), ("artist", [0]), ("none", []),
    ]
    let sources: [(String?, Set<Int>)] = [
      (nil, [0, 1, 2, 3]), ("songs/c", [3]), ("albums/7", [0]), ("songs/none", []),
    ]
    let destinations: [(String?, Set<Int>)] = [
      (nil, [0, 1, 2, 3]), ("albums/7", [2, 3]), ("[\"artists\", 1]", [0, 1]), ("no/x", []),
    ]
    for (name, named) in names {
      for (source, from) in sources {
        for (destination, to) in destinations {
          let expected = named.intersection(from).intersection(to).count
          let options = options(("name", name), ("from", source), ("to", destination))
          let command = [Programs.cascadectl, "--store", store.path, "--json", "edges"] + options
          #expect(try run(command).lines.count == expected, "\(options)")
          let count = try run(command + ["--count"])
          #expect(try count.json == ["count": .integer(Int64(expected))], "\(options)")
        }
      }
    }
  }

  private func options(_ given: (String, String?)...) -> [String] {
    given.flatMap { name, value in value.map { ["--\(name)", $0] } ?? [] }
  }

  @Worker @Test func showsAnEdge() throws {
    let store = try QuestionTests.music()
    #expect(
      try store.ctl("--json", "edges", "--from", "songs/c").json == [
        "name": "album", "from": ["songs", "c"], "to": ["albums", "7"],
        "rules": ["deleteSourceIfDestinationDeleted", "deleteDestinationIfAllSourcesDeleted"],
        "origin": "declared", "kind": "stored",
      ])
    #expect(
      try store.ctl("edges", "--name", "binds").output
        == "contracts/x -binds-> artists/1  [denyDestinationDeletion]\n")
    #expect(try store.ctl("edges", "--name", "binds", "--count").output == "1\n")
  }

  @Worker @Test func tellsWhereAnEdgeLives() throws {
    let store = try TestStore(
      model: """
        { relationships: [
            { name: "of", from: "notes", to: "songs", property: "in.songs", toMany: true },
            { name: "about", from: "notes", column: "p", typeColumn: "t", to: { Song: "songs" } },
          ] }
        """)
    try store.apply(
      """
      {"changes": [{"put": ["songs", 1]}, {"put": ["songs", 2]},
        {"put": ["notes", "x"], "value": {"in": {"songs": [1, "2"]}, "p": 2, "t": "Song"}}]}
      """)
    let kinds = try store.ctl("--json", "edges", "--from", "notes/x").lines.map { $0["kind"] }
    #expect(kinds == ["property", "property", "polymorphic"])
    let edge = try store.ctl("--json", "edges", "--name", "about").json
    #expect(edge["origin"] == "declared" && edge["to"] == ["songs", "2"])
  }

  @Worker @Test func plansADeletion() throws {
    let store = try QuestionTests.music()
    let plan = try store.ctl("--json", "plan", "songs/c", "songs/a/b").json
    #expect(plan["nodes"] == [["songs", "c"], ["songs", "a/b"]])
    #expect(plan["deletedCount"] == 3)
    #expect(plan["byCollection"] == ["albums": 1, "songs": 2])
    #expect(plan["byRule"] == ["deleteDestinationIfAllSourcesDeleted": 1])
    #expect(plan["denied"] == [])
    #expect(plan["held"] == false)
    #expect(plan["steps"]?.array?.last?["rule"] == "deleteDestinationIfAllSourcesDeleted")
    let denied = try store.ctl("plan", "artists/1")
    #expect(denied.status == 0)
    #expect(denied.output.hasPrefix("denied: nothing would be deleted\n"))
    #expect(denied.output.contains("artists/1 must stay: contracts/x holds it"))
    let none = try store.ctl("plan", "songs/none")
    #expect(none.output == "nothing would be deleted: no such node\n")
    #expect(try store.integers("SELECT count(*) FROM cascade_node") == [5])
  }

  @Worker @Test func namesANodeAsItsTableDoes() throws {
    let store = try Library.store()
    let song: JSON = ["songs", 10]
    #expect(try store.ctl("--json", "why", "songs/10").json["node"] == song)
    #expect(try store.ctl("--json", "plan", "songs/10").json["nodes"] == [song])
    #expect(try store.ctl("--json", "why", "songs/999").json["node"] == ["songs", 999])
  }

  @Worker @Test func tellsWhyANodeIsThereAndWhyItWent() throws {
    let store = try QuestionTests.music()
    let alive = try store.ctl("--json", "why", "albums/7").json
    #expect(alive["state"] == "alive" && alive["holderCount"] == 2)
    #expect(alive["holders"]?.array?.map { $0["from"] } == [["songs", "a/b"], ["songs", "c"]])
    #expect(try store.ctl("why", "songs/c").output.hasPrefix("songs/c exists, and no edge"))
    try store.apply(
      #"{"id": "gone", "author": "you", "changes": [{"delete": ["albums", "7"]}]}"#)
    let gone = try store.ctl("--json", "why", "songs/c").json
    #expect(gone["state"] == "deleted" && gone["holders"] == [])
    #expect(gone["deleted"]?["id"] == "gone" && gone["deleted"]?["author"] == "you")
    #expect(
      gone["deleted"]?["chain"]?.array?.map { $0["node"] } == [["songs", "c"], ["albums", "7"]])
    let words = try store.ctl("why", "songs/c").output
    #expect(words.contains("by gone (you), batch 2\n"))
    let step = "songs/c  by deleteSourceIfDestinationDeleted of songs/c -album-> albums/7"
    #expect(words.contains(step))
    #expect(try store.ctl("--json", "why", "no/where").json["state"] == "unknown")
  }
}
