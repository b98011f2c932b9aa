internal import CascadeModel
internal import CascadeStore
import Testing

/// The same graph in columns, join tables, JSON lists, values of objects and stored edges comes to
/// what the reference says, whoever writes it.
package struct PlacedHistories {
  private static let histories: UInt64 = Histories.isLong ? 2_000 : 25
  private static let length = 30
  /// Sweeps in many transactions take many times as long.
  private static let slowHistories: UInt64 = Histories.isLong ? 350 : 5

  package let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  package func compare(_ way: Comparison.Way, _ part: UInt64) throws {
    let bySQL = way != .files
    let isSlow = ![.files, .sweeps].contains(way)
    let histories = isSlow ? PlacedHistories.slowHistories : PlacedHistories.histories
    for run in 0..<(histories / 2) {
      let seed = run * 2 + part
      var random = Seeded(seed)
      let graph = PlacedGraph(bySQL: bySQL, &random)
      let history = (0..<PlacedHistories.length).map { _ in graph.steps(bySQL: bySQL, &random) }
      let comparison = Comparison(engine: engine, graph: graph, way: way, seed: seed)
      guard let difference = try comparison.difference(history) else { continue }
      let shrunk = try Histories.shrink(history, by: comparison.difference)
      Issue.record(
        """
        seed \(seed): \(difference)
        shrunk to: \(try comparison.difference(shrunk) ?? "")
        \(comparison.model)
        \(comparison.schema)
        \(shrunk.map { "\($0)" }.joined(separator: "\n"))
        """)
      return
    }
  }
}
