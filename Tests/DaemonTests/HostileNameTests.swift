import CascadeModel
import CascadeSystem
import Testing

/// What files call themselves is shown, and used, as a name only.
@Suite struct HostileNameTests {
  /// A terminal would obey the escape, and a reader of the log would take the next line for ours.
  @Worker @Test func noControlCharacterReachesALogOrATerminal() throws {
    let store = try TestStore()
    let id = #""x\n\u001b]0;y\u0007\u0085fake: line""#
    try store.enqueue("1.json", #"{"id": \#(id), "author": \#(id), "changes": []}"#)
    try store.waitUntilIdle()
    try store.enqueue(
      "2\n\u{1b}[2J.json", #"{"id": \#(id), "author": \#(id), "changes": [{"put": ["n", "1"]}]}"#)
    // A file leaves the queue before the log says why.
    try store.waitUntil("the log says why") { store.log.contains("was already used") }
    let shown = [
      store.log, try store.ctl("spool").output, try store.ctl("status").output,
      try store.ctl("events").output, try store.ctl("batches").output,
      try store.ctl("--json", "spool").output, try store.ctl("metrics").output,
      try store.ctl("spool", "drop", "no\u{1b}").error,
    ]
    for text in shown {
      let controls = text.unicodeScalars.filter {
        $0.properties.generalCategory == .control && $0 != "\n"
      }
      #expect(controls.isEmpty, "\(text)")
      #expect(!text.split(separator: "\n").contains { $0.hasPrefix("fake") }, "\(text)")
    }
  }

  @Worker @Test func dropsADirectoryAndANameThatIsNotUTF8() throws {
    let store = try TestStore()
    let temporary = try store.directory("tmp")
    try temporary.makeDirectory("d.json")
    try temporary.directory("d.json").makeDirectory("below")
    try temporary.directory("d.json").file("f", .createNew).writeAll([1])
    try temporary.rename("d.json", to: store.directory("new"), as: "d.json")
    let names = [0xff, 0xfe].map { FileName(bytes: Array("a\\".utf8) + [$0] + ".json".utf8) }
    for name in names { try store.enqueue(name, "{}") }
    try store.waitUntilIdle()
    let listed = try store.ctl("--json", "spool").lines.compactMap { $0["file"]?.string }
    #expect(listed == ["a\\\\\\xfe.json", "a\\\\\\xff.json", "d.json"])
    for name in [listed[0], listed[2]] { #expect(try store.ctl("spool", "drop", name).status == 0) }
    let raw = try run([
      "/bin/sh", "-c", #"exec "$0" --store "$1" spool drop "$(printf 'a\\\377.json')""#,
      Programs.cascadectl, store.path,
    ])
    #expect(raw.status == 0, "\(raw.error)")
    #expect(try store.count(in: "rejected") == 0)
  }

  /// What reorders a line, or ends one, is in every place that a client or a file can fill.
  @Worker @Test func noTextMisleadsATerminalOrALog() throws {
    let odd = "\u{202E}\u{2028}\u{2066}\u{200F}\u{9B}x"
    let store = try TestStore(
      model: "{ limits: { hold: { deletes: 1, share: 0 } }, sweeps: {} }", name: "s\(odd).db")
    let node = "[\"a\(odd)\", \"k\(odd)\"]"
    let file = """
      {"id": "i\(odd)", "author": "w\(odd)", "changes": [
        {"put": \(node), "type": "t\(odd)", "value": {"m\(odd)": "v\(odd)"}},
        {"put": ["a\(odd)", "2"]}, {"put": ["b", "1"]}, {"put": ["b", "2"]},
        {"link": {"name": "e\(odd)", "from": ["b", "1"], "to": \(node),
          "rules": ["denyDestinationDeletion"]}},
        {"link": {"name": "e\(odd)", "from": ["b", "2"], "to": ["a\(odd)", "2"],
          "rules": ["notifyIfDestinationDeleted"]}}]}
      """
    try store.scratch.write("one.json", file)
    try store.scratch.write("two.json", "{\"changes\": [{\"delete\": \(node)}]}")
    try store.scratch.write("three.json", "{\"changes\": [{\"delete\": [\"a\(odd)\", \"2\"]}]}")
    try store.scratch.write(
      "bad.json", "{\"changes\": [{\"patch\": [\"n\(odd)\", 1], \"set\": {}}]}")
    try store.scratch.write("held.json", "{\"changes\": [{\"deleteAll\": \"b\"}]}")
    let files = ["one", "two", "three", "bad", "held"].map { store.scratch.path("\($0).json") }
    let commands: [[String]] =
      files.map { ["apply", $0] } + [
        ["node", node], ["nodes", "a\(odd)"], ["edges"], ["why", node], ["plan", node], ["batches"],
        ["notices"], ["events"], ["status"], ["spool"], ["plan", "1"], ["check"], ["metrics"],
        ["graph", node], ["graph", node, "--format", "dot"], ["graph", node, "--format", "svg"],
        ["leases"], ["node", "x\(odd)"], ["\(odd)"],
        ["sweep", "\(odd)"], ["fetch", node, "f\(odd)"], ["undo", "2"], ["approve", "1"],
      ]
    for command in commands {
      for form in [[], ["--json"], ["--quiet"]] {
        let outcome = try run(
          [Programs.cascadectl, "--store", store.path] + form + command)
        for (what, text) in [("output", outcome.output), ("error", outcome.error)] {
          #expect(!text.misleads, "\(form) \(command.map(\.debugDescription)): \(what)")
        }
      }
    }
    #expect(!store.log.misleads)
    #expect(store.log.contains("u202e"))
    let rejected = try store.directory("rejected")
    try store.enqueue("late.json", "{\"author\": \"\(odd)\", \"changes\": [{\"x\(odd)\": 1}]}")
    try store.waitUntilIdle()
    #expect(!(try rejected.text("late.json.reason.json").misleads))
  }

  /// The reasons cannot be written while a directory has the place of their file.
  @Worker @Test func triesAFileAgainSoonAfterItsCauseHasGone() throws {
    let store = try TestStore()
    try store.directory("tmp").makeDirectory(".reasons")
    try store.enqueue("1.json", "no JSON")
    try store.waitUntil("it is stuck") { store.log.contains("cannot leave the queue") }
    try store.directory("tmp").removeDirectory(".reasons")
    try store.waitUntil("it is rejected", limit: .seconds(10)) {
      try store.count(in: "rejected") == 2
    }
  }
}

extension String {
  /// Whether a letter other than the end of a line could be obeyed.
  fileprivate var misleads: Bool {
    unicodeScalars.contains { scalar in
      switch scalar {
      case "\n", "\t": false
      case "\0"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{200E}"..."\u{200F}": true
      case "\u{2028}"..."\u{202E}", "\u{2066}"..."\u{2069}", "\u{61C}": true
      default: false
      }
    }
  }
}
