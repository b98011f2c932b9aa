/// Rows of `temp.gone` that go in one step: those behind `low`, up to `high`. A transaction removes
/// all of them at once.
struct Slice: Hashable, Sendable {
  let low: Int64
  let high: Int64

  var isEmpty: Bool { low == high }

  static let all = Slice(low: 0, high: .max)
}
