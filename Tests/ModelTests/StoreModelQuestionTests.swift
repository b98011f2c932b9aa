import CascadeModel
import Testing

@Suite struct StoreModelQuestionTests {
  private func destination(_ collection: String) -> Destination {
    .node(Node(collection, .text("1")))
  }

  @Test func `rules are known by name, source and destination, or not at all`() throws {
    let model = try readModel(StoreModelTests.example)
    #expect(model.rules(for: "album", from: "songs", to: destination("albums"))?.rawValue == 36)
    #expect(model.rules(for: "subject", from: "notes", to: destination("songs")) == [])
    #expect(model.rules(for: "subject", from: "notes", to: destination("artists")) == nil)
    #expect(model.rules(for: "album", from: "albums", to: destination("albums")) == nil)
    let cover = Destination.file(root: "media", path: "1.jpg")
    #expect(model.rules(for: "cover", from: "albums", to: cover)?.rawValue == 32)
    #expect(
      model.rules(for: "cover", from: "albums", to: .file(root: "x", path: "1.jpg")) == nil)
  }

  @Test func `of a name in two places, the stored one gives the rules`() throws {
    let model = try readModel(
      """
      { relationships: [
        { name: "a", from: "x", to: "y", property: "p", deleteRule: "cascade" },
        { name: "a", from: "x", to: "y", deleteRule: "deny" } ] }
      """)
    #expect(model.rules(for: "a", from: "x", to: destination("y")) == .denySourceDeletion)
    #expect(model.relationship(named: "a", from: "x")?.edgeStorage == .property("p"))
    #expect(model.relationships(named: "a", from: "x").count == 2)
  }

  @Test func `a type's name stands for its objects alone`() throws {
    let model = try readModel(
      """
      { collections: { posts: { types: { photo: "photos", text: "texts" } } },
        relationships: [
          { name: "image", from: "photos", to: "files", optional: false, deleteRule: "cascade" },
          { name: "cites", from: "texts", to: "photos", toMany: true } ] }
      """)
    #expect(model.rules(for: "image", from: "posts", to: destination("files"))?.rawValue == 8)
    #expect(model.rules(for: "image", from: "texts", to: destination("files")) == nil)
    #expect(model.rules(for: "cites", from: "posts", to: destination("posts")) == [])
    #expect(model.constraints(from: "posts", type: "photo").map(\.name) == ["image"])
    #expect(model.constraints(from: "posts", type: "text") == [])
    #expect(model.constraints(from: "posts") == [])
  }

  @Test func `only a strict model allows its own collections alone`() throws {
    #expect(StoreModel.empty.allows(collection: "new"))
    let strict = try readModel("{ strict: true, collections: { a: {} } }")
    #expect(strict.allows(collection: "a"))
    #expect(!strict.allows(collection: "b"))
    let tables = try readModel(#"{ collections: { t: { table: "t", key: "id" } } }"#)
    #expect(tables.allows(collection: "b"))
    let listing = try readModel(#"{ collections: { a: {} }, roots: ["c"] }"#)
    #expect(["a", "b", "c"].map(listing.allows) == [true, false, true])
    #expect(try readModel("{ strict: false, collections: { a: {} } }").allows(collection: "b"))
  }

  @Test(arguments: [
    (#""#, 0, nil), (#""#, 1, nil), (#""#, 2, Violation.tooMany),
    (#"optional: false"#, 0, .missingMandatory), (#"optional: false"#, 1, nil),
    (#"toMany: true, min: 2, max: 3"#, 0, nil), (#"toMany: true, min: 2, max: 3"#, 1, .tooFew),
    (#"toMany: true, min: 2, max: 3"#, 3, nil), (#"toMany: true, min: 2, max: 3"#, 4, .tooMany),
    (#"toMany: true, min: 2, optional: false"#, 0, .missingMandatory),
  ])
  func `a count is judged by the bounds`(bounds: String, count: Int, violation: Violation?) throws {
    let model = try readModel(
      "{ relationships: [{ name: \"a\", from: \"x\", to: \"y\", \(bounds) }] }")
    let constraint = try #require(model.constraints(from: "x").first)
    #expect(constraint.violation(count: count) == violation)
    #expect(constraint.outgoing == "a")
    #expect(constraint.incoming == nil)
  }

  @Test func `a relationship that demands nothing is no constraint`() throws {
    let model = try readModel(
      #"{ relationships: [{ name: "a", from: "x", to: "y", toMany: true, inverse: "b" }] }"#)
    #expect(model.constraints(from: "x") == [])
    #expect(model.constraints(from: "y") == [])
  }

  @Test func `an inverse constrains the destination`() throws {
    let model = try readModel(
      """
      { relationships: [{ name: "album", from: "songs", to: "albums", unique: true,
        inverse: { name: "song", optional: false } }] }
      """)
    let constraint = try #require(model.constraints(from: "albums").first)
    #expect(constraint.name == "song")
    #expect(constraint.incoming == "album")
    #expect(constraint.others == ["songs"])
    #expect(constraint.violation(count: 0) == .missingMandatory)
    #expect(constraint.violation(count: 2) == nil, "said by unique, once")
    #expect(model.constraints(from: "songs").first?.unique == true)
  }

  @Test func `a declared inverse counts the edges of both its halves`() throws {
    let model = try readModel(
      """
      { relationships: [
        { name: "album", from: "songs", to: "albums", inverse: "songs" },
        { name: "songs", from: "albums", to: "songs", toMany: true, max: 20 } ] }
      """)
    let constraints = model.constraints(from: "albums")
    #expect(constraints.count == 1)
    #expect(constraints.first?.outgoing == "songs")
    #expect(constraints.first?.incoming == "album")
    #expect(constraints.first?.max == 20)
    #expect(model.relationships[0].inverse?.max == 20)
    #expect(model.relationships[1].inverse?.name == "album")
    #expect(model.relationships[1].inverse?.toMany == false)
  }
}
