import CascadeEngine
import CascadeModel
import CascadeStore
import Testing

@Suite("Names of what is leased")
struct LeasedNameTests {
  private static let strict = """
    { strict: true, collections: { albums: { table: "album", key: "id" }, uses: { table: "use",
      key: ["song", "tag"] } } }
    """

  private func refusal(_ subject: Lease.Subject, _ model: String = strict) throws -> String? {
    do {
      try StoreModel(json5: Array(model.utf8)).refuse(unlessLeasable: subject)
      return nil
    } catch let rejection as Rejection {
      return rejection.description
    }
  }

  @Test("A collection that a strict model does not have cannot be leased, nor a node of it")
  func collections() throws {
    let told = "the model has no collection \"albmus\" and is strict, did you mean \"albums\"?"
    #expect(try refusal(.collection("albmus")) == told)
    #expect(try refusal(.node(Node("albmus", .integer(1)))) == told)
    #expect(try refusal(.collection("albums")) == nil)
    #expect(try refusal(.node(Node("albums", .integer(1)))) == nil)
  }

  @Test("One that is built later can, where the model is not strict")
  func later() throws {
    #expect(try refusal(.node(Node("drafts", .text("a"))), "{}") == nil)
  }

  @Test("A key has as many parts as the collection's")
  func keys() throws {
    #expect(try refusal(.node(Node("uses", .integer(1))))?.contains("does not fit") == true)
    #expect(try refusal(.node(Node("uses", .composite([.integer(1), .text("a")])))) == nil)
  }
}
