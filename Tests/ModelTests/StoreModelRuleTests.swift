import CascadeModel
import Testing

@Suite struct StoreModelRuleTests {
  private func file(_ relationships: String...) -> String {
    "{ files: { media: \"/m\" }, relationships: [\(relationships.joined(separator: ", "))] }"
  }

  @Test(
    arguments: [
      ("deleteRule: \"cascade\"", 8), ("deleteRule: \"deny\"", 256), ("deleteRule: \"nullify\"", 0),
      ("deleteRule: \"noAction\"", 0), ("inverse: \"i\"", 0),
      ("inverse: { name: \"i\", deleteRule: \"cascade\" }", 4),
      ("inverse: { name: \"i\", deleteRule: \"nullify\" }", 64),
      ("inverse: { name: \"i\", deleteRule: \"deny\" }", 128),
      ("inverse: { name: \"i\", deleteRule: \"noAction\" }", 0),
      ("rules: [\"notifyIfSourceDeleted\"], deleteRule: \"cascade\"", 9),
      ("rules: [\"deleteDestinationIfSourceDeleted\"], deleteRule: \"cascade\"", 8),
      ("rules: [\"deleteDestinationIfAllSourcesDeleted\"], deleteRule: \"nullify\"", 32),
    ] as [(String, Int64)])
  func `Core Data's words are rules`(members: String, rules: Int64) throws {
    let model = try readModel(file("{ name: \"n\", from: \"a\", to: \"b\", \(members) }"))
    #expect(model.relationships[0].rules.rawValue == rules)
  }

  @Test(arguments: [
    (
      "rules: [\"deleteSourceIfDestinationDeleted\", \"denyDestinationDeletion\"]",
      ["deleteSourceIfDestinationDeleted, denyDestinationDeletion"]
    ),
    (
      "rules: [\"deleteDestinationIfAllSourcesDeleted\"], deleteRule: \"deny\"",
      ["deleteDestinationIfAllSourcesDeleted, deleteRule \"deny\" (denySourceDeletion)"]
    ),
    (
      """
      rules: ["deleteSourceIfAllDestinationsDeleted", "deleteDestinationIfSourceDeleted"],
      deleteRule: "deny", inverse: { name: "i", deleteRule: "nullify" }
      """,
      [
        "deleteSourceIfAllDestinationsDeleted, "
          + "inverse.deleteRule \"nullify\" (nullifySourceIfDestinationDeleted)",
        "deleteDestinationIfSourceDeleted, deleteRule \"deny\" (denySourceDeletion)",
      ]
    ),
  ])
  func `rules and words that clash are all named`(members: String, clashes: [String]) {
    #expect(
      problems(in: file("{ name: \"n\", from: \"a\", to: \"b\", \(members) }"))
        == clashes.map { "relationships[0].rules: answer the same event in two ways: \($0)" })
  }

  @Test(arguments: [
    ("rules: [\"notifyIfSourceDeleted\"]", ".rules", "notifyIfSourceDeleted"),
    ("deleteRule: \"deny\"", "", "denySourceDeletion"),
  ])
  func `an edge to a file takes only two rules`(members: String, place: String, rule: String) {
    #expect(
      problems(in: file("{ name: \"n\", from: \"a\", to: { files: \"media\" }, \(members) }")) == [
        "relationships[0]\(place): an edge to a file takes only deleteDestinationIfSourceDeleted "
          + "or deleteDestinationIfAllSourcesDeleted, not \(rule)"
      ])
  }

  @Test func `a file may be deleted with its source`() throws {
    let model = try readModel(
      file("{ name: \"n\", from: \"a\", to: { files: \"media\" }, deleteRule: \"cascade\" }"))
    #expect(model.relationships[0].rules == .deleteDestinationIfSourceDeleted)
  }

  @Test func `each half of a pair has the rules that the other's words mean for it`() throws {
    let model = try readModel(
      file(
        "{ name: \"album\", from: \"songs\", to: \"albums\", inverse: \"songs\" }",
        """
        { name: "songs", from: "albums", to: "songs", toMany: true, deleteRule: "cascade",
          inverse: { name: "album", deleteRule: "deny" } }
        """))
    #expect(model.relationships[0].rules.rawValue == 4 | 256)
    #expect(model.relationships[1].rules.rawValue == 8 | 128)
  }

  @Test func `a relationship may be its own inverse`() throws {
    let model = try readModel(
      file(
        """
        { name: "cousins", from: "people", to: "people", toMany: true, inverse: "cousins",
          deleteRule: "nullify" }
        """))
    #expect(model.relationships[0].rules == .nullifySourceIfDestinationDeleted)
    #expect(model.relationships[0].inverse?.toMany == true)
  }

  @Test func `a word of the other half that clashes is named as the other's`() {
    let pair = file(
      """
      { name: "album", from: "songs", to: "albums", inverse: "songs",
        rules: ["deleteSourceIfAllDestinationsDeleted"] }
      """,
      "{ name: \"songs\", from: \"albums\", to: \"songs\", toMany: true, deleteRule: \"deny\" }")
    #expect(
      problems(in: pair) == [
        "relationships[0].rules: answer the same event in two ways: "
          + "deleteSourceIfAllDestinationsDeleted, "
          + "deleteRule \"deny\" of its inverse \"songs\" (denyDestinationDeletion)"
      ])
  }
}
