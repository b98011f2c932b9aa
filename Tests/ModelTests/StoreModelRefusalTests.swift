import CascadeModel
import Testing

@Suite struct StoreModelRefusalTests {
  @Test(arguments: [
    ("[]", "expected an object, found a list"),
    ("{ stor: \"/a\" }", #"stor: unknown key "stor"; did you mean "store"?"#),
    ("{ store: 1 }", "store: expected a path, found a number"),
    ("{ store: \"a.db\" }", #"store: "a.db" is not an absolute path"#),
    ("{ store: \"/a/\" }", #"store: "/a/" is a directory"#),
    ("{ store: \"\" }", "store: a path may not be empty"),
    ("{ spool: \"x\" }", #"spool: "x" is not an absolute path"#),
    ("{ strict: 1 }", "strict: expected true or false, found a number"),
    ("{ secureDelete: true }", "secureDelete: expected a word, found true"),
    ("{ secureDelete: \"fst\" }", #"secureDelete: unknown word "fst"; did you mean "fast"?"#),
    ("{ trash: 0 }", #"trash: expected a duration such as "10ms" or "1d", found a number"#),
    ("{ keep: { ledger: \"0\" } }", "keep.ledger: must be greater than zero"),
    ("{ trash: \"36526d\" }", #"trash: "36526d" is longer than 36525d"#),
    (
      "{ keep: { ledger: \"106751991167d\" } }",
      #"keep.ledger: "106751991167d" is longer than 36525d"#
    ),
    (
      "{ limits: { lock: \"106751991167d\" } }",
      #"limits.lock: "106751991167d" is longer than 36525d"#
    ),
    ("{ trash: \"1y\" }", #"trash: "1y" is not a duration, such as "10ms", "15m" or "1d""#),
    ("{ roots: \"a\" }", "roots: expected a list of collections, found a string"),
    ("{ roots: [\"a\", 1] }", "roots[1]: expected a collection, found a number"),
    ("{ files: { m: \"media\" } }", #"files.m: "media" is not an absolute path"#),
    ("{ files: { \"a/b\": \"/m\" } }", #"files["a/b"]: a file root's name may not contain "/""#),
    (
      "{ files: { a: \"/m\", b: \"/m/x/\" } }",
      "files.b: overlaps files.a: a file would have two names"
    ),
    (
      "{ sweeps: { refcout: \"never\" } }",
      #"sweeps.refcout: unknown sweep "refcout"; did you mean "refcount"?"#
    ),
    ("{ sweeps: { cascade: \"now\" } }", "sweeps.cascade: "),
    ("{ sweeps: { cascade: \"61 * * * *\" } }", #"sweeps.cascade: minute "61" is not within 0-59"#),
    ("{ limits: { lok: \"1s\" } }", #"limits.lok: unknown key "lok"; did you mean "lock"?"#),
    ("{ limits: { lock: \"0\" } }", "limits.lock: must be greater than zero"),
    (
      "{ limits: { standby: \"ever\" } }",
      #"limits.standby: "ever" is not a duration, such as "10ms", "15m" or "1d""#
    ),
    (
      "{ limits: { lock: \"nine\" } }",
      #"limits.lock: "nine" is not a duration, such as "10ms", "15m" or "1d""#
    ),
    ("{ limits: { lock: \"1s\", alone: \"1ms\" } }", "limits.alone: is shorter than limits.lock"),
    ("{ limits: { hold: { share: 1.5 } } }", "limits.hold.share: 1.5 is not within 0 to 1"),
    (
      "{ limits: { hold: { share: \"1\" } } }",
      "limits.hold.share: expected a number from 0 to 1, found a string"
    ),
    ("{ limits: { hold: { deletes: -1 } } }", "limits.hold.deletes: -1 is less than 0"),
    (
      "{ limits: { hold: { deletes: 0.5 } } }",
      "limits.hold.deletes: expected a whole number, found a number"
    ),
    (
      "{ limits: { hold: { within: \"ten\" } } }",
      #"limits.hold.within: "ten" is not a duration, such as "10ms", "15m" or "1d""#
    ),
    (
      "{ collections: { a: { hold: \"no\" } } }",
      "collections.a.hold: expected true or false, found a string"
    ),
  ])
  func `a setting that means nothing is refused`(text: String, problem: String) {
    expect(problems(in: text), are: problem)
  }

  @Test(arguments: [
    ("a: []", "collections.a: expected an object, found a list"),
    ("\"\": {}", #"collections[""]: a collection's name may not be empty"#),
    ("\"a/b\": {}", #"collections["a/b"]: a collection's name may not contain "/""#),
    ("cascade_a: {}", #"collections.cascade_a: a collection's name may not begin with "cascade_""#),
    ("a: { tabel: \"t\" }", #"collections.a.tabel: unknown key "tabel"; did you mean "table"?"#),
    ("a: { table: \"t\" }", #"collections.a: "key" is missing"#),
    ("a: { key: \"id\" }", #"collections.a.key: "key" applies to a table, but "table" is missing"#),
    (
      "a: { replace: \"ignore\" }",
      #"collections.a.replace: "replace" applies to a table, but "table" is missing"#
    ),
    ("a: { was: \"a\" }", #"collections.a.was: "a" is what it is called now"#),
    ("a: { was: \"c\" }, b: { was: \"c\" }", #"collections.b.was: "c" is already what "a" was"#),
    ("a: { was: 1 }", "collections.a.was: expected a name or an object, found a number"),
    (
      "a: { was: { tabel: \"t\" } }",
      #"collections.a.was.tabel: unknown key "tabel"; did you mean "table"?"#
    ),
    ("a: { table: \"\", key: \"id\" }", "collections.a.table: a table may not be empty"),
    (
      "a: { table: \"Cascade_edge\", key: \"id\" }",
      #"collections.a.table: "Cascade_edge" is not a table of the application"#
    ),
    ("a: { table: \"t\", key: [] }", "collections.a.key: a key needs a column"),
    (
      "a: { table: \"t\", key: [\"x\", \"X\"] }",
      #"collections.a.key[1]: column "X" is listed twice"#
    ),
    (
      "a: { table: \"t\", key: 1 }",
      "collections.a.key: expected a column or a list of columns, found a number"
    ),
    (
      "a: { table: \"t\", key: \"id\", types: {} }",
      "collections.a.types: only a managed collection has types"
    ),
    (
      "a: { table: \"t\", key: \"id\", replace: \"ignored\" }",
      #"collections.a.replace: unknown word "ignored"; did you mean "ignore"?"#
    ),
    (
      "a: { table: \"t\", key: \"id\" }, b: { table: \"T\", key: \"id\" }",
      #"collections.b.table: table "T" is already collection "a""#
    ),
    (
      "a: { types: { x: \"n\", y: \"n\" } }",
      #"collections.a.types.y: "n" is already collections.a.types.x"#
    ),
    ("a: { types: { x: \"b\" } }, b: {}", #"collections.a.types.x: "b" is already a collection"#),
    ("a: { types: { x: \"b/c\" } }", #"collections.a.types.x: a type's name may not contain "/""#),
  ])
  func `a collection that cannot be is refused`(members: String, problem: String) {
    expect(problems(in: "{ collections: { \(members) } }"), are: problem)
  }

  @Test(arguments: [
    ("from: \"a\"", #": "where" is missing"#),
    ("where: \"1\"", #": "from" is missing"#),
    ("from: \"a\", where: \"1\", limit: 0", ".limit: 0 is less than 1"),
    ("from: \"a\", where: \"1\", order: \"(x\"", #".order: a "(" is not closed"#),
    ("from: \"a\", where: \"x) OR (y\"", #".where: a ")" has no matching "(""#),
    ("from: \"a\", where: \"x = 'a\"", ".where: a text has no closing '"),
    ("from: \"a\", where: \"1; DROP TABLE t\"", #".where: ";" is not allowed in an expression"#),
    ("from: \"a\", where: \"x -- y\"", ".where: a comment is not allowed in an expression"),
    ("from: \"a\", where: \"x = ?1\"", #".where: "?" is not allowed in an expression"#),
    ("from: \"a\", where: \"1); DELETE FROM song; --\"", #".where: a ")" has no matching "(""#),
    ("from: \"a\", where: \"x /* y */\"", ".where: a comment is not allowed in an expression"),
    // For Swift, a quote with an accent is another character; for SQLite it is a quote.
    ("from: \"a\", where: \"'\u{301}' OR x'\"", ".where: a text has no closing '"),
    (
      "from: \"a\", where: \"x = $source.a.b\"",
      #".where: "$source.a" is a value, and has no members"#
    ),
    (
      "from: \"cascade_node\", where: \"1\", store: \"/o.db\"",
      #".from: a collection's name may not begin with "cascade_""#
    ),
    (
      "from: \"a\", where: \"x = $sorce.y\"",
      #".where: unknown variable "$sorce"; did you mean "$source"?"#
    ),
    ("from: \"a\", where: \"x = $source\"", #".where: "$source" needs a member, as in $source.id"#),
    ("from: \"a\", where: \"x = $property.k\"", #".where: unknown setting "k""#),
    (
      "from: \"a\", where: \"1\", settings: { k: [] }",
      ".settings.k: expected a string, a number, true, false or null, found a list"
    ),
    ("from: \"a\", where: \"1\", store: \"o.db\"", #".store: "o.db" is not an absolute path"#),
  ])
  func `a fetched property that cannot be is refused`(members: String, problem: String) {
    let file = "{ collections: { a: { fetched: { f: { \(members) } } } } }"
    expect(problems(in: file), are: "collections.a.fetched.f" + problem)
  }

  @Test func `quotes hide what would otherwise have a meaning`() {
    let condition = #"x = ';--' AND `a;b` = [c;d] AND y = 'it''s $z' AND z = 1 - 2 / 3"#
    let file = "{ collections: { a: { fetched: { f: { from: 'a', where: \"\(condition)\" } } } } }"
    expect(problems(in: file), are: "")
  }

  @Test func `a strict model knows its own names and no others`() {
    let file = """
      { strict: true, collections: { songs: { types: { l: "live" } } }, roots: ["song"],
        relationships: [{ name: "a", from: "live", to: "artists" }] }
      """
    #expect(
      problems(in: file) == [
        #"relationships[0].to: unknown collection "artists"; known: live, songs"#,
        #"roots[0]: unknown collection "song"; did you mean "songs"?"#,
      ])
    #expect(problems(in: file.replacing("strict: true", with: "strict: false")) == [])
  }

  @Test func `a strict model's fetched properties search known collections, or another store`() {
    let fetched = """
      { strict: true, collections: { a: { fetched: {
        f: { from: "b", where: "1" }, g: { from: "b", where: "1", store: "/o.db" } } } } }
      """
    #expect(
      problems(in: fetched)
        == [#"collections.a.fetched.f.from: unknown collection "b"; did you mean "a"?"#])
  }

  /// Words that are legal somewhere, put in the places of others: one in sixteen, which is
  /// enough to meet every kind of place.
  @Test func `a legal word in any wrong place is read or refused, and never stops the reader`() {
    let words: [Substring] =
      StoreModelTests.example.split { " {}[],:\n".contains($0) } + ["1", "null", "-1"]
    let pieces = StoreModelTests.example.split(separator: " ", omittingEmptySubsequences: false)
    var refused = 0
    for index in pieces.indices where !pieces[index].isEmpty {
      for word in stride(from: index % 16, to: words.count, by: 16).map({ words[$0] }) {
        var pieces = pieces
        pieces[index] = word + pieces[index].suffix(while: { ",:[]{}\n".contains($0) })
        refused += problems(in: pieces.joined(separator: " ")).isEmpty ? 0 : 1
      }
    }
    #expect(refused > 1000)
  }

  @Test func `every problem of a file is listed, not only the first`() {
    let file = """
      { sotre: 1, collections: { a: { table: "t" } }, relationships: [ 1, { name: "" } ],
        limits: { lock: 1 }, trash: "x" }
      """
    #expect(problems(in: file).count == 8)
  }

  @Test(arguments: ["", "{", "{ store: }", "{ trash: '1d', trash: '2d' }", "{} x"])
  func `a file that cannot be read says in which line and column`(text: String) {
    let problem = problems(in: "\n" + text)
    #expect(problem.count == 1)
    #expect(problem.first?.hasPrefix("line ") == true)
  }
}

extension Substring {
  fileprivate func suffix(while belongs: (Character) -> Bool) -> Substring {
    self[(lastIndex { !belongs($0) }.map(index(after:)) ?? startIndex)...]
  }
}

/// One problem; none when it is empty. One that ends in ": " is a beginning.
func expect(
  _ problems: [String], are problem: String, at location: SourceLocation = #_sourceLocation
) {
  if problem.hasSuffix(": ") {
    #expect(problems.count == 1 && problems[0].hasPrefix(problem), sourceLocation: location)
  } else {
    #expect(problems == (problem.isEmpty ? [] : [problem]), sourceLocation: location)
  }
}
