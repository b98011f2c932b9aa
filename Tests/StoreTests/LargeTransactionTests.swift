import Model
import Store
import Testing

/// What a savepoint must remember to be rolled back outgrows memory, and goes to a file.
@Suite("A transaction that touches many pages")
struct LargeTransactionTests {
  private static let rows = 20_000

  private static func put(_ index: Int) -> Change {
    let parent = Node("a", .text("\(index / 10)"))
    let edge = DeclaredEdge(
      name: "parent", destination: .node(parent), rules: .deleteSourceIfDestinationDeleted)
    return .put(
      Node("a", .text("\(index)")), type: nil,
      value: JSONText(valid: "\"\(String(repeating: "x", count: 200))\""),
      edges: index == 0 ? nil : [edge])
  }

  private static func tree() throws -> TestStore {
    let store = try TestStore()
    try store.apply((0..<rows).map(put))
    return store
  }

  @Test("deletes them all")
  func deletes() throws {
    let store = try LargeTransactionTests.tree()
    let receipt = try store.apply([.delete(Node("a", .text("0")))])
    #expect(receipt.deletedCount == LargeTransactionTests.rows)
    #expect(try store.reader.nodes(in: "a", after: nil, limit: 1).isEmpty)
    #expect(try store.edges().isEmpty)
  }

  @Test("is rolled back whole, and the next one in the same commit is not")
  func rollsBack() throws {
    let store = try LargeTransactionTests.tree()
    let missing = Node("a", .text("none"))
    let refused: [Change] = [
      .deleteAll(collection: "a"), .flush, .patch(missing, set: [], unset: ["x"]),
    ]
    #expect(try store.reasons(refused).count == 1)
    let last = Node("a", .text("\(LargeTransactionTests.rows - 1)"))
    #expect(try store.exists(last))
    #expect(try store.apply([.delete(last)]).deletedCount == 1)
    #expect(try store.reader.count(EdgeQuery()) == LargeTransactionTests.rows - 2)
  }
}
