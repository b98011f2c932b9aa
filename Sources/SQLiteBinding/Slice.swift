package import CascadeSQLite

/// Rows of `temp.gone` that are deleted in one step: those above `low`, up to `high`. A transaction
/// deletes all of its rows as one slice.
package struct Slice: Hashable, Sendable {
  package let low: Int64
  package let high: Int64

  package init(low: Int64, high: Int64) { (self.low, self.high) = (low, high) }

  package var isEmpty: Bool { low == high }
  package var count: Int64 { high - low }

  package func first(_ most: Int64) -> Slice { Slice(low: low, high: low + min(count, most)) }

  package func parts(of rows: Int) -> [Slice] {
    stride(from: low, to: high, by: rows).map {
      Slice(low: $0, high: min($0 + Int64(rows), high))
    }
  }

  package var bound: [Value] { [.integer(low), .integer(high)] }

  /// Whether the row `g` is in the slice.
  package func contains(_ seq: String = "g.seq") -> Query {
    "\(seq) > \(bind: low) AND \(seq) <= \(bind: high)"
  }

  package static let all = Slice(low: 0, high: .max)
  /// By the numbers of nodes, which may be below zero.
  package static let allNumbers = Slice(low: .min, high: .max)
}
