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

extension EdgeRelation {
  /// The values that must be known of a deleted or changed row to tell which edges it had.
  var watchedValues: [WatchedValue] {
    switch form {
    case .column(let column): [.column(column)]
    case .typed(let column, let typeColumn, _): [.column(column), .column(typeColumn)]
    case .join(_, _, let destination): [.column(destination)]
    case .json(let column, let path): [.json(column: column, path: path)]
    case .foreignKey: []
    }
  }

  /// Nil if these values do not contain everything that the relation needs.
  func edge(in values: [WatchedValue]) -> WatchedEdge? {
    let indices = watchedValues.compactMap(values.firstIndex)
    guard indices.count == watchedValues.count else { return nil }
    var type: String?
    if case .typed(_, _, let word) = form { type = word }
    return WatchedEdge(
      name: nameId, source: source.id, destination: destination.id, values: indices, type: type)
  }

  var watchSubject: Watch.Subject {
    if case .join(let table, let source, _) = form {
      return .joins(table: table.name, source: source)
    }
    return .rows(of: source.id)
  }

  /// Whether the removal of an edge of this relation must be journaled. The consequences of a
  /// deleted destination are found by the destination's own row, but a foreign key of the
  /// application's may remove the reference at the same time. The sweep of files asks what released
  /// a file.
  var isWatched: Bool {
    if destination.kind == .files { return true }
    let ofSource: Rules = [
      .notifyIfSourceDeleted, .deleteDestinationIfSourceDeleted,
      .deleteDestinationIfAllSourcesDeleted,
    ]
    let ofDestination: Rules = [
      .notifyIfDestinationDeleted, .deleteSourceIfDestinationDeleted,
      .deleteSourceIfAllDestinationsDeleted,
    ]
    if !rules.isDisjoint(with: ofSource) { return true }
    return !rules.isDisjoint(with: ofDestination) && losesEdgesByForeignKey
  }

  /// Whether a foreign key may remove a reference with its destination, without a request: from its
  /// row, or with its row where the row is nothing else.
  var losesEdgesByForeignKey: Bool {
    switch form {
    case .column(let column), .typed(let column, _, _), .json(let column, _):
      source.table?.foreignKeys.contains { $0.onDelete.clearsReference && $0.has(column) } ?? false
    case .join(let table, _, let destination):
      table.foreignKeys.contains { !$0.onDelete.blocksDeletion && $0.has(destination) }
    case .foreignKey: false
    }
  }
}
