internal import Model
internal import SQLite

/// References in the JSON columns of the application. No index tells whose list has something: the
/// table is looked through, and nobody should have to wait for that.
///
/// A sweep in steps does so once, in its snapshot, and goes by what it found. A list that somebody
/// writes behind that is found by the next plan, which he makes necessary.
extension Writer {
  func findLists(of ends: Ends) throws {
    for place in binding.places where place.isInLists && place.losesOrTells {
      for form in ends.forms(of: place.destination) {
        try db.run(
          generated: """
            INSERT OR IGNORE INTO temp.listed
            SELECT \(literal(place.listing)), g.id, \(place.source.listed("s"))
            \(place.ofDestinations(in: .gone, form, current.numbers))
            """, [])
      }
    }
    current.numbers.hasLists = true
  }

  /// Where somebody wrote since then, each question whether a list holds something looks through the
  /// table: it is asked of many at once.
  var rowsLookedAt: Int64 {
    let isAsked = !current.isUndisturbed && pace.rowsToAStep == nil
    if !isAsked || !binding.looked.contains(where: \.holdsByLists) { return pace.rowsAtOnce }
    return max(pace.rowsAtOnce, 2_000)
  }

  /// Whether somebody would notice that a table is looked through.
  var hasLongLists: Bool {
    get throws {
      for place in binding.looked where place.isInLists && place.asksWhoRefers {
        let row = try db.integer(
          generated: "SELECT 1 FROM \(place.source.rows) LIMIT 1 OFFSET ?", [.integer(fewNodes)])
        if row != nil { return true }
      }
      return false
    }
  }
}

extension Connection {
  /// The first rows, which have lost the only node of the slice.
  func forgetListed(_ place: Place, _ slice: Slice, most: Int) throws(SQLiteError) {
    try run(
      generated: """
        DELETE FROM temp.listed WHERE (place, destination, row) IN (
          SELECT l.place, l.destination, l.row FROM temp.gone AS g CROSS JOIN temp.listed AS l
            ON l.place = \(literal(place.listing)) AND l.destination = g.id
          WHERE \(SliceNames.first.condition) ORDER BY l.row LIMIT ?3)
        """, slice.bound + [.integer(Int64(most))])
  }
}

extension Place {
  var isInLists: Bool {
    if case .json = form { true } else { false }
  }

  fileprivate var holdsByLists: Bool {
    let holding: Rules = [
      .deleteDestinationIfSourceDeleted, .deleteDestinationIfAllSourcesDeleted,
      .denyDestinationDeletion,
    ]
    return isInLists && !rules.isDisjoint(with: holding)
  }

  /// Some rules follow from the list itself, which goes with its row.
  fileprivate var asksWhoRefers: Bool {
    let ofSources: Rules = [
      .notifyIfSourceDeleted, .deleteDestinationIfSourceDeleted, .denySourceDeletion,
    ]
    return !rules.isSubset(of: ofSources)
  }

  fileprivate var losesOrTells: Bool {
    !rules.isDisjoint(with: [.nullifySourceIfDestinationDeleted, .notifyIfDestinationDeleted])
  }

  /// What its rows in `temp.listed` are called.
  var listing: String {
    guard case .json(let column, let path) = form else { return "" }
    return "\(nameId) \(source.id) \(destination.id) \(column) \(path)"
  }
}

extension NodeTable {
  /// What finds the row `alias` again.
  fileprivate func listed(_ alias: String) -> String {
    table?.rowid == nil ? key(alias) : row(alias)
  }

  func isListed(_ alias: String, _ value: String) -> String {
    table?.rowid == nil ? hasKey(alias, value) : "\(row(alias)) = \(value)"
  }
}
