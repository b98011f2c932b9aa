package import CascadeModel

// Numbers with a meaning, in columns of Cascade's own tables. SQL takes them from here.

extension Removal {
  /// The `removal` of a row in `temp.lost_edges`, and the `key` of a journal row that records an
  /// edge (`JournalSubject`): which end the edge has lost. An edge that lost both ends, or whose
  /// removal counts as neither, has a code that no rule asks for.
  package var code: Int64 {
    switch self {
    case .sourceDeleted: 0
    case .destinationDeleted: 1
    case .edgeDeleted: 2
    }
  }
}

extension Origin {
  /// The lowest origin of an edge that repeats what its source's value says. Edges below it were
  /// declared or added by themselves.
  package static let firstOfValues = Origin.property
}

/// The `what` of a row in `cascade_journal`. From `firstWatch` on it is the number of a watch,
/// whose meaning is in `cascade_watch`, and the application's transaction wrote the row. Below, a
/// sweep recorded an edge that it removed with one of its ends: `key` is `Removal.code`; `a`, `b`
/// and `c` are the numbers of source, name and destination; `d` is the rules that may follow.
package enum JournalSubject {
  package static let firstWatch: Int64 = 1
  /// A stored edge.
  package static let storedEdge: Int64 = 0
  /// An edge in a table of the application (`LostEdgeJournal.swift`).
  package static let tableEdge: Int64 = -1
  /// A row under the key of one that was deleted, with the key and the number of its collection
  /// (`UsedKeys.swift`).
  package static let arrival: Int64 = -2
  /// The daemon deleted a row while others of the journal were unread; the same columns.
  package static let ownDeletion: Int64 = -3
}

/// The `gone` of a row in `cascade_journal` that tells of a deletion. The partial index has the rows from
/// `indexed` on.
package enum GoneMark {
  package static let plain: Int64 = 1
  /// Of a table whose new rows may be journaled.
  package static let indexed: Int64 = 2
  /// A REPLACE may be about to displace the row, or an upsert to change it. Before the statement ends, a
  /// trigger makes this a deletion or none (`Displacement.swift`).
  package static let suspected: Int64 = 3

  package static func isDeletion(_ row: String) -> String {
    "\(row).gone IN (\(plain), \(indexed))"
  }

  /// The condition by which the partial index finds journal rows with a mark.
  package static func find(_ mark: Int64) -> String { "gone >= \(indexed) AND gone = \(mark)" }
}

/// The `fate` of a row in `cascade_trash_file`. The partial index on the column has the rows that
/// wait for something.
package enum FileFate: Int64 {
  /// The file is in the trash.
  case trashed
  /// It is to be deleted for good.
  case toDelete
  /// It is to be put back.
  case toRestore
}

/// The `waits_for` of a row in `cascade_candidate`, and in `temp.new_candidates`: what kept a node
/// that had a reason to go. When that may have ended, the reason is examined again.
package enum WaitsFor: Int64 {
  /// The node is leased.
  case lease
  /// What it waited for may be gone, so the next sweep that reads the journal examines it.
  case anyDeletion
  /// A node that another kind of sweep has yet to delete keeps it.
  case deletionByOtherKind
  /// An edge keeps it that the other kind of sweep possibly removes.
  case removalByOtherKind
  /// Something denies the deletion that the rest of the same sweep may delete. With the end of the
  /// sweep, the row waits for the end of the denial.
  case restOfSweep
  /// Something denies the deletion. Each sweep that reads the journal examines the row again, and
  /// none runs because of it alone.
  case endOfDenial

  /// Those that any sweep that reads the journal examines, as a list in SQL.
  package static let noOtherSweep =
    "(\(lease.rawValue), \(anyDeletion.rawValue), \(endOfDenial.rawValue))"
  /// Those that wait for another kind of sweep, as a list in SQL.
  package static let otherKind =
    "(\(deletionByOtherKind.rawValue), \(removalByOtherKind.rawValue))"
  /// Those that a sweep of another kind may have to examine, as a list in SQL.
  package static let laterSweeps =
    "(\(anyDeletion.rawValue), \(deletionByOtherKind.rawValue), \(removalByOtherKind.rawValue))"
  /// Those for which a sweep runs as soon as there is no lease, as a list in SQL.
  package static let nextSweep = "(\(lease.rawValue), \(anyDeletion.rawValue))"
}

/// The row of `cascade_muted`, which is there while the daemon writes.
package enum Muting {
  /// Cascade's triggers write no journal, and deny nothing.
  package static let all: Int64 = 1
  /// They deny nothing, but write the journal: the application's own triggers may change something.
  package static let denials: Int64 = 2
}

/// The `ended` of a row in `cascade_plan`: how a plan that owned its causes came to its end. NULL: it has
/// not.
package enum PlanEnd: Int64 {
  /// Its sweep is at its end. Its rows are still to be deleted.
  case carriedOut = 1
  /// It was rejected. The row stays, and answers the same rejection again.
  case rejected
}

extension EdgeEnd {
  /// The value of `removal` in `temp.lost_edges`.
  package var removal: Int64 {
    (self == .source ? Removal.sourceDeleted : .destinationDeleted).code
  }
}
