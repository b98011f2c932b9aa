import CascadeModel
import Testing

/// Two tables, one of them with a key of two columns, and a file root.
private func file(_ relationships: String...) -> String {
  """
  { collections: { songs: { table: "song", key: "id" }, tags: { table: "tag", key: ["a", "b"] } },
    files: { media: "/m" }, relationships: [\(relationships.joined(separator: ", "))] }
  """
}

/// A relationship that is legal but for the members given.
private func relationship(_ members: String, to: String = "\"albums\"") -> String {
  "{ name: \"album\", from: \"songs\", to: \(to), \(members) }"
}

@Suite struct StoreModelRelationshipTests {
  @Test(arguments: [
    ("{ from: \"a\", to: \"b\" }", #": "name" is missing"#),
    ("{ name: \"n\", to: \"b\" }", #": "from" is missing"#),
    ("{ name: \"n\", from: \"a\" }", #": "to" is missing"#),
    ("{ name: \"\", from: \"a\", to: \"b\" }", ".name: a name may not be empty"),
    (
      "{ name: \"n\", from: \"a/b\", to: \"b\" }",
      #".from: a collection's name may not contain "/""#
    ),
    (
      "{ name: \"n\", from: \"a\", to: 1 }",
      ".to: expected a collection, a list of them, { files: ROOT } or a map from types to collections, found a number"
    ),
    (
      "{ name: \"n\", from: \"a\", to: { A: \"b\" } }",
      #".to: a map from types to collections needs "typeColumn""#
    ),
    (
      "{ name: \"n\", from: \"a\", to: { file: \"media\" } }",
      #".to.file: unknown key "file"; did you mean "files"?"#
    ),
    (
      "{ name: \"n\", from: \"a\", to: { files: \"medio\" } }",
      #".to.files: unknown file root "medio"; did you mean "media"?"#
    ),
    (
      "{ name: \"n\", from: \"a\", to: \"b\", columns: \"c\" }",
      #".columns: unknown key "columns"; did you mean "column"?"#
    ),
    ("[]", ": expected an object, found a list"),
  ])
  func `a relationship has a name and two ends`(written: String, problem: String) {
    let found = problems(in: file(written)).filter { !$0.hasSuffix(#""files" is missing"#) }
    #expect(found == ["relationships[0]" + problem])
  }

  @Test(arguments: [
    (
      "column: \"c\", join: {table: \"t\", source: \"s\", destination: \"d\"}",
      "join: a relationship needs exactly one of column, join and property"
    ),
    (
      "column: \"c\", property: \"p\"",
      "property: a relationship needs exactly one of column, join and property"
    ),
    ("column: \"\"", "column: a column may not be empty"),
    (
      "column: \"c\", toMany: true",
      "toMany: a column holds one reference; use join or property for many"
    ),
    (
      "column: \"c\", typeColumn: \"t\"",
      #"typeColumn: "typeColumn" needs a map from types to collections in "to""#
    ),
    ("join: {table: \"t\", source: \"s\"}", #"join: "destination" is missing"#),
    (
      "join: {table: \"t\", source: \"s\", destination: \"s\"}",
      #"join.destination: "s" is the column of the source"#
    ),
    (
      "join: {table: \"sqlite_x\", source: \"s\", destination: \"d\"}",
      #"join.table: "sqlite_x" is not a table of the application"#
    ),
    (
      "join: {table: \"t\", sorce: \"s\", source: \"s\", destination: \"d\"}",
      #"join.sorce: unknown key "sorce"; did you mean "source"?"#
    ),
    ("property: 1", "property: expected a property, found a number"),
    ("min: 1, max: 3", "max: a to-one relationship has no max of 3; is toMany missing?"),
    ("toMany: true, min: 3, max: 2", "min: min 3 is more than max 2"),
    ("toMany: true, max: 0", "max: 0 is less than 1"),
    ("min: -1", "min: -1 is less than 0"),
    ("optional: \"no\"", "optional: expected true or false, found a string"),
    ("unique: 1", "unique: expected true or false, found a number"),
    ("rules: \"cascade\"", "rules: expected a list of rules, found a string"),
    ("rules: [\"notifyIfSourceDeleted\", 4]", "rules[1]: expected a rule's name, found a number"),
    (
      "rules: [\"deleteSourceIfDestinationDeletd\"]",
      #"rules[0]: unknown rule "deleteSourceIfDestinationDeletd"; did you mean "deleteSourceIfDestinationDeleted"?"#
    ),
    ("rules: [\"deny\"]", #"rules[0]: "deny" is a value of deleteRule, not a rule"#),
    (
      "deleteRule: \"cascaded\"",
      #"deleteRule: unknown delete rule "cascaded"; did you mean "cascade"?"#
    ),
    (
      "deleteRule: \"x\"",
      #"deleteRule: unknown delete rule "x"; known: cascade, deny, nullify, noAction"#
    ),
    ("inverse: { deleteRule: \"deny\" }", #"inverse: "name" is missing"#),
    ("inverse: { name: \"s\", unique: true }", "inverse.unique: unknown key"),
    (
      "inverse: { name: \"s\", toMany: false, max: 2 }",
      "inverse.max: a to-one relationship has no max of 2; is toMany missing?"
    ),
    ("inverse: { name: \"s\", min: 2, max: 1 }", "inverse.min: min 2 is more than max 1"),
    ("inverse: []", "inverse: expected a name or an object, found a list"),
    (
      "unique: true, inverse: { name: \"s\", toMany: true }",
      "inverse: a unique relationship has a to-one inverse"
    ),
    ("column: \"c\", none: 0", "none: expected a list of values, found a number"),
    ("column: \"c\", none: [0, null]", "none[1]: null never refers to anything: leave it out"),
    ("column: \"c\", none: [0.5]", "none[0]: expected a string or a whole number, found a number"),
    ("column: \"c\", none: [0, 0]", "none[1]: is listed twice"),
    (
      "none: [0]",
      "none: Cascade stores these edges itself: an edge that is not there has no value"
    ),
  ])
  func `a member that cannot be is refused`(members: String, problem: String) {
    let found = problems(in: file(relationship(members)))
    #expect(found.count == 1)
    #expect(found.first?.hasPrefix("relationships[0]." + problem) == true, "\(found)")
  }

  @Test(arguments: [
    (
      "{ name: \"n\", from: \"notes\", to: \"songs\", column: \"c\" }",
      #"column: a column needs a table, and collection "notes" has none"#
    ),
    (
      "{ name: \"n\", from: \"song\", to: \"songs\", column: \"c\" }",
      #"column: a column needs a table, and collection "song" has none; did you mean "songs"?"#
    ),
    (
      "{ name: \"n\", from: \"notes\", to: \"songs\", join: {table: \"t\", source: \"s\", destination: \"d\"} }",
      #"join: a join needs a table, and collection "notes" has none"#
    ),
    (
      "{ name: \"n\", from: \"songs\", to: \"tags\", column: \"c\" }",
      #"column: one column cannot hold the key of 2 columns of "tags": list one for each of a, b"#
    ),
    (
      "{ name: \"n\", from: \"tags\", to: \"songs\", join: {table: \"t\", source: \"s\", destination: \"d\"} }",
      #"join.source: one column cannot hold the key of 2 columns of "tags": list one for each of a, b"#
    ),
    (
      "{ name: \"n\", from: \"songs\", to: \"tags\", join: {table: \"t\", source: \"s\", destination: \"d\"} }",
      #"join.destination: one column cannot hold the key of 2 columns of "tags": list one for each of a, b"#
    ),
    (
      "{ name: \"n\", from: \"songs\", to: \"tags\", column: [\"c\", \"d\", \"e\"] }",
      #"column: 3 columns cannot hold the key of 2 columns of "tags": list one for each of a, b"#
    ),
    (
      "{ name: \"n\", from: \"tags\", to: \"songs\", column: [\"c\", \"d\"] }",
      #"column: 2 columns cannot hold the key of one column of "songs""#
    ),
    (
      "{ name: \"n\", from: \"songs\", to: \"tags\", column: [\"c\", \"C\"] }",
      #"column[1]: column "C" is listed twice"#
    ),
    (
      "{ name: \"n\", from: \"songs\", to: { files: \"media\" }, column: [\"c\", \"d\"] }",
      "column: a path is in one column"
    ),
    (
      "{ name: \"n\", from: \"songs\", to: \"tags\", property: [\"c\", \"d\"] }",
      #"property: a property holds the whole reference; only "column" may be a list"#
    ),
    (
      "{ name: \"n\", from: \"songs\", to: { files: \"media\" }, join: {table: \"t\", source: \"s\", destination: \"d\"} }",
      "join: a join table joins tables, not files"
    ),
    (
      "{ name: \"n\", from: \"songs\", to: { S: \"songs\" }, column: \"c\", typeColumn: \"c\" }",
      #"typeColumn: "c" is the column of the reference"#
    ),
    (
      "{ name: \"n\", from: \"songs\", to: {}, column: \"c\", typeColumn: \"t\" }",
      "to: has no types"
    ),
    (
      "{ name: \"n\", from: \"songs\", to: { S: \"songs\" }, property: \"c\", typeColumn: \"t\" }",
      #"typeColumn: "typeColumn" needs "column" beside it"#
    ),
    (
      "{ name: \"n\", from: \"songs\", to: { files: \"media\" }, inverse: \"song\" }",
      "inverse: a file has no inverse"
    ),
  ])
  func `a place that cannot hold the edges is refused`(written: String, problem: String) {
    #expect(problems(in: file(written)) == ["relationships[0]." + problem])
  }

  private static let either = "name: \"n\", from: \"songs\", to: [\"songs\", \"notes\"]"

  @Test func `a column may lead to one of several collections`() throws {
    let model = try readModel(file("{ \(Self.either), column: \"c\", rules: [] }"))
    #expect(model.relationships[0].to == .either(["songs", "notes"]))
    #expect(model.relationships[0].to.collections == ["notes", "songs"])
    let note = Destination.node(Node("notes", .text("1")))
    #expect(model.rules(for: "n", from: "songs", to: note) == [])
  }

  @Test(arguments: [
    (
      "\(either), column: \"c\", typeColumn: \"t\"",
      #".typeColumn: "typeColumn" needs a map from types to collections in "to""#
    ),
    (
      "\(either), column: \"c\", inverse: \"i\"",
      ".inverse: a reference to one of several collections has no inverse"
    ),
    (
      either, #".to: only a reference in a "column" may lead to one of several collections"#
    ),
    (
      "\(either), property: \"c\"",
      #".to: only a reference in a "column" may lead to one of several collections"#
    ),
    (
      "name: \"n\", from: \"songs\", to: [\"songs\"], column: \"c\"",
      ".to: a list has at least two collections"
    ),
    (
      "name: \"n\", from: \"songs\", to: [\"a\", \"a\"], column: \"c\"",
      ".to[1]: is listed twice"
    ),
    (
      "name: \"n\", from: \"songs\", to: [\"a\", { files: \"media\" }], column: \"c\"",
      ".to[1]: files cannot be one of several destinations"
    ),
    (
      "name: \"n\", from: \"songs\", to: [\"a\", \"tags\"], column: \"c\"",
      #".column: one column cannot hold the key of 2 columns of "tags": list one for each of a, b"#
    ),
  ])
  func `what cannot lead to one of several collections is refused`(
    written: String, problem: String
  ) {
    #expect(problems(in: file("{ \(written) }")) == ["relationships[0]" + problem])
  }

  @Test func `such a reference is no inverse of another`() {
    let other = "{ name: \"m\", from: \"notes\", to: \"songs\", inverse: \"n\" }"
    #expect(
      problems(in: file("{ \(Self.either), column: \"c\" }", other)) == [
        #"relationships[1].inverse: "n" of "songs": a reference to one of several collections has no inverse"#
      ])
  }

  @Test func `references of a managed collection may be polymorphic`() {
    let subject =
      "{ name: \"s\", from: \"notes\", to: { S: \"songs\" }, column: \"c\", typeColumn: \"t\" }"
    #expect(problems(in: file(subject)) == [])
  }

  @Test func `a name from one collection to another is declared once for one place`() {
    let written = relationship("rules: []")
    #expect(
      problems(in: file(written, relationship("column: \"c\""), relationship("toMany: true")))
        == [
          #"relationships[2]: "album" of "songs" is already declared at relationships[0]"#
        ])
  }

  @Test func `a join is to-many unless it says otherwise`() throws {
    let join = "join: {table: \"t\", source: \"s\", destination: \"d\"}"
    let model = try readModel(
      file(relationship(join + ", max: 3"), relationship(join + ", toMany: false", to: "\"x\"")))
    #expect(model.relationships.map(\.toMany) == [true, false])
  }
}
