internal import CascadeModel
internal import CascadeSQLite

/// References in the application's JSON columns. No index tells which lists contain a node, so the
/// table is scanned, and no writer should wait for that.
///
/// 1. A sweep in steps scans once, in its snapshot, and uses the result. So does a transaction. If
///    a list is written after the snapshot and loses a deleted node, the next plan finds it.
/// 2. Whether a list holds a node must be known before the node is deleted. So if another
///    connection commits in the meantime, another plan is made. From then on triggers note the rows
///    whose lists are written, and what these lists hold is added to the result, under the lock. At
///    the end of the sweep the triggers are removed, so that writers pay for them only while it
///    runs.
extension Writer {
  func findLists(of ends: Ends) throws {
    let noted = current.notesLists ? binding.holdingLists : []
    for place in binding.places where place.losesFromLists || noted.contains(place) {
      for form in ends.forms(of: place.destination) {
        try db.list(place, place.ofDestinations(in: .gone, form, current.numbers))
      }
    }
    current.numbers.hasLists = true
    current.numbers.noted = Set(noted.map(\.listing))
    current.wantsNotes = binding.holdingLists.contains { !ends.forms(of: $0.destination).isEmpty }
  }

  /// Called under the lock, if another connection committed since the last step.
  func readNotes() throws {
    if !current.wantsNotes { return }
    if !current.notesLists { throw UnnotedLists() }
    for place in binding.holdingLists where current.numbers.noted.contains(place.listing) {
      // A node that is deleted whatever holds it may have a new key by now, and a list may refer to
      // it by that key. The notes do not find that list, so the table is scanned.
      let isDenied = place.rules.contains(.denyDestinationDeletion)
      if isDenied && current.disturbed.contains(place.destination.id) {
        current.numbers.noted.remove(place.listing)
        continue
      }
      for form in current.numbers.forms(of: place.destination) {
        try db.list(place, place.ofDestinations(in: .goneOfWritten, form, current.numbers))
      }
    }
    try db.run("DELETE FROM cascade_written WHERE seq > 0")
  }

  /// The row with `seq` 0 stays while lists are noted.
  func startNoting() throws {
    try db.run("INSERT OR IGNORE INTO cascade_written(seq) VALUES(0)")
    try bindAnew()
  }

  func endNotes() {
    if (try? db.isNoting) == true { try? group { try stopNoting() } }
  }

  func stopNoting() throws {
    if try !db.isNoting { return }
    try db.run("DELETE FROM cascade_written")
    try bindAnew()
  }

  /// If another connection wrote since the plan and the lists are not noted, each question whether
  /// a list holds a node scans the table. So it is asked for many nodes at once.
  var fewestAtOnce: Int64 {
    let isNoted = binding.holdingLists.allSatisfy { current.numbers.noted.contains($0.listing) }
    let looksThrough = !current.isUndisturbed && current.wantsNotes && !isNoted
    return looksThrough && pace.rowsToAStep == nil ? 2_000 : 1
  }

  /// Whether scanning a table of lists takes so long that other writers would notice.
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

/// Another connection commits beside a plan for which no lists are noted.
struct UnnotedLists: Error {}

extension Connection {
  fileprivate func list(_ place: Place, _ references: String) throws(SQLiteError) {
    try run(
      generated: """
        INSERT OR IGNORE INTO temp.listed
        SELECT \(literal(place.listing)), g.id, \(place.source.listed("s")) \(references)
        """, [])
  }

  var isNoting: Bool {
    get throws(SQLiteError) { try integer("SELECT 1 FROM cascade_written LIMIT 1") != nil }
  }

  /// Deletes the first rows of `temp.listed` of these lists. They have lost the only node of the
  /// slice.
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

  fileprivate var holds: Bool {
    let holding: Rules = [
      .deleteDestinationIfSourceDeleted, .deleteDestinationIfAllSourcesDeleted,
      .denyDestinationDeletion,
    ]
    return !rules.isDisjoint(with: holding)
  }

  /// Some rules are decided from the list itself, which is deleted with its row. The other rules
  /// ask which lists refer to a node.
  fileprivate var asksWhoRefers: Bool {
    let ofSources: Rules = [
      .notifyIfSourceDeleted, .deleteDestinationIfSourceDeleted, .denySourceDeletion,
    ]
    return !rules.isSubset(of: ofSources)
  }

  fileprivate var losesFromLists: Bool {
    isInLists
      && !rules.isDisjoint(with: [.nullifySourceIfDestinationDeleted, .notifyIfDestinationDeleted])
  }

  /// The name of this place in `temp.listed`.
  var listing: String {
    guard case .json(let column, let path) = form else { return "" }
    return "\(nameId) \(source.id) \(destination.id) \(column) \(path)"
  }
}

extension NodeTable {
  /// The value by which the row `alias` is found again: its rowid or its key.
  fileprivate func listed(_ alias: String) -> String {
    table?.rowid == nil ? key(alias) : row(alias)
  }

  func isListed(_ alias: String, _ value: String) -> String {
    table?.rowid == nil ? hasKey(alias, value) : "\(row(alias)) = \(value)"
  }
}

extension Binding {
  /// Lists that hold nodes: by a rule of their own, by rule 32 of another place of the same name,
  /// or because what they lead to is reached from the roots.
  func findHoldingLists() -> [Place] {
    let counted = places.filter { $0.rules.contains(.deleteDestinationIfAllSourcesDeleted) }
    let names = Set(counted.map(\.name))
    return places.filter {
      $0.isInLists && ($0.holds || names.contains($0.name) || !model.roots.isEmpty && $0.leadsOn)
    }
  }
}

extension Place.Driver {
  fileprivate static let goneOfWritten = Place.Driver(
    rows: Place.Driver.gone.rows, id: Place.Driver.gone.id, isOfWritten: true)
}
