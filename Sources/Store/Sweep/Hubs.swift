internal import CascadeModel
internal import CascadeSQLite
/// A node that very many refer to which stay: a category with half a million items. They are let go
/// in steps of their own, as many at once as a step has time for (`Hangers.swift`).
///
/// 1. A node that is gone has them let go first, and is done with behind the last of them.
/// 2. A row that is there keeps them until it is gone for good: it goes, and the next plan finds it
///    gone, where the sweep is of a kind that looks for such.
/// 3. Only where nothing can refuse: of a row that must not lose its reference the node stays, and
///    that has to be known before it goes.
extension Writer {
  /// A part of the slice on which no more hangs than there is time for; or one node, whatever does.
  func weighed(_ slice: Slice) throws -> (slice: Slice, weight: Int64, isHub: Bool) {
    var slice = slice
    while true {
      let rows = slice.high - slice.low
      let weight = try weight(of: slice, most: pace.rows)
      if weight <= pace.rows { return (slice, max(rows, weight), false) }
      if rows == 1 { return (slice, weight, true) }
      slice = Slice(low: slice.low, high: slice.low + rows / 2)
    }
  }

  func hangsMuch(on slice: Slice, most: Int64) throws -> Bool {
    try weight(of: slice, most: most) > most
  }

  /// In rows that take as long; beyond `most` nobody counts. Few have very many: whether what refers to
  /// them stays is asked of these alone.
  private func weight(of slice: Slice, most: Int64) throws -> Int64 {
    let (hangers, numbers) = (hangers, current.numbers)
    let objects = nullifiesObjects ? [Hanger.objects] : []
    let all = hangers.flatMap { $0.mostWritten(numbers) }
    let limit = try weight(of: all + objects, slice, most: most)
    if limit <= most { return limit }
    let written = hangers.flatMap { $0.written(slice, numbers) }
    return try weight(of: written + objects, slice, most: most)
  }

  private func weight(of rows: [Hanger.Rows], _ slice: Slice, most: Int64) throws -> Int64 {
    if rows.isEmpty { return 0 }
    let counts = rows.map {
      "\($0.weight) * (SELECT count(*) FROM (SELECT 1 FROM (\($0.sql)) LIMIT ?3 / \($0.weight) + 1))"
    }
    return try db.integer(
      generated: "SELECT \(counts.joined(separator: "\n+ "))", slice.bound + [.integer(most)]) ?? 0
  }

  func isGone(_ slice: Slice) throws -> Bool {
    try db.integer(
      "SELECT 1 FROM temp.gone WHERE rule = 0 AND NOT counts AND seq > ? AND seq <= ?",
      .integer(slice.low), .integer(slice.high)) != nil
  }

  func isRow(_ slice: Slice) throws -> Bool {
    let collection = try db.integer(
      "SELECT collection FROM temp.gone WHERE seq > ? AND seq <= ?", .integer(slice.low),
      .integer(slice.high))
    return binding.collections.values.contains { $0.id == collection }
  }

  /// As many as there is time for, and what they weigh: a few first, since nobody knows how long they
  /// take.
  func letGo(
    _ slice: Slice, since start: ContinuousClock.Instant
  ) throws -> (weight: Int64, isMore: Bool) {
    var (weight, most) = (Int64(0), min(64, pace.rowsAtOnce))
    for hanger in hangers {
      for (part, rows) in hanger.rows(slice, current.numbers).enumerated() {
        while true {
          let count = try letGo(
            HangerPart(hanger, part, slice, most: pace.rowsToAStep ?? max(1, most / rows.weight)))
          if count == 0 { break }
          weight += Int64(count) * rows.weight
          most = min(most * 2, pace.rowsAtOnce)
          if !pace.hasTime(worked: .now - start, rows: weight, more: most) {
            return (weight, true)
          }
        }
      }
    }
    return (weight, false)
  }
}

extension TransactionState {
  /// Whether the rows that refer to the node by this stay as they are, until it is gone.
  func waits(_ place: Place, _ binding: Binding) -> Bool {
    isHub && !place.hangers(binding, self).isEmpty
  }
}
