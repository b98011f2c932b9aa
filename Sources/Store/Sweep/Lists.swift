internal import CascadeModel
internal import CascadeSQLite
/// References in the JSON columns of the application. No index tells whose list has something: the
/// table is looked through, and nobody should have to wait for that.
///
/// 1. A sweep in steps does so once, in its snapshot, and goes by what it found; and so does a
///    transaction. What is written behind that snapshot, and loses what goes, the next plan finds.
/// 2. Whether a list holds a node has to be known before that goes. So where somebody commits
///    meanwhile, another plan is made; from then on triggers note whose lists are written, and what
///    these hold comes to the rest, under the lock. At the end of the sweep they go: nobody else pays
///    for them.
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

  /// Under the lock, where somebody committed since the last step.
  func readNotes() throws {
    if !current.wantsNotes { return }
    if !current.notesLists { throw UnnotedLists() }
    for place in binding.holdingLists where current.numbers.noted.contains(place.listing) {
      // What goes whatever holds it may have another key now, by which a list refers to it.
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

  /// The row that stays while somebody wants to know.
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

  /// Where somebody wrote since then and is not noted, each question whether a list holds something
  /// looks through the table: it is asked of many at once.
  var fewestAtOnce: Int64 {
    let isNoted = binding.holdingLists.allSatisfy { current.numbers.noted.contains($0.listing) }
    let looksThrough = !current.isUndisturbed && current.wantsNotes && !isNoted
    return looksThrough && pace.rowsToAStep == nil ? 2_000 : 1
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

/// Somebody commits beside a plan that does not know whose lists he writes.
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

  fileprivate var holds: Bool {
    let holding: Rules = [
      .deleteDestinationIfSourceDeleted, .deleteDestinationIfAllSourcesDeleted,
      .denyDestinationDeletion,
    ]
    return !rules.isDisjoint(with: holding)
  }

  /// Some rules follow from the list itself, which goes with its row.
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

extension Binding {
  /// By a rule of their own or of another place of the name; or because what they lead to is reached.
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
