internal import CascadeModel
package import CascadeSQLite
internal import CascadeEngine
package import SQLiteBinding
package import SQLiteTables
internal import SQLiteJournal

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
  package func findLists(of ends: NodeCounts) throws {
    let noted = current.step.isNotingLists ? binding.holdingLists : []
    for relation in binding.edgeRelations
    where relation.losesListMembers || noted.contains(relation) {
      for form in ends.forms(of: relation.destination) {
        try db.fillListed(relation, relation.edgesToDestinations(in: .gone, form, current.numbers))
      }
    }
    current.numbers.hasLists = true
    current.numbers.notedLists = Set(noted.map(\.listedName))
    current.step.needsListNotes = binding.holdingLists.contains {
      !ends.forms(of: $0.destination).isEmpty
    }
  }

  /// Called under the lock, if another connection committed since the last step.
  package func addWrittenLists() throws {
    if !current.step.needsListNotes { return }
    if !current.step.isNotingLists { throw UntrackedLists() }
    for relation in binding.holdingLists
    where current.numbers.notedLists.contains(relation.listedName) {
      // A node that is deleted whatever holds it may have a new key by now, and a list may refer to
      // it by that key. The notes do not find that list, so the table is scanned.
      let isDenied = relation.rules.contains(.denyDestinationDeletion)
      if isDenied && current.step.collectionsChangedByOthers.contains(relation.destination.id) {
        current.numbers.notedLists.remove(relation.listedName)
        continue
      }
      for form in current.numbers.forms(of: relation.destination) {
        try db.fillListed(
          relation, relation.edgesToDestinations(in: .goneOfWritten, form, current.numbers))
      }
    }
    try db.run("DELETE FROM cascade_list_write WHERE seq > 0")
  }

  /// The row with `seq` 0 stays while lists are noted.
  package func startListTracking() throws {
    try db.run("INSERT OR IGNORE INTO cascade_list_write(seq) VALUES(0)")
    try rebind()
  }

  package func stopListTrackingIfAny() {
    if (try? db.isTrackingLists) == true { try? group { try stopListTracking() } }
  }

  /// If another connection wrote since the plan and the lists are not noted, each question whether
  /// a list holds a node scans the table. So it is asked for many nodes at once.
  package var smallestSlice: Int64 {
    let isNoted = binding.holdingLists.allSatisfy {
      current.numbers.notedLists.contains($0.listedName)
    }
    let looksThrough = !current.step.isUndisturbed && current.step.needsListNotes && !isNoted
    return looksThrough && lock.pace.rowsToAStep == nil ? 2_000 : 1
  }

  /// Whether scanning a table of lists takes so long that other writers would notice.
  package var hasLongLists: Bool {
    get throws {
      try binding.examinedRelations.contains { relation in
        if !relation.isInLists || !relation.asksWhoRefers { return false }
        return try db.integer(
          "SELECT 1 FROM \(relation.source.rows) LIMIT 1 OFFSET \(bind: lock.fewNodes)") != nil
      }
    }
  }
}

/// Another connection commits beside a plan for which no lists are noted.
package struct UntrackedLists: Error, CustomStringConvertible {
  package var description: String { "lists were changed during the sweep; try again" }
}

extension Connection {
  fileprivate func fillListed(_ relation: EdgeRelation, _ references: Query) throws(SQLiteError) {
    try run(
      """
      INSERT OR IGNORE INTO temp.list_references
      SELECT \(literal(relation.listedName)), g.id, \(relation.source.listed("s")) \(references)
      """)
  }

  /// Deletes the first rows of `temp.list_references` of these lists. They have lost the only node
  /// of the slice.
  package func deleteListed(_ relation: EdgeRelation, _ slice: Slice, most: Int) throws(SQLiteError)
  {
    try run(
      """
      DELETE FROM temp.list_references WHERE (relation, destination, row) IN (
        SELECT l.relation, l.destination, l.row FROM temp.gone AS g CROSS JOIN temp.list_references AS l
          ON l.relation = \(literal(relation.listedName)) AND l.destination = g.id
        WHERE \(slice.contains()) ORDER BY l.row LIMIT \(bind: Int64(most)))
      """)
  }
}

extension EdgeRelation {
  /// Some rules are decided from the list itself, which is deleted with its row. The other rules
  /// ask which lists refer to a node.
  fileprivate var asksWhoRefers: Bool {
    let ofSources: Rules = [
      .notifyIfSourceDeleted, .deleteDestinationIfSourceDeleted, .denySourceDeletion,
    ]
    return !rules.isSubset(of: ofSources)
  }

  fileprivate var losesListMembers: Bool {
    isInLists
      && !rules.isDisjoint(with: [.nullifySourceIfDestinationDeleted, .notifyIfDestinationDeleted])
  }
}

extension NodeTable {
  /// The value by which the row `alias` is found again: its rowid or its key.
  fileprivate func listed(_ alias: String) -> String {
    table?.rowid == nil ? key(alias) : row(alias)
  }
}
