internal import CascadeSQLite

/// What a row of `cascade_journal` means. Triggers write these columns in the transaction that
/// changes the table:
///
/// - `what`: the number of the watch; 0 and -1 stand for edges that a sweep removed: 0 for stored
///   edges, -1 for others;
/// - `key`: the key of the row before the change (for a join row, the value that names its source);
/// - `gone`: 1 where the row was deleted, or has another key now: what has the key later is another
///   node. A row that REPLACE puts in place of one with its key is the same node; but where an
///   application has `recursive_triggers` on, it looks like a deletion;
/// - `a`, `b`, `c`, `d`: the watched values of the row before the change.
///
/// A journal row is a suspicion, not a fact: the node may be gone, the references may be lost. The
/// reader checks whether they are: a row may have come back, and an update may have changed
/// nothing.
package struct Watch: Hashable, Sendable {
  package let number: Int64
  package let meaning: Meaning

  package init(number: Int64, meaning: Meaning) { (self.number, self.meaning) = (number, meaning) }

  /// Stored as text beside the journal, so that rows of an older model are still read correctly.
  package struct Meaning: Hashable, Sendable {
    package let watchSubject: Subject
    package let values: [WatchedValue]
    /// The edges that the values describe.
    package var edges: [WatchedEdge]

    package init(watchSubject: Subject, values: [WatchedValue], edges: [WatchedEdge]) {
      (self.watchSubject, self.values, self.edges) = (watchSubject, values, edges)
    }

    /// Whether its rows are those of a collection.
    package var isOfNodes: Bool { if case .rows = watchSubject { true } else { false } }
  }

  package enum Subject: Hashable, Sendable {
    /// The number of the collection, which does not change with its name.
    case rows(of: Int64)
    case joins(table: String, source: [String])
  }

  /// The columns of the journal that hold values.
  package static let columns = ["a", "b", "c", "d"]

  /// The column that holds the value in a row of this watch; nil if it is not watched.
  package func column(of value: WatchedValue) -> String? {
    meaning.values.firstIndex(of: value).map { Watch.columns[$0] }
  }
}

/// An edge among the values of a journal row. It is identified by its name and its ends, so the
/// reader recognizes it even if another column holds it today.
package struct WatchedEdge: Hashable, Sendable {
  package let name: Int64
  package let source: Int64
  package let destination: Int64
  /// The positions of the reference and, if it has a type column, of its type among the values.
  package let values: [Int]
  package let type: String?

  package init(name: Int64, source: Int64, destination: Int64, values: [Int], type: String?) {
    (self.name, self.source, self.destination) = (name, source, destination)
    (self.values, self.type) = (values, type)
  }
}

package enum WatchedValue: Hashable, Sendable {
  /// Several columns are one list; NULL if one of them is NULL.
  case columns([String])
  /// The text of a part of a JSON column.
  case json(column: String, path: String)
}
