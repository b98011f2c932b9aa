internal import CascadeModel
internal import CascadeStore
import Testing

/// What a transaction or a sweep deleted in a random graph comes back as it was, wherever its edges
/// live, and whatever the application hears of it.
package struct UndoneHistories {
  package let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  /// `keeping`: what the application deletes by SQL is kept, and comes back with what followed. `singly`: one
  /// of the nodes comes back first, and then the rest.
  package func compare(
    bySQL: Bool, keeping: Bool = false, singly: Bool = false, _ seeds: some Sequence<UInt64>
  ) throws {
    for seed in seeds {
      var random = Seeded(seed)
      let graph = PlacedGraph(engine.tables, bySQL: bySQL, &random)
      let history = (0..<20).map { _ in graph.steps(bySQL: bySQL, &random) }
      let undoing = Undoing(
        engine: engine, graph: graph, seed: seed, bySQL: bySQL, keeping: keeping,
        singly: singly)
      guard let difference = try undoing.difference(history) else { continue }
      let shrunk = try Histories.shrink(history, by: undoing.difference)
      Issue.record(
        """
        seed \(seed): \(difference)
        shrunk to: \(try undoing.difference(shrunk) ?? "")
        \(graph.model)
        \(graph.schema(seed))
        \(shrunk.map { "\($0)" }.joined(separator: "\n"))
        """)
      return
    }
  }
}

/// One history, in which every transaction that only deletes is undone.
private struct Undoing {
  let engine: any EngineUnderTest
  let graph: PlacedGraph
  let seed: UInt64
  let bySQL: Bool
  let keeping: Bool
  let singly: Bool

  private var model: StoreModel {
    get throws {
      try StoreModel(
        keeping ? "{ keepDeleted: true, \(graph.model.drop { $0 != "{" }.dropFirst())" : graph.model
      )
    }
  }

  private var way: UndoWay { UndoWay.all[Int(seed / 5 % 3)] }

  func difference(_ history: [[PlacedStep]]) throws -> String? {
    let store = try engine.makeStore(model: model, schema: graph.schema(seed))
    _ = try store.writer.sweep([.all], at: 0)
    for (index, steps) in history.enumerated() {
      try write(store, steps)
      _ = try store.writer.sweep([.all], at: 1)
      let deletions = steps.compactMap(\.put).map { PlacedStep.delete($0) }
      if let problem = try undone(store, deletions) { return "after \(index): \(problem)" }
    }
    return nil
  }

  private func write(_ store: any StoreUnderTest, _ steps: [PlacedStep]) throws {
    if !bySQL || steps.contains(where: \.isOfFiles) {
      _ = try store.reasons(steps.map(graph.forFile))
    } else {
      try store.bySQL("BEGIN; \(sql(steps)); COMMIT")
    }
  }

  fileprivate func sql(_ steps: [PlacedStep]) -> String {
    steps.flatMap { graph.sql($0, replacing: false) }.joined(separator: ";")
  }

  /// What differs when the nodes were deleted, and all of it was undone.
  private func undone(_ store: any StoreUnderTest, _ deletions: [PlacedStep]) throws -> String? {
    let before = try store.dumpUnheard()
    let left = try bySQL ? sweptAndUndone(store, deletions) : undone(byFile: store, deletions)
    let after = try store.dumpUnheard()
    if after != before {
      let (more, less) = (Set(after).subtracting(before), Set(before).subtracting(after))
      return "\(deletions): \(more), not \(less)"
    }
    if !left.isEmpty { return "\(deletions): left \(left)" }
    let sweep = try store.writer.sweep([.all], at: 2)
    return sweep.outcome == .nothing ? nil : "\(deletions): swept again: \(sweep)"
  }

  private func undone(
    byFile store: any StoreUnderTest, _ deletions: [PlacedStep]
  ) throws -> [UndoResult.Left] {
    do {
      let last = try store.reader.newestBatches(limit: 1).first?.batch ?? 0
      let receipt = try store.apply(deletions.map(graph.forFile))
      return try singly ? undo(receipt.deleted, after: last, store) : undo(receipt.batch, store)
    } catch is Rejection {
      return []
    }
  }

  /// What is left. Of what deleted nothing, nothing is kept.
  fileprivate func undo(_ batch: Int64?, _ store: any StoreUnderTest) throws -> [UndoResult.Left] {
    do {
      return try batch.map { try store.undo($0, way).left } ?? []
    } catch UndoUnavailable.notInTrash {
      return []
    } catch UndoUnavailable.undone where singly {
      return []
    }
  }

  /// The application puts back itself what it deleted, unless that is kept.
  private func sweptAndUndone(
    _ store: any StoreUnderTest, _ deletions: [PlacedStep]
  ) throws -> [UndoResult.Left] {
    if keeping { return try undoneWhole(store, deletions) }
    let rows = try deletions.compactMap { step -> String? in
      guard case .delete(let node) = step else { return nil }
      return try store.texts(graph.insertion(node)).first
    }
    if !deletions.isEmpty { try store.bySQL(sql(deletions)) }
    let sweep = try store.writer.sweep([.all], at: 1)
    if !rows.isEmpty { try store.bySQL(rows.joined(separator: ";")) }
    return try undo(sweep.batch, store)
  }
}

extension Undoing {
  private func undoneWhole(
    _ store: any StoreUnderTest, _ deletions: [PlacedStep]
  ) throws -> [UndoResult.Left] {
    if deletions.isEmpty { return [] }
    let last = try store.reader.newestBatches(limit: 1).first?.batch ?? 0
    let roots = try deletions.compactMap(\.deleted).filter(store.exists)
    try store.bySQL(sql(deletions))
    let sweep = try store.writer.sweep([.all], at: 1)
    if singly { return try undo(sweep.deleted + roots, after: last, store) }
    return try undoAll(after: last, store)
  }

  private func undoAll(
    after last: Int64, _ store: any StoreUnderTest
  ) throws -> [UndoResult.Left] {
    try store.reader.batches(after: last, limit: 100).reversed().flatMap {
      try undo($0.batch, store)
    }
  }

  /// One of the nodes, and then the rest.
  fileprivate func undo(
    _ nodes: [Node], after last: Int64, _ store: any StoreUnderTest
  ) throws -> [UndoResult.Left] {
    if !nodes.isEmpty {
      let node = nodes[Int(seed % UInt64(nodes.count))]
      do {
        _ = try store.writer.undo(node, by: "test", at: 3)
        if try !store.exists(node) {
          return [UndoResult.Left(node: node, what: "it", reason: "away")]
        }
      } catch UndoUnavailable.nodeNotInTrash {}
    }
    return try undoAll(after: last, store)
  }
}

extension PlacedGraph {
  /// A query for the statement that puts a row back as it is.
  fileprivate func insertion(_ node: Node) -> String {
    let places = relations(of: node.collection).filter { $0.place == .column }
    var columns = self.columns("id", to: node.collection) + ["doc"]
    columns += places.flatMap { self.columns(of: $0) }.map { "\"\($0)\"" }
    columns += places.filter(\.isTyped).map(\.typeColumn)
    let hasRowid = [.text, .nocase, .pair].contains(keys[node.collection]!)
    if hasRowid, let rowid = tables.rowid { columns.append(rowid) }
    let table = "\"t \(node.collection)\""
    return """
      SELECT 'INSERT INTO \(table)(\(columns.joined(separator: ", "))) VALUES('
        || \(columns.map(tables.quoted).joined(separator: " || ', ' || ")) || ')'
      FROM \(table) WHERE \(sql(.delete(node), replacing: false)[0].split(separator: "WHERE ")[1])
      """
  }
}

extension StoreUnderTest {
  /// Without what the application's triggers wrote down.
  fileprivate func dumpUnheard() throws -> [String] {
    try dump().filter { !$0.hasPrefix("heard ") }
  }
}
