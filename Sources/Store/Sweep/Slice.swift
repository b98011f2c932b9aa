internal import CascadeSQLite

/// Rows of `temp.gone` that are deleted in one step: those above `low`, up to `high`. A transaction
/// deletes all of its rows as one slice.
package struct Slice: Hashable, Sendable {
  let low: Int64
  let high: Int64

  var isEmpty: Bool { low == high }
  var count: Int64 { high - low }

  func first(_ most: Int64) -> Slice { Slice(low: low, high: low + min(count, most)) }

  func parts(of rows: Int) -> [Slice] {
    stride(from: low, to: high, by: rows).map {
      Slice(low: $0, high: min($0 + Int64(rows), high))
    }
  }

  var bound: [Value] { [.integer(low), .integer(high)] }

  static let all = Slice(low: 0, high: .max)
  /// By the numbers of nodes, which may be below zero.
  static let allNumbers = Slice(low: .min, high: .max)
}

/// The parameters of a slice in a statement.
struct SliceParameters {
  let low: String
  let high: String
  /// A further value, bound after the slice.
  let extraParameter: String

  static let first = SliceParameters(low: "?1", high: "?2", extraParameter: "?3")
  /// For statements that bind what is found first.
  static let inFound = SliceParameters(low: "?2", high: "?3", extraParameter: "?4")
  /// For statements that bind batch and layout first, when the trash is written.
  static let inTrash = SliceParameters(low: "?3", high: "?4", extraParameter: "?5")
  /// The same, where the lowest number is bound before `most`.
  static let inTrashNumbered = SliceParameters(low: "?3", high: "?4", extraParameter: "?6")

  var condition: String { "g.seq > \(low) AND g.seq <= \(high)" }
}
