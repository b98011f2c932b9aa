import CascadeModel
import CascadeStore
import SQLiteDeletion
import SQLiteStore
import SQLiteSweeps
import SQLiteTables
import StoreDefinition
import StoreFixtures
import Testing

/// Nodes that a counting rule would keep, and that nothing refers to.
@Suite("Unreferenced")
struct UnreferencedTests {
  /// Letters are the destinations of a counting rule; those of `p` live by their destinations.
  private func store(_ free: String = "unreferenced: true", _ more: String = "") throws -> TestStore
  {
    let model = """
      { strict: false, collections: { n: { \(free) }, p: { \(free) } }, \(more)
        relationships: [
          { name: 'e', from: 'm', to: 'n', rules: ['deleteDestinationIfAllSourcesDeleted'] },
          { name: 'e', from: 'p', to: 'm', rules: ['deleteSourceIfAllDestinationsDeleted'] } ] }
      """
    return try TestStore(model: StoreModel(model))
  }

  private func sweep(_ store: TestStore, _ kinds: [SweepKind] = [.unreferenced]) throws
    -> SweepResult
  {
    try store.writer.sweep(kinds, at: 1)
  }

  @Test("Nodes that nothing ever referred to go, and those with an edge of any name stay")
  func neverReferredTo() throws {
    let store = try store()
    try store.run("A B C D m/1 m/1-0>A m/1-0x>B C-0>C")
    #expect(try sweep(store, [.all]).outcome == .nothing)
    #expect(try store.reader.planSweep([.unreferenced]).steps.map(\.node).letters == "D")
    #expect(try sweep(store).deleted.letters == "D")
    #expect(try sweep(store).outcome == .nothing)
  }

  @Test("Sources that live by their destinations go without one, and others stay")
  func sources() throws {
    let store = try store()
    try store.run("m/1 m/2 p/1 p/2 p/1-0>m/1 p/2-0y>p/2 p/3")
    #expect(try sweep(store).deleted == [node("p/3")])
  }

  @Test("Rules run from what goes, and what it alone referred to goes too")
  func follows() throws {
    let store = try store()
    try store.run("A B C D x/1 A-8>x/1 A-0>B B-0>C")
    let result = try sweep(store)
    #expect(result.byCollection == ["n": 4, "x": 1])
    #expect(result.outcome == .done)
  }

  @Test("However little is found, it waits for approval")
  func waits() throws {
    let store = try store("")
    try store.run("A B m/1 m/1-0>A")
    let held = try sweep(store)
    #expect(held.outcome == .held && held.deletedCount == 1)
    #expect(try sweep(store).plan == held.plan)
    #expect(try store.writer.approve(plan: #require(held.plan)) != nil)
    let result = try sweep(store)
    #expect(result.outcome == .done && result.deleted.letters == "B")
    #expect(try store.writer.heldSweeps.isEmpty)
  }

  @Test("What needs no approval goes although the rest waits, and the rest keeps its plan")
  func waitsAlone() throws {
    let model = """
      { collections: { n: { unreferenced: true } },
        relationships: [
          { name: 'e', from: 'm', to: 'n', rules: ['deleteDestinationIfAllSourcesDeleted'] },
          { name: 'e', from: 'm', to: 'o', rules: ['deleteDestinationIfAllSourcesDeleted'] } ] }
      """
    let store = try TestStore(model: StoreModel(model))
    try store.run("A o/1")
    let held = try sweep(store)
    #expect(held.outcome == .held && held.deleted.letters == "A")
    _ = try store.writer.approve(plan: #require(held.plan))
    try store.run("B")
    #expect(try sweep(store).byCollection == ["n": 1, "o": 1])
  }

  @Test("Leased nodes and roots stay", arguments: ["roots: ['n'],", ""])
  func stays(roots: String) throws {
    let store = try store("unreferenced: true", roots)
    try store.run("A B")
    if roots.isEmpty { try store.lease("NULL", in: "n", until: 1_000) }
    #expect(try sweep(store).outcome == .nothing)
  }

  @Test(
    "A sweep of all kinds does it only if the model schedules it",
    arguments: [("", 0), ("sweeps: { unreferenced: '@daily' },", 1)])
  func all(sweeps: String, count: Int) throws {
    let store = try store("unreferenced: true", sweeps)
    try store.run("A")
    #expect(store.writer.model.schedule(of: .unreferenced) == (count > 0 ? .daily : .never))
    #expect(try sweep(store, [.all]).deletedCount == count)
  }

  @Test("What is denied stays")
  func denied() throws {
    let store = try store()
    try store.run("A B m/1 A-256x>m/1")
    let result = try sweep(store)
    #expect(result.outcome == .blocked && result.deleted.letters == "B")
  }

  @Test("It can be undone")
  func undone() throws {
    let store = try store()
    try store.run("A B")
    let batch = try #require(try sweep(store).batch)
    _ = try store.writer.undo(batch, by: "", at: 2)
    #expect(try store.alive() == "A B")
  }

  @Test("A check counts them")
  func counted() throws {
    let store = try store()
    try store.run("A B m/1 m/1-0>A p/1")
    let counts = try store.reader.countUnreferenced()
    #expect(counts.map { "\($0.collection) \($0.count)" } == ["n 1", "p 1"])
  }
}
