internal import Model
internal import SQLite

/// A node that very many rows refer to which stay: a category with half a million items. They are let
/// go in steps of their own, as many at once as a step has time for.
///
/// 1. A node that is gone has them let go first, and is done with behind the last of them.
/// 2. A node that is there keeps them until it is gone for good: its row goes, and the next plan finds
///    it gone, where the sweep is of a kind that looks for such.
/// 3. Only where nothing can refuse: of a row that must not lose its reference the node stays, and
///    that has to be known before it goes.
extension Writer {
  /// A part of the slice on which no more hangs than there is time for; or one node, whatever does.
  func weighed(_ slice: Slice) throws -> (slice: Slice, isHub: Bool) {
    var slice = slice
    while try hangsMuch(on: slice, most: pace.rows) {
      let rows = slice.high - slice.low
      if rows == 1 { return (slice, true) }
      slice = Slice(low: slice.low, high: slice.low + rows / 2)
    }
    return (slice, false)
  }

  /// Few have very many: whether what refers to them stays is asked of these alone.
  func hangsMuch(on slice: Slice, most: Int64) throws -> Bool {
    let hangers = hangers
    if try !areMore(than: most, hangers.flatMap { $0.mostRows(current.numbers) }, slice) {
      return false
    }
    return try areMore(
      than: most, hangers.flatMap { $0.rows(slice, current.numbers, .first) }, slice)
  }

  private func areMore(than most: Int64, _ rows: [String], _ slice: Slice) throws -> Bool {
    if rows.isEmpty { return false }
    let count = try db.integer(
      generated: """
        SELECT count(*) FROM (
          SELECT 1 FROM (\(rows.map { "SELECT 1 FROM (\($0))" }.joined(separator: "\nUNION ALL ")))
          LIMIT ?3)
        """, slice.bound + [.integer(most + 1)])
    return count ?? 0 > most
  }

  func isGone(_ slice: Slice) throws -> Bool {
    try db.integer(
      "SELECT 1 FROM temp.gone WHERE rule = 0 AND NOT counts AND seq > ? AND seq <= ?",
      .integer(slice.low), .integer(slice.high)) != nil
  }

  /// As many as there is time for, beside the rows that this step had before.
  func letGo(_ slice: Slice, _ rows: inout Int64, since start: ContinuousClock.Instant) throws {
    for hanger in hangers {
      for index in hanger.rows(slice, current.numbers, .first).indices {
        while true {
          let count = try letGoOfSome(hanger, index, slice, most: pace.rowsAtOnce)
          if count == 0 { break }
          current.edgesRemoved += count
          rows += Int64(count)
          if !pace.hasTime(worked: .now - start, rows: rows) { return }
        }
      }
    }
  }

  private func letGoOfSome(
    _ hanger: Hanger, _ index: Int, _ slice: Slice, most: Int64
  ) throws -> Int {
    func some(_ names: SliceNames, _ limit: String) -> String {
      "SELECT * FROM (\(hanger.rows(slice, current.numbers, names)[index]) LIMIT \(limit))"
    }
    let (kept, rows) = ([some(.inTrash, "?6")], some(.first, "?3"))
    let bound = slice.bound + [.integer(most)]
    if hanger.end == nil {
      if model.trash > .zero {
        try keepReferences(of: hanger.place, kept, slice, [.integer(most)])
      }
      return try db.nullify(hanger.place, of: hanger.table, in: rows, bound, current.numbers)
    }
    if model.trash > .zero { try keepSideRows(of: hanger.table, kept, slice, [.integer(most)]) }
    return try db.deleteJoins(of: hanger.table, in: rows, bound)
  }

  private var hangers: [Hanger] {
    binding.places.flatMap { $0.hangers(binding, following: current.followed) }
  }
}

extension TransactionState {
  /// Whether the rows that refer to the node by this stay as they are, until it is gone.
  func waits(_ place: Place, _ binding: Binding) -> Bool {
    isHub && !place.hangers(binding, following: followed).isEmpty
  }
}

/// Rows that lose a reference, or join rows by one of their ends.
private struct Hanger {
  let place: Place
  let table: Table
  let end: (Table.End, other: Table.End)?

  /// With those that go by themselves.
  func mostRows(_ numbers: Numbers) -> [String] {
    if end != nil { return rows(.all, numbers, .first) }
    return numbers.forms(of: place.destination).map {
      """
      SELECT 1 \(place.ofDestinations(in: .gone, $0, numbers)) AND \(SliceNames.first.condition)
      """
    }
  }

  func rows(_ slice: Slice, _ numbers: Numbers, _ names: SliceNames) -> [String] {
    guard let end else { return place.losingRows(of: table, numbers, names) }
    return table.joinRows(end.0, other: end.other, slice, numbers, names)
  }
}

extension Place {
  /// Of whoever is told, of what the other kind of sweep has to follow, and of what a rule of the
  /// application's may refuse, nothing.
  fileprivate func hangers(_ binding: Binding, following followed: Rules) -> [Hanger] {
    let told: Rules = [.notifyIfSourceDeleted, .notifyIfDestinationDeleted]
    let others = followed == .all ? [] : rules.subtracting(followed)
    let isNews = !others.isDisjoint(with: [.cascading, .counting])
    if binding.hasTriggers || isNews || !rules.isDisjoint(with: told) { return [] }
    switch form {
    case .join(let table, let from, let to):
      if binding.collection(in: table) != nil { return [] }
      let ends: [Table.End] = [(from, source), (to, destination)]
      return [(ends[0], ends[1]), (ends[1], ends[0])].filter { table.hasIndex(on: $0.0.column) }
        .map { Hanger(place: self, table: table, end: ($0.0, other: $0.1)) }
    case .column(let column), .typed(let column, _, _):
      guard rules.contains(.nullifySourceIfDestinationDeleted), let table = source.table,
        table.hasIndex(on: column), table.allowsNull(nulledNames)
      else { return [] }
      return [Hanger(place: self, table: table, end: nil)]
    case .json: return []
    }
  }

  private var nulledNames: [String] {
    switch form {
    case .typed(let column, let typeColumn, _): [column, typeColumn]
    case .column(let column): [column]
    case .json, .join: []
    }
  }
}

extension Table {
  /// Whatever else is in the row.
  fileprivate func allowsNull(_ names: [String]) -> Bool {
    !hasChecks && !columns.contains(where: \.isGenerated)
      && !uniqueKeys.contains(where: \.hasExpressions)
      && !names.contains { name in
        column(name)?.isRequired != false
          || primaryKey.contains { $0.lowercased() == name.lowercased() }
      }
  }
}
