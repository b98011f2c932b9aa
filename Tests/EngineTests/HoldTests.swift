import CascadeModel
import CascadeEngine
import Testing

/// The one decision about the hold limit, without a database. More than ten nodes, and more than a
/// tenth of a collection.
@Suite("Whether a deletion is held")
struct HoldTests {
  private static let limit = "hold: { deletes: 10, share: 0.1 }"

  private func judge(
    _ deletion: Hold.Deletion, recent: [String: Int] = [:], approval: Hold.Approval? = nil,
    sizes: [String: Int] = ["a": 100, "b": 1_000], limit: String = limit
  ) throws -> Hold.Verdict {
    let model = try storeModel(
      "{ collections: { a: {}, b: {}, free: { hold: false } }, limits: { \(limit) } }")
    return Hold(model).judge(deletion, recent: recent, approval: approval) { name, _ in sizes[name]
    }
  }

  @Test("Over both limits it is held, over one alone it passes")
  func both() throws {
    #expect(try judge(.init(["a": 11])) == .held)
    #expect(try judge(.init(["a": 10])) == .passes)
    #expect(try judge(.init(["b": 100])) == .passes)
    #expect(try judge(.init(["b": 101])) == .held)
    #expect(try judge(.init(["a": 9, "b": 9])) == .passes)
    #expect(try judge(.init(["a": 11, "b": 9])) == .held)
    #expect(try judge(.init([:])) == .passes)
  }

  @Test("A collection of unknown size is over its share")
  func unknownSize() throws {
    #expect(try judge(.init(["new": 11])) == .held)
    #expect(try judge(.init(["new": 1])) == .passes)
  }

  @Test("A share of 1 holds nothing, and one of 0 whatever is over the number")
  func extremes() throws {
    #expect(try judge(.init(["a": 100]), limit: "hold: { deletes: 0, share: 1 }") == .passes)
    #expect(try judge(.init(["b": 3]), limit: "hold: { deletes: 2, share: 0 }") == .held)
  }

  @Test("What went lately counts, with the nodes that a collection had before")
  func recent() throws {
    #expect(try judge(.init(["a": 3]), recent: ["a": 8], sizes: ["a": 92]) == .heldForSum)
    #expect(try judge(.init(["a": 3]), recent: ["a": 7], sizes: ["a": 93]) == .passes)
    #expect(try judge(.init(["a": 11]), recent: ["a": 8], sizes: ["a": 92]) == .held)
    #expect(
      try judge(.init(["b": 1]), recent: ["a": 15], sizes: ["a": 85, "b": 1_000]) == .heldForSum)
    #expect(try judge(.init([:]), recent: ["a": 50]) == .passes)
  }

  @Test("A collection with `hold: false` counts for neither")
  func exempt() throws {
    #expect(try judge(.init(["free": 1_000])) == .passes)
    #expect(try judge(.init(["free": 1_000, "a": 10])) == .passes)
    #expect(try judge(.init(["a": 3]), recent: ["free": 1_000]) == .passes)
    #expect(try judge(.init(["free": 50]), recent: ["a": 50], sizes: ["a": 50]) == .passes)
  }

  @Test("An approval covers what was approved, and as many more as need none")
  func approval() throws {
    #expect(try judge(.init(["a": 30]), approval: .init(nodes: 20)) == .passes)
    #expect(try judge(.init(["a": 31]), approval: .init(nodes: 20)) == .held)
    #expect(try judge(.init(["a": 5]), recent: ["a": 90], approval: .init(nodes: 5)) == .passes)
    #expect(try judge(.init(["free": 99, "a": 1]), approval: .init(nodes: 0)) == .passes)
  }

  @Test("What needs an approval is held however little it is")
  func always() throws {
    #expect(try judge(.init(["a": 1], needsApproval: true)) == .held)
    #expect(try judge(.init(["free": 1], needsApproval: true)) == .held)
    #expect(try judge(.init([:], needsApproval: true)) == .passes)
    #expect(try judge(.init(["a": 1], needsApproval: true), approval: .init(nodes: 1)) == .passes)
  }

  @Test("References that nothing saw lose their destinations are held as nodes are")
  func losses() throws {
    let many = [CollectionCount(name: "x", gone: 11, all: 100)]
    #expect(try judge(.init([:], losses: many)) == .held)
    #expect(
      try judge(.init([:], losses: [CollectionCount(name: "x", gone: 11, all: 110)])) == .passes)
    #expect(try judge(.init([:], losses: many), approval: .init(nodes: 0, losses: 1)) == .passes)
    #expect(try judge(.init([:], losses: many), approval: .init(nodes: 9)) == .held)
  }

  @Test("No size is asked for where few nodes go, nor further than matters")
  func sizes() throws {
    let model = try storeModel("{ collections: { a: {} }, limits: { \(Self.limit) } }")
    var asked: [Int] = []
    let verdict = { (nodes: Int) in
      Hold(model).judge(.init(["a": nodes])) { _, enough in
        asked.append(enough)
        return enough
      }
    }
    #expect(verdict(10) == .passes)
    #expect(asked.isEmpty)
    #expect(verdict(20) == .passes)
    #expect(asked.count == 1 && asked[0] <= 201)
  }
}

@Suite("What sweeps deleted lately")
struct HoldWindowTests {
  private func window(_ within: String = "10m") throws -> HoldWindow {
    HoldWindow(try storeModel("{ limits: { hold: { within: \"\(within)\" } } }"))
  }

  private static let minute: Int64 = 60_000

  @Test("Is added up, and forgotten after its time")
  func forgets() throws {
    var window = try window()
    _ = window.add(["a": 3, "b": 1], at: 0)
    _ = window.add(["a": 4], at: 5 * Self.minute)
    #expect(window.sums(at: 5 * Self.minute) == ["a": 7, "b": 1])
    #expect(window.sums(at: 10 * Self.minute) == ["a": 4])
    #expect(window.sums(at: 15 * Self.minute) == [:])
    #expect(window.forget(at: 15 * Self.minute) && window.slots.isEmpty)
  }

  @Test("Is few slots, however many sweeps there were, and each is as old as its last deletion")
  func slots() throws {
    var window = try window()
    for second in 0..<600 { _ = window.add(["a": 1], at: Int64(second) * 1_000) }
    #expect(window.slots.count == 20)
    #expect(window.add(["a": 2], at: 599_500).map(\.count) == [32])
    #expect(window.sums(at: 599_500) == ["a": 602])
    #expect(window.sums(at: 600_000 + 29_000) == ["a": 572])
  }

  @Test("Is empty after the answer to what was held, and where it is off")
  func empty() throws {
    var window = try window()
    _ = window.add(["a": 3], at: 0)
    window.empty()
    #expect(window.sums(at: 0) == [:])
    var off = try self.window("0")
    #expect(off.add(["a": 3], at: 0).isEmpty && off.sums(at: 0) == [:] && !off.isOn)
  }

  @Test("Is forgotten where the clock was set back by more than its time")
  func clock() throws {
    var window = try window()
    _ = window.add(["a": 3], at: 100 * Self.minute)
    #expect(window.sums(at: 95 * Self.minute) == ["a": 3])
    #expect(window.sums(at: 0) == [:])
  }
}

private func storeModel(_ text: String) throws -> StoreModel {
  try StoreModel(json5: Array(text.utf8))
}
