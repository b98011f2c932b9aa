internal import CascadeModel
internal import CascadeSQLite
internal import SQLiteBinding
internal import SQLiteTables

extension Table? {
  fileprivate func clearsReference(in columns: [String]) -> Bool {
    self?.foreignKeys.contains { $0.onDelete.clearsReference && columns.contains(where: $0.has) }
      ?? false
  }
}

extension WatchedValue {
  /// The reference that these columns hold.
  init(_ columns: [String]) {
    self = columns.count == 1 ? .column(columns[0]) : .columns(columns)
  }
}

extension EdgeRelation {
  /// The values that must be known of a deleted or changed row to tell which edges it had.
  var watchedValues: [WatchedValue] {
    switch form {
    case .column(let columns), .join(_, _, let columns): [WatchedValue(columns)]
    case .typed(let columns, let typeColumn, _): [WatchedValue(columns), .column(typeColumn)]
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
    case .column(let columns), .typed(let columns, _, _): source.table.clearsReference(in: columns)
    case .json(let column, _): source.table.clearsReference(in: [column])
    case .join(let table, _, let columns):
      table.foreignKeys.contains { !$0.onDelete.blocksDeletion && columns.contains(where: $0.has) }
    case .foreignKey: false
    }
  }
}
