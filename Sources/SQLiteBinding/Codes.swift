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
  /// Another node denies the deletion, and possibly stays because of a lease. Also: what it waited
  /// for may be gone, so the next sweep that reads the journal examines it.
  case anyDeletion
  /// A node that another kind of sweep has yet to delete keeps it.
  case deletionByOtherKind
  /// An edge keeps it that the other kind of sweep possibly removes.
  case removalByOtherKind
  /// Something keeps it that the rest of the same sweep may delete. Such a row is deleted with the
  /// end of the sweep.
  case restOfSweep

  /// Those that any sweep that reads the journal examines, as a list in SQL.
  package static let noOtherSweep = "(\(lease.rawValue), \(anyDeletion.rawValue))"
  /// Those that wait for another kind of sweep, as a list in SQL.
  package static let otherKind =
    "(\(deletionByOtherKind.rawValue), \(removalByOtherKind.rawValue))"
  /// Those that more than one sweep may have to examine, as a list in SQL.
  package static let laterSweeps =
    "(\(anyDeletion.rawValue), \(deletionByOtherKind.rawValue), \(removalByOtherKind.rawValue))"
}

/// The row of `cascade_muted`, which is there while the daemon writes.
package enum Muting {
  /// Cascade's triggers write no journal, and deny nothing.
  package static let all: Int64 = 1
  /// They deny nothing, but write the journal: the application's own triggers may change something.
  package static let denials: Int64 = 2
}
