internal import CascadeSQLite
/// Rows of `temp.gone` that go in one step: those behind `low`, up to `high`. A transaction removes
/// all of them at once.
struct Slice: Hashable, Sendable {
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

/// What the ends of a slice are called in a statement.
struct SliceNames {
  let low: String
  let high: String
  /// What else is bound behind it.
  let most: String

  static let first = SliceNames(low: "?1", high: "?2", most: "?3")
  /// Behind what says what is found.
  static let inFound = SliceNames(low: "?2", high: "?3", most: "?4")
  /// Behind batch and layout, in what is kept.
  static let inTrash = SliceNames(low: "?3", high: "?4", most: "?5")
  /// Where the lowest number is bound before what else is.
  static let inTrashNumbered = SliceNames(low: "?3", high: "?4", most: "?6")

  var condition: String { "g.seq > \(low) AND g.seq <= \(high)" }
}
