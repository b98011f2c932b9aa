internal import CascadeModel
internal import CascadeSQLite
/// What a row of `cascade_journal` says. Triggers write rows of these columns, in the transaction
/// of whoever changes the table:
///
/// - `what`: the number of the watch; 0 and -1 are edges that a sweep of ours removed, of those it
///   stores, and of others;
/// - `key`: of the row (or, for a join row, the value that names its source), before the change;
/// - `a`, `b`, `c`, `d`: the watched values of the row, before the change.
///
/// It is a suspicion, not a fact: the node may be gone, the references may be lost. Whoever reads it
/// looks whether they are (a row may have come back, an update may have changed nothing).
struct Watch: Hashable, Sendable {
  let number: Int64
  let meaning: Meaning

  /// Kept as text beside the journal: rows that were written for an older model are still read right.
  struct Meaning: Hashable, Sendable {
    let subject: Subject
    let values: [WatchedValue]
    /// What the values say; nil where an older version did not write that down.
    let edges: [WatchedEdge]?
  }

  enum Subject: Hashable, Sendable {
    /// By the number of the collection, whatever it is called.
    case rows(of: Int64)
    case joins(table: String, source: String)
  }

  /// The columns of the journal that hold values.
  static let columns = ["a", "b", "c", "d"]

  /// Where the value is, in a row of this watch; nil where it is not watched.
  func column(of value: WatchedValue) -> String? {
    meaning.values.firstIndex(of: value).map { Watch.columns[$0] }
  }
}

/// An edge among the values of a row of the journal. It is told by its name and its ends (DESIGN 2.2), so
/// whoever reads it knows it, also where another column says it today.
struct WatchedEdge: Hashable, Sendable {
  let name: Int64
  let source: Int64
  let destination: Int64
  /// The places of the reference and, where it has a type, of its type among the values.
  let values: [Int]
  let type: String?
}

enum WatchedValue: Hashable, Sendable {
  case column(String)
  /// The text of a part of a JSON column.
  case json(column: String, path: String)
}

extension Place {
  /// What has to be known of a row that is gone, or changed, to tell which edges it had.
  var watched: [WatchedValue] {
    switch form {
    case .column(let column): [.column(column)]
    case .typed(let column, let typeColumn, _): [.column(column), .column(typeColumn)]
    case .join(_, _, let destination): [.column(destination)]
    case .json(let column, let path): [.json(column: column, path: path)]
    case .foreignKey: []
    }
  }

  /// Nil where not all of it is among these.
  func edge(in values: [WatchedValue]) -> WatchedEdge? {
    let indices = watched.compactMap(values.firstIndex)
    guard indices.count == watched.count else { return nil }
    var type: String?
    if case .typed(_, _, let word) = form { type = word }
    return WatchedEdge(
      name: nameId, source: source.id, destination: destination.id, values: indices, type: type)
  }

  var subject: Watch.Subject {
    if case .join(let table, let source, _) = form {
      return .joins(table: table.name, source: source)
    }
    return .rows(of: source.id)
  }

  /// Whether somebody has to know when an edge of these is removed. What the loss of a destination
  /// does, the destination's own row tells; but a foreign key of the application's may take the
  /// reference away in the same breath. What let go of a file is asked by the sweep of files.
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
    return !rules.isDisjoint(with: ofDestination) && isTakenByForeignKey
  }

  /// Whether a reference may go with its destination although nobody asked for that: out of its row, or
  /// with it where the row is nothing else.
  var isTakenByForeignKey: Bool {
    switch form {
    case .column(let column), .typed(let column, _, _), .json(let column, _):
      source.table?.foreignKeys.contains { $0.onDelete.loses && $0.has(column) } ?? false
    case .join(let table, _, let destination):
      table.foreignKeys.contains { !$0.onDelete.refuses && $0.has(destination) }
    case .foreignKey: false
    }
  }
}
