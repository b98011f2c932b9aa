internal import CascadeModel
internal import CascadeStore
import Testing

/// The same graph in columns, join tables, JSON lists, values of objects and stored edges comes to
/// what the reference says, whoever writes it.
package struct PlacedHistories {
  private static let length = 30

  package let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  /// A transaction and the job that deletes what it would have.
  private static func withoutDeletions(_ steps: [PlacedStep]) -> [[PlacedStep]] {
    [steps.filter { $0.deleted == nil }, steps.filter { $0.deleted != nil }].filter { !$0.isEmpty }
  }

  /// `denies`: some rules deny, and what a sweep has to leave waits.
  package func compare(
    _ way: Comparison.Way, denies: Bool = false, _ seeds: some Sequence<UInt64>
  ) throws {
    let bySQL = way != .files
    for seed in seeds {
      var random = Seeded(seed)
      let graph = PlacedGraph(engine.tables, bySQL: bySQL, denies: denies, &random)
      var history = (0..<PlacedHistories.length).map { _ in graph.steps(bySQL: bySQL, &random) }
      if way.isOfJobs { history = history.flatMap(PlacedHistories.withoutDeletions) }
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
