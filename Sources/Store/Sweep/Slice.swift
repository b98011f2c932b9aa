/// Rows of `temp.gone` that go in one step: those behind `low`, up to `high`. A transaction removes
/// all of them at once.
struct Slice: Hashable, Sendable {
  let low: Int64
  let high: Int64

  var isEmpty: Bool { low == high }

  func parts(of rows: Int) -> [Slice] {
    stride(from: low, to: high, by: rows).map {
      Slice(low: $0, high: min($0 + Int64(rows), high))
    }
  }

  static let all = Slice(low: 0, high: .max)
}
