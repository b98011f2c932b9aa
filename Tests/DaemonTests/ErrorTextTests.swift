import CascadeSystem
import Testing

/// An error says in words what is wrong. Swift's own description of a value, such as
/// `Problem(reason: "…")`, tells its reader nothing.
@Suite struct ErrorTextTests {
  /// The first raw description of a value in a text.
  static func rawDescription(in text: String) -> Substring? {
    text.firstMatch(of: /\b[A-Z]\w+\((?:\)|[a-z]\w*: )/)?.output
  }

  /// Whichever error reaches a client or the log, it has words, because each type has.
  @Worker @Test func everyTypeOfErrorHasWords() throws {
    let declaration = #"^ *([a-z]+ )*(struct|enum|class|actor|extension) [A-Za-z.]+:.*\bError\b"#
    let found = try run(["/bin/grep", "-rnE", declaration, repositoryPath("Sources")])
    let types = found.output.split(separator: "\n")
    #expect(types.count > 30, "\(found.error)")
    for type in types { #expect(type.contains("CustomStringConvertible"), "\(type)") }
  }

  @Worker @Test func aTrashThatIsALinkIsToldInWords() throws {
    let store = try FileCommandTests.store()
    let trash = store.scratch.path("media/.cascade-trash")
    try store.waitUntil("the root is its own") { try FileStatus.of("\(trash)/owner") != nil }
    try Directory.open(trash).removeContents()
    Directory.removeEmpty(trash)
    Make.link(trash, to: "/tmp")
    try store.sql("DELETE FROM album WHERE id = 1")
    try store.wait(forState: "degraded")
    var texts = [store.log, try store.ctl("sweep", "files").output]
    for command in ["status", "why", "check", "undo"] {
      let of = ["why": ["media:1"], "undo": ["1"]][command] ?? []
      let told = try run([Programs.cascadectl, "--store", store.path, command] + of)
      texts += [told.output, told.error]
    }
    #expect(texts.contains { $0.contains("its path contains a symbolic link") })
    for text in texts { #expect(ErrorTextTests.rawDescription(in: text) == nil, "\(text)") }
  }
}
