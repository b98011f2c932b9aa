internal import SQLite

/// What the nodes of a slice are, and why they go: nobody asks for those that are not there.
struct Ends {
  private struct End: Hashable {
    let collection: Int64
    let form: Numbered
  }

  private var ends: Set<End> = []
  /// Zero for those that no rule brought in.
  private var rules: Set<Int64> = []

  init() {}

  fileprivate init(kinds: [(collection: Int64, form: Numbered, rule: Int64)]) {
    ends = Set(kinds.map { End(collection: $0.collection, form: $0.form) })
    rules = Set(kinds.map(\.rule))
  }

  func has(rule: Int64) -> Bool { rules.contains(rule) }

  func forms(of table: NodeTable) -> [Numbered] {
    Numbered.allCases.filter { ends.contains(End(collection: table.id, form: $0)) }
  }

  var areAllByRow: Bool { ends.allSatisfy { $0.form == .byRow } }
}

extension Connection {
  func ends(in slice: Slice) throws(SQLiteError) -> Ends {
    Ends(
      kinds: try all(
        "SELECT DISTINCT collection, id < 0, rule FROM temp.gone WHERE seq > ? AND seq <= ?",
        .integer(slice.low), .integer(slice.high)
      ) { ($0.integer(0), $0.integer(1) == 0 ? .byName : .byRow, $0.integer(2)) })
  }
}
