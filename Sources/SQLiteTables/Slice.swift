package import CascadeSQLite

/// Rows of `temp.gone` that are deleted in one step: those above `low`, up to `high`. A transaction
/// deletes all of its rows as one slice.
package struct Slice: Hashable, Sendable {
  package let low: Int64
  package let high: Int64

  package init(low: Int64, high: Int64) {
    self.low = low
    self.high = high
  }

  package var isEmpty: Bool { low == high }
  package var count: Int64 { high - low }

  package func first(_ most: Int64) -> Slice { Slice(low: low, high: low + min(count, most)) }

  package func parts(of rows: Int) -> [Slice] {
    stride(from: low, to: high, by: rows).map {
      Slice(low: $0, high: min($0 + Int64(rows), high))
    }
  }

  package var bound: [Value] { [.integer(low), .integer(high)] }

  package static let all = Slice(low: 0, high: .max)
  /// By the numbers of nodes, which may be below zero.
  package static let allNumbers = Slice(low: .min, high: .max)
}

/// The parameters of a slice in a statement.
package struct SliceParameters {
  let low: String
  package let high: String
  /// A further value, bound after the slice.
  package let extraParameter: String

  package static let first = SliceParameters(low: "?1", high: "?2", extraParameter: "?3")
  /// For statements that bind what is found first.
  package static let inFound = SliceParameters(low: "?2", high: "?3", extraParameter: "?4")
  /// For statements that bind batch and layout first, when the trash is written.
  package static let inTrash = SliceParameters(low: "?3", high: "?4", extraParameter: "?5")
  /// The same, where the lowest number is bound before `most`.
  package static let inTrashNumbered = SliceParameters(low: "?3", high: "?4", extraParameter: "?6")

  package var condition: String { "g.seq > \(low) AND g.seq <= \(high)" }
}
