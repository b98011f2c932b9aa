internal import CascadeModel
internal import CascadeSQLite

/// What a row of `cascade_journal` means. Triggers write these columns in the transaction that
/// changes the table:
///
/// - `what`: the number of the watch; 0 and -1 stand for edges that a sweep removed: 0 for stored
///   edges, -1 for others;
/// - `key`: the key of the row before the change (for a join row, the value that names its source);
/// - `a`, `b`, `c`, `d`: the watched values of the row before the change.
///
/// A journal row is a suspicion, not a fact: the node may be gone, the references may be lost. The
/// reader checks whether they are: a row may have come back, and an update may have changed
/// nothing.
struct Watch: Hashable, Sendable {
  let number: Int64
  let meaning: Meaning

  /// Stored as text beside the journal, so that rows of an older model are still read correctly.
  struct Meaning: Hashable, Sendable {
    let watchSubject: Subject
    let values: [WatchedValue]
    /// The edges that the values describe; nil if an older version did not record them.
    let edges: [WatchedEdge]?
  }

  enum Subject: Hashable, Sendable {
    /// The number of the collection, which does not change with its name.
    case rows(of: Int64)
    case joins(table: String, source: String)
  }

  /// The columns of the journal that hold values.
  static let columns = ["a", "b", "c", "d"]

  /// The column that holds the value in a row of this watch; nil if it is not watched.
  func column(of value: WatchedValue) -> String? {
    meaning.values.firstIndex(of: value).map { Watch.columns[$0] }
  }
}

/// An edge among the values of a journal row. It is identified by its name and its ends (DESIGN
/// 2.2), so the reader recognizes it even if another column holds it today.
struct WatchedEdge: Hashable, Sendable {
  let name: Int64
  let source: Int64
  let destination: Int64
  /// The positions of the reference and, if it has a type column, of its type among the values.
  let values: [Int]
  let type: String?
}

enum WatchedValue: Hashable, Sendable {
  case column(String)
  /// The text of a part of a JSON column.
  case json(column: String, path: String)
}
