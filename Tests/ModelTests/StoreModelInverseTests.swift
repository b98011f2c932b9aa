import CascadeModel
import Testing

@Suite struct StoreModelInverseTests {
  /// Songs and artists, many to many, each half with what else it says.
  private func pair(_ songs: String, _ artists: String) -> String {
    """
    { collections: { songs: { table: "song", key: "id" }, artists: { table: "artist", key: "id" } },
      relationships: [
        { name: "artists", from: "songs", to: "artists", toMany: true, \(songs) },
        { name: "songs", from: "artists", to: "songs", toMany: true, \(artists) } ] }
    """
  }

  @Test(arguments: [
    ("inverse: \"songs\"", "inverse: \"artists\""),
    ("inverse: \"songs\"", ""),
    ("max: 9", "inverse: { name: \"artists\", toMany: true, max: 9 }, min: 2"),
    ("inverse: { name: \"songs\", optional: false }", "optional: false, inverse: \"artists\""),
    ("inverse: { name: \"songs\", deleteRule: \"deny\" }", "deleteRule: \"deny\""),
    ("inverse: \"songs\", \(join("s", "a"))", "inverse: \"artists\", \(join("a", "s"))"),
    ("inverse: \"songs\", \(join("s", "a"))", "inverse: \"artists\""),
  ])
  func `halves that agree are a pair`(songs: String, artists: String) throws {
    let model = try readModel(pair(songs, artists))
    #expect(model.relationships.map(\.inverse?.name) == ["songs", "artists"])
    for (one, other) in [(0, 1), (1, 0)] {
      let (half, inverse) = (model.relationships[one], model.relationships[other].inverse)
      #expect(inverse?.toMany == half.toMany)
      #expect(inverse?.optional == half.optional)
      #expect(inverse?.min == half.min)
      #expect(inverse?.max == half.max)
    }
  }

  @Test func `who may be several is not unique`() {
    let file = pair("unique: true, inverse: \"songs\"", "inverse: \"artists\"")
    let problem = "relationships[0].inverse: a unique relationship has a to-one inverse"
    #expect(problems(in: file).contains(problem))
  }

  @Test(arguments: [
    (
      "inverse: \"songs\"", "inverse: \"singers\"",
      #"relationships[0].inverse: the inverse of "songs" of "artists" is "singers""#
    ),
    (
      "inverse: { name: \"songs\", toMany: false }", "",
      #"relationships[0].inverse: toMany is false here, but true in "songs" of "artists""#
    ),
    (
      "inverse: { name: \"songs\", max: 3 }", "",
      #"relationships[0].inverse: max is 3 here, but nothing in "songs" of "artists""#
    ),
    (
      "inverse: { name: \"songs\", min: 1 }", "min: 2",
      #"relationships[0].inverse: min is 1 here, but 2 in "songs" of "artists""#
    ),
    (
      "optional: false", "inverse: { name: \"artists\", optional: true }",
      #"relationships[1].inverse: optional is true here, but false in "artists" of "songs""#
    ),
    (
      "inverse: { name: \"songs\", deleteRule: \"deny\" }", "deleteRule: \"cascade\"",
      #"relationships[0].inverse: deleteRule is deny here, but cascade in "songs" of "artists""#
    ),
    (
      "inverse: \"songs\", \(join("s", "a"))", join("s", "a"),
      "relationships[1].join: is not the reversed join of its inverse \"artists\" of \"songs\""
    ),
  ])
  func `halves that contradict each other are refused`(
    songs: String, artists: String, problem: String
  ) {
    #expect(problems(in: pair(songs, artists)) == [problem])
  }

  @Test func `an inverse leads back to where its relationship comes from`() {
    let file = """
      { relationships: [
        { name: "album", from: "songs", to: "albums", inverse: "songs" },
        { name: "songs", from: "albums", to: "tracks", toMany: true } ] }
      """
    #expect(
      problems(in: file) == [
        #"relationships[0].inverse: "songs" of "albums" does not lead back to "songs""#
      ])
  }

  @Test func `a join table may be its own inverse, because it holds both directions`() {
    let file = """
      { collections: { people: { table: "person", key: "id" } }, relationships: [
        { name: "cousins", from: "people", to: "people", inverse: "cousins",
          join: { table: "cousin", source: "a", destination: "b" } } ] }
      """
    #expect(problems(in: file) == [])
  }

  @Test(arguments: [("cascade", "cascade", true), ("cascade", "nullify", false)])
  func `the halves of a polymorphic relationship give one delete rule`(
    albums: String, songs: String, legal: Bool
  ) {
    let file = """
      { relationships: [
        { name: "about", from: "notes", to: { A: "albums", S: "songs" }, column: "c",
          typeColumn: "t", inverse: "notes" },
        { name: "notes", from: "albums", to: "notes", toMany: true, deleteRule: "\(albums)",
          inverse: { name: "about", deleteRule: "\(albums)" } },
        { name: "notes", from: "songs", to: "notes", toMany: true, deleteRule: "\(songs)",
          inverse: { name: "about", deleteRule: "\(songs)" } } ] }
      """
    let problem =
      #"relationships[0]: the inverses of "about" of "notes" differ in their delete rules"#
    #expect(problems(in: file) == (legal ? [] : [problem]))
  }
}

private func join(_ source: String, _ destination: String) -> String {
  "join: { table: \"song_artist\", source: \"\(source)\", destination: \"\(destination)\" }"
}
