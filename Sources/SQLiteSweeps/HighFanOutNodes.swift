internal import CascadeSQLite
internal import CascadeEngine
internal import SQLiteBinding
internal import SQLiteTables
internal import SQLiteDeletion

/// A high fan-out node: very many rows that stay refer to it, for example a category with half a
/// million items. These references are released in steps of their own, as many at once as a step
/// has time for (`Dependents.swift`).
///
/// 1. If the node is gone already, its references are released first. The node is finished after
///    the last one.
/// 2. If the node's row exists, its references stay until the row's deletion is committed. The next
///    plan then finds the node gone, if this kind of sweep looks for such nodes.
/// 3. This is done only where nothing can refuse it. If a referring row must not lose its
///    reference, the node stays, and this has to be known before the node is deleted.
extension Writer {
  /// A part of the slice whose dependents can be released in the available time; or a single node,
  /// however many dependents it has.
  func sliceWithinTime(_ slice: Slice) throws -> (slice: Slice, weight: Int64, isHub: Bool) {
    var slice = slice
    while true {
      let rows = slice.high - slice.low
      let weight = try weight(of: slice, most: lock.pace.rows)
      if weight <= lock.pace.rows { return (slice, max(rows, weight), false) }
      if rows == 1 { return (slice, weight, true) }
      slice = Slice(low: slice.low, high: slice.low + rows / 2)
    }
  }

  func hasManyDependents(on slice: Slice, most: Int64) throws -> Bool {
    try weight(of: slice, most: most) > most
  }

  /// The weight of the slice's dependents, in ordinary rows that take as long to release. Counting
  /// stops above `most`. A slice that is above it by an upper bound, which is rare, is counted
  /// exactly: only then is it asked which of the referring rows stay.
  private func weight(of slice: Slice, most: Int64) throws -> Int64 {
    let (hangers, numbers) = (dependentGroups, current.numbers)
    let objects = nullifiesObjects ? [Dependents.objects(slice)] : []
    let all = hangers.flatMap { $0.writtenUpperBound(slice, numbers) }
    let limit = try weight(of: all + objects, most: most)
    if limit <= most { return limit }
    let written = hangers.flatMap { $0.writtenQueries(slice, numbers) }
    return try weight(of: written + objects, most: most)
  }

  private func weight(of rows: [Dependents.DependentQuery], most: Int64) throws -> Int64 {
    if rows.isEmpty { return 0 }
    let counts = rows.map { rows -> Query in
      let limit: Query = "\(bind: most) / \(rows.weight) + 1"
      return
        "\(rows.weight) * (SELECT count(*) FROM (SELECT 1 FROM (\(rows.sql)) LIMIT \(limit)))"
    }
    return try db.integer("SELECT \(counts.joined(separator: "\n+ "))") ?? 0
  }

  func isGone(_ slice: Slice) throws -> Bool {
    try db.integer(
      "SELECT 1 FROM temp.gone AS g WHERE \(GoneRow.wentBefore("g")) AND \(slice.contains())")
      != nil
  }

  func isRow(_ slice: Slice) throws -> Bool {
    let collection = try db.integer(
      "SELECT collection FROM temp.gone WHERE seq > ? AND seq <= ?", .integer(slice.low),
      .integer(slice.high))
    return binding.collections.values.contains { $0.id == collection }
  }

  /// Releases as many dependents as there is time for, and returns their weight. The first portion
  /// is small, because it is not known how long they take.
  func letGo(
    _ slice: Slice, since start: ContinuousClock.Instant
  ) throws -> (weight: Int64, isMore: Bool) {
    var (weight, most) = (Int64(0), min(64, lock.pace.rowsAtOnce))
    for hanger in dependentGroups {
      for (part, rows) in hanger.rows(slice, current.numbers).enumerated() {
        while true {
          let count = try releaseDependents(
            DependentsPart(
              hanger, part, slice, most: lock.pace.rowsToAStep ?? max(1, most / rows.weight)))
          if count == 0 { break }
          weight += Int64(count) * rows.weight
          most = min(most * 2, lock.pace.rowsAtOnce)
          if !lock.pace.hasTime(worked: .now - start, rows: weight, more: most) {
            return (weight, true)
          }
        }
      }
    }
    return (weight, false)
  }
}
