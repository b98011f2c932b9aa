import CascadeModel
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// The same graph in columns, join tables, JSON lists, values of objects and stored edges comes to
/// what the reference says, whoever writes it.
@Suite("Random graphs in the application's tables")
struct RandomPlaces {
  static let isLong = unsafe getenv("CASCADE_LONG") != nil
  static let histories: UInt64 = isLong ? 2_000 : 240
  static let length = 30
  /// Sweeps in many transactions take many times as long.
  private static let slowHistories: UInt64 = isLong ? 1_000 : 40

  @Test("Change files do what the reference does", arguments: 0..<2)
  func files(part: UInt64) throws { try compare(.files, part) }

  @Test("SQL and sweeps do what the reference does", arguments: 0..<2)
  func sweeps(part: UInt64) throws { try compare(.sweeps, part) }

  @Test("SQL and sweeps in steps do what the reference does", arguments: 0..<2)
  func sweepsInSteps(part: UInt64) throws { try compare(.stepped, part) }

  @Test("Sweeps of one kind after the other end where one of all ends", arguments: 0..<2)
  func kinds(part: UInt64) throws { try compare(.kinds, part) }

  @Test("Sweeps of one kind in steps end where one of all ends", arguments: 0..<2)
  func kindsInSteps(part: UInt64) throws { try compare(.steppedKinds, part) }

  @Test("A sweep that is stopped again and again ends where one at once does", arguments: 0..<2)
  func stops(part: UInt64) throws { try compare(.stopped, part) }

  @Test("Sweeps of one kind that are stopped again and again end there too", arguments: 0..<2)
  func stopsOfKinds(part: UInt64) throws { try compare(.stoppedKinds, part) }

  private func compare(_ way: Comparison.Way, _ part: UInt64) throws {
    let bySQL = way != .files
    let isSlow = ![.files, .sweeps].contains(way)
    let histories = isSlow ? RandomPlaces.slowHistories : RandomPlaces.histories
    for run in 0..<(histories / 2) {
      let seed = run * 2 + part
      var random = Seeded(seed)
      let graph = PlacedGraph(bySQL: bySQL, &random)
      let history = (0..<RandomPlaces.length).map { _ in graph.steps(bySQL: bySQL, &random) }
      let comparison = Comparison(graph: graph, way: way, seed: seed)
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
