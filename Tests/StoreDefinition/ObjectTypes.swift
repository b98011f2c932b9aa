internal import CascadeModel
internal import CascadeStore
import Testing

/// What types of objects mean.
package struct ObjectTypes {
  private let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  package enum Claim: String, CaseIterable, CustomTestStringConvertible {
    case haveDemands =
      "A type within a collection has demands of its own"
    case countAtTheInverse =
      "Only sources of a relationship's own type count at its destination"
    case judgeNeighbours =
      "Neighbours of an object that becomes another type's are judged"
    case haveRelationships =
      "A type's relationships are for its objects, and a change of type changes them"
    case areNullified =
      "References of one type's objects are removed, and an undo brings them back"
    case areUnreferenced =
      "Only objects of the type that is counted are unreferenced"
    case areNoCollections =
      "A type is no collection: a change that names it is refused"

    package var testDescription: String { rawValue }
  }

  package func expect(_ claim: Claim) throws {
    switch claim {
    case .haveDemands: try haveDemands()
    case .countAtTheInverse: try countAtTheInverse()
    case .judgeNeighbours: try judgeNeighbours()
    case .haveRelationships: try haveRelationships()
    case .areNullified: try areNullified()
    case .areUnreferenced: try areUnreferenced()
    case .areNoCollections: try areNoCollections()
    }
  }

  /// A store whose relationships these are, from songs to albums unless they say otherwise.
  private func store(_ relationships: String...) throws -> any StoreUnderTest {
    let whole = relationships.map { text in
      text.contains("from:") ? "{ \(text) }" : "{ from: 'songs', to: 'albums', \(text) }"
    }
    return try engine.makeStore(
      model: StoreModel(
        """
        { collections: { songs: {}, albums: {}, posts: { types: { photo: 'photos', text: 'texts' } } },
          relationships: [\(whole.joined(separator: ", "))] }
        """), schema: "")
  }

  private func haveDemands() throws {
    let store = try store("name: 'of', from: 'photos', to: 'albums', optional: false")
    func put(_ type: String?) -> [Change] { [StoreDefinition.put("posts/1", type: type)] }
    #expect(try store.reasons(put("photo")).map(\.code) == [.missingMandatory])
    #expect(try store.reasons(put("text")).isEmpty)
    #expect(try store.reasons(put(nil)).isEmpty)
    #expect(try store.reasons(put("photo")).map(\.code) == [.missingMandatory])
  }

  private func countAtTheInverse() throws {
    let store = try store(
      "name: 'of', from: 'photos', to: 'albums', inverse: { name: 'photos', max: 1, toMany: true }",
      "name: 'of', from: 'texts', to: 'albums', inverse: { name: 'texts', max: 2, toMany: true }")
    func post(_ key: String, _ type: String) -> Change {
      let edge = DeclaredEdge(name: "of", destination: .node(node("albums/1")), rules: [])
      return put("posts/\(key)", type: type, edges: [edge])
    }
    try store.run("albums/1")
    try store.apply([post("1", "photo"), post("2", "text"), post("3", "text")])
    #expect(try store.reasons([post("4", "photo")]).map(\.code) == [.tooMany])
    #expect(try store.reasons([post("4", "text")]).map(\.code) == [.tooMany])
    #expect(try store.reasons([post("4", "other")]).isEmpty)
  }

  private func judgeNeighbours() throws {
    let store = try store(
      "name: 'pic', from: 'songs', to: 'photos', optional: false",
      "name: 'of', from: 'photos', to: 'albums', inverse: { name: 'photos', toMany: true, max: 1 }")
    func put(_ key: String, _ type: String) -> [Change] {
      [StoreDefinition.put("posts/\(key)", type: type)]
    }
    try store.apply(put("1", "photo") + put("2", "text"))
    try store.run("songs/1{pic>posts/1} albums/1 posts/1-0of>albums/1 posts/2-0of>albums/1")
    #expect(try store.reasons(put("1", "text")).map(\.code) == [.missingMandatory])
    #expect(try store.reasons(put("2", "photo")).map(\.code) == [.tooMany])
    #expect(try store.reasons(put("1", "photo")).isEmpty)
  }

  private func haveRelationships() throws {
    let store = try engine.makeStore(
      model: StoreModel(relationships: [
        "name: 'all', from: 'posts', property: 'p'", "name: 'of', from: 'photos', property: 'p'",
        "name: 'on', from: 'texts', property: 'p', rules: ['deleteDestinationIfSourceDeleted']",
      ]), schema: "")
    try store.run("B C")
    func graph(_ type: String?) throws -> String {
      try store.apply([put("posts/1", #"{"p":"B"}"#, type: type)])
      return try store.graph()
    }
    #expect(try graph("photo") == "posts/1=0all>B posts/1=0of>B")
    #expect(try graph("text") == "posts/1=0all>B posts/1=8on>B")
    #expect(try graph("text") == "posts/1=0all>B posts/1=8on>B")
    _ = try graph(nil)
    #expect(try store.alive() == "C")
    try store.apply([put("posts/1", #"{"p":"C"}"#)])
    #expect(try store.graph() == "posts/1=0all>C")
  }

  /// An undo fills a list again, whose object is of the type that the relationship is about.
  private func areNullified() throws {
    let store = try engine.makeStore(
      model: StoreModel(relationships: [
        "name: 'of', from: 'photos', property: 'p', toMany: true, "
          + "rules: ['nullifySourceIfDestinationDeleted']"
      ]), schema: "")
    try store.run("B C")
    let value = #"{"p":["B","C"]}"#
    try store.apply([
      put("posts/1", value, type: "photo"), put("posts/2", value, type: "text"),
    ])
    let receipt = try store.apply([delete("B")])
    #expect(try store.graph() == "posts/1=64of>C")
    #expect(try store.value("posts/2") == value)
    _ = try store.undo(receipt)
    #expect(try store.graph() == "posts/1=64of>B posts/1=64of>C")
  }

  private func areUnreferenced() throws {
    let store = try store(
      "name: 'of', to: 'photos', toMany: true, from: 'songs', "
        + "rules: ['deleteDestinationIfAllSourcesDeleted']")
    try store.apply([
      put("posts/1", type: "photo"), put("posts/2", type: "text"), put("posts/3"),
      put("posts/4", type: "photo"),
    ])
    try store.run("songs/1{of>posts/4}")
    let held = try store.writer.sweep([.unreferenced], at: 5, manners: .none)
    #expect(held.outcome == .held && held.byCollection == ["posts": 1])
  }

  private func areNoCollections() throws {
    let store = try engine.makeStore(
      model: StoreModel(relationships: ["name: 'of', from: 'photos', property: 'p'"]), schema: "")
    let refusal = #""photos" is a type of "posts": name that collection, and the type in `put`"#
    for change in [put("photos/1"), delete("photos/1"), patch("photos/1", "{}")] {
      #expect(try store.refusal(change) == refusal)
    }
  }
}
