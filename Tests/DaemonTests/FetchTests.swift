import CascadeKit
import CascadeModel
import Testing

/// `cascadectl fetch`, and what is under it.
@Suite struct FetchTests {
  private static let model = """
    { collections: { artists: { fetched: {
      recent: {
        from: "songs", limit: 2, settings: { since: 2000 },
        where: "value->>'$.artist' = $source.key AND value->>'$.year' >= $property.since",
        order: "value->>'$.year' DESC",
      },
      all: { from: "songs", where: "1" },
      broken: { from: "songs", where: "yeer = 1" },
      endless: {
        from: "artists",
        where: "instr(hex(zeroblob(20000000)), hex(zeroblob(1000000)) || 'x') = 0",
      },
      elsewhere: { from: "songs", where: "1", store: "/nowhere/at/all.db" },
    } } } }
    """

  private static func music() throws -> TestStore {
    let store = try TestStore(model: model)
    try store.apply(
      #"""
      {"put": ["artists", "nina"]}
      {"put": ["songs", "a"], "type": "live", "value": {"artist": "nina", "year": 2001}}
      {"put": ["songs", "b"], "value": {"artist": "nina", "year": 2003}}
      {"put": ["songs", "c"], "value": {"artist": "nina", "year": 2002}}
      {"put": ["songs", "d"], "value": {"artist": "nina", "year": 1964}}
      {"put": ["songs", "e"], "value": {"artist": "abba", "year": 2004}}
      """#)
    return store
  }

  @Worker @Test func listsWhatAPropertyLeadsTo() throws {
    let store = try FetchTests.music()
    #expect(
      try store.ctl("fetch", "artists/nina", "recent").output == """
        songs/b  {"artist":"nina","year":2003}
        songs/c  {"artist":"nina","year":2002}

        """)
    try store.apply(#"{"changes": [{"delete": ["songs", "b"]}]}"#)
    #expect(
      try store.ctl("--json", "fetch", "[\"artists\", \"nina\"]", "recent").lines == [
        [
          "node": ["songs", "c"], "exists": true, "type": nil,
          "value": ["artist": "nina", "year": 2002],
        ],
        [
          "node": ["songs", "a"], "exists": true, "type": "live",
          "value": ["artist": "nina", "year": 2001],
        ],
      ])
    #expect(try store.ctl("--quiet", "fetch", "artists/nina", "recent").output == "")
  }

  @Worker @Test func remembersUntilACommitOrARefresh() throws {
    let store = try FetchTests.music()
    var client = try store.client()
    func isCached(_ refresh: JSON = .null) throws -> JSON? {
      try client.call(
        "Fetch", ["node": "artists/nina", "name": "recent", "refresh": refresh])["cached"]
    }
    #expect(try isCached() == false)
    #expect(try isCached() == true)
    #expect(try isCached(true) == false)
    #expect(try isCached(false) == true)
    try store.apply(#"{"changes": [{"put": ["songs", "f"]}]}"#)
    #expect(try isCached() == false)
    #expect(try store.ctl("fetch", "--refresh", "artists/nina", "recent").status == 0)
    #expect(try isCached() == true)
  }

  @Worker @Test func keepsNobodyWaitingButWhoAsks() throws {
    let store = try FetchTests.music()
    let start = ContinuousClock.now
    let endless = try store.ctl("fetch", "artists/nina", "endless")
    #expect(endless.status == 75)
    #expect(endless.error.contains("the query is still running"))
    #expect(ContinuousClock.now - start < .seconds(30))
    try store.apply(#"{"put": ["songs", "f"]}"#)
  }

  @Worker @Test func listsMoreThanOneReplyHas() throws {
    let store = try FetchTests.music()
    let puts = (1...2_500).map { #"{"put": ["songs", "\#($0)"]}"# }
    try store.apply(puts.joined(separator: "\n"))
    let lines = try store.ctl("fetch", "artists/nina", "all").output.split(separator: "\n")
    #expect(lines.count == 2_505)
    #expect(Set(lines).count == 2_505)
    var client = try store.client()
    let first = try client.call("Fetch", ["node": "artists/nina", "name": "all"])
    #expect(first["nodes"]?.array?.count == 1_000)
  }

  @Worker
  @Test(arguments: [
    (
      ["artists/nina", "resent"], 64,
      "unknown fetched property \"resent\"; did you mean \"recent\"?"
    ),
    (["songs/a", "recent"], 64, "songs: unknown fetched property \"recent\""),
    (["artists/none", "recent"], 65, "there is no node artists/none"),
    (["nina", "recent"], 64, "\"nina\" is not a node"),
    (["artists/nina", "broken"], 64, "no such column: yeer"),
    (["artists/nina", "elsewhere"], 75, "/nowhere/at/all.db: unable to open database file"),
    (["artists/nina"], 64, "fetch needs NODE and NAME"),
    (["--fresh", "artists/nina", "recent"], 64, "unknown option --fresh"),
  ])
  func tellsWhyNot(arguments: [String], status: CInt, error: String) throws {
    let store = try FetchTests.music()
    let outcome = try run([Programs.cascadectl, "--store", store.path, "fetch"] + arguments)
    #expect(outcome.status == status)
    #expect(outcome.error.contains(error))
    #expect(outcome.output == "")
  }
}
