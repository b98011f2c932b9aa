package import CascadeModel
internal import CascadeSQLite
package import SQLiteBinding
internal import SQLiteTables

/// Finds rows that REPLACE displaces. Without `recursive_triggers` they fire no delete trigger. So
/// before a row is written, a trigger looks for an existing row in its place. That costs a lookup
/// for each insert, so it is done only where a node can vanish that way, or lose a reference that a
/// rule counts. An UPSERT and INSERT OR IGNORE look the same; they leave a suspicion that proves
/// false.
///
/// Two cases are not seen: a row displaced by a rowid that is not a column, and by a key made of
/// expressions.
package struct Displacement {
  let key: Table.UniqueKey
  /// What else must be true of the existing row `o` when NEW takes its place.
  let condition: String
  /// Whether the row that takes its place is another node.
  var isOfOtherNode = false
}

extension WatchTriggers {
  /// A row with the same key replaces a node by itself, which may lose references. A row with
  /// another key makes the node vanish.
  /// That is so whatever the model says about looking for displaced rows.
  package func possibleDisplacements(_ rows: NodeTable, _ table: Table) -> [Displacement] {
    let names = rows.keyNames
    let values = watches.filter { $0.meaning.watchSubject == .rows(of: rows.id) }
      .flatMap(\.meaning.values).unique
    let sameNode = names.map { "o.\(quoted($0)) IS NEW.\(quoted($0))" }
    return table.indexedKeys.compactMap { unique in
      if unique.isMade(of: names) {
        let lost = values.map { "\($0.sql("o")) IS NOT \($0.sql("NEW")) COLLATE BINARY" }
        return lost.isEmpty
          ? nil : Displacement(key: unique, condition: lost.joined(separator: " OR "))
      }
      let isUnlinked = values.isEmpty && binding.unlinked.contains(rows.id)
      if isUnlinked && !binding.model.keepsDeleted(rows.collection) { return nil }
      return Displacement(
        key: unique, condition: "NOT (\(sameNode.joined(separator: " AND ")))",
        isOfOtherNode: true)
    }
  }

  /// A join row that is replaced by one with the same ends loses no edge.
  func watchedDisplacements(
    _ subject: Watch.Subject, _ table: Table, _ watches: [Watch]
  ) -> [Displacement] {
    let isWatched = binding.edgeRelations.contains {
      $0.watchSubject == subject && $0.isWatched
        && binding.model.watchesReplacedRows($0.source.collection)
    }
    guard isWatched, case .joins(_, let source) = subject else { return [] }
    let columns = source + watches.flatMap(\.meaning.values).flatMap(\.columns).unique
    let lost = columns.map { "o.\(quoted($0)) IS NOT NEW.\(quoted($0)) COLLATE BINARY" }
    return table.indexedKeys.filter { !$0.coversColumns(apart: columns) }.map {
      Displacement(key: $0, condition: lost.joined(separator: " OR "))
    }
  }
}

extension WatchedTable {
  private var suspicion: String { "\(GoneMark.suspected)" }

  /// Triggers that run before a row is written. The row that is being updated must not be taken for
  /// the displaced one.
  var onDisplacement: [Trigger] {
    if unique.isEmpty { return [] }
    let events = [
      ("replace", "BEFORE INSERT", ""),
      ("displace", "BEFORE UPDATE\(assignments)", " AND NOT (\(isUpdatedRow))"),
    ]
    return events.map { what, event, isOther in
      let rows = unique.map { displacement in
        "FROM \(quoted(table.name)) AS o WHERE \(displacement.key.isTaken("o", in: table)) "
          + "AND (\(displacement.condition))\(isOther)"
      }
      let statements = zip(unique, rows).flatMap { displacement, rows in
        watches.map { insert($0, from: rows, isGone: displacement.isOfOtherNode ? suspicion : nil) }
          + (displacement.isOfOtherNode ? kept?.keeping("o", of: table, from: rows) ?? [] : [])
      }
      return Trigger(
        "cascade_\(what)_\(name)", event, on: table,
        when: rows.map { "EXISTS (SELECT 1 \($0))" }.joined(separator: " OR "),
        statements)
    }
  }

  /// Triggers that run after a row is written, and tell whether the suspected rows are gone. Where nothing
  /// was written, for instance by INSERT OR IGNORE, the next row that is written tells it.
  var onDisplaced: [Trigger] {
    if !unique.contains(where: \.isOfOtherNode) || watchesOfNodes.isEmpty { return [] }
    let suspected = GoneMark.find(GoneMark.suspected)
    return [("replaced", "AFTER INSERT"), ("displaced", "AFTER UPDATE\(assignments)")].map {
      Trigger(
        "cascade_\($0)_\(name)", $1, on: table,
        when: "EXISTS (SELECT 1 FROM cascade_journal WHERE \(suspected))",
        [
          """
          UPDATE cascade_journal SET gone = iif(\(isThere("cascade_journal.key")), 0, \(isGone())) \
          WHERE \(suspected) AND what IN (\(watchesOfNodes))
          """
        ])
    }
  }

  private func isThere(_ key: String) -> String {
    let kind = NodeTable.Kind.mapped(table, key: keyColumns, collations: [])
    let hasKey = NodeTable(id: 0, collection: "", kind: kind).hasKey("o", key)
    return "EXISTS (SELECT 1 FROM \(quoted(table.name)) AS o WHERE \(hasKey))"
  }

  private var assignments: String {
    table.assignments(to: unique.flatMap(\.key.columns).compactMap(table.column))
  }

  private var isUpdatedRow: String {
    if let rowid = table.rowid { return "o.\(rowid) = OLD.\(rowid)" }
    let key = table.primaryKey.isEmpty ? keyColumns.map(\.name) : table.primaryKey
    return key.map { "o.\(quoted($0)) IS OLD.\(quoted($0))" }.joined(separator: " AND ")
  }
}

extension Table {
  /// Unique keys by which an index finds any row. A partial index finds only its own rows, so such
  /// a key needs another index on one of its columns.
  var indexedKeys: [UniqueKey] {
    uniqueKeys.filter { key in
      !key.hasExpressions && (!key.isPartial || key.columns.contains(where: hasIndex))
    }
  }

  /// The value that REPLACE stores in a column: the default in place of NULL, if the column is NOT
  /// NULL.
  fileprivate func replacing(_ name: String) -> String {
    let new = "NEW.\(quoted(name))"
    guard let column = column(name), column.isRequired, let initial = column.initial else {
      return new
    }
    return "coalesce(\(new), (\(initial)))"
  }

  /// Unique keys by which a row may be displaced without notice.
  package var unindexedKeys: [UniqueKey] { uniqueKeys.filter { !indexedKeys.contains($0) } }
}

extension Table.UniqueKey {
  /// Whether `row` has the values that NEW is about to take. It compares as the index does, which
  /// may differ from the column.
  func isTaken(_ row: String, in table: Table) -> String {
    zip(columns, collations).map {
      "\(row).\(quoted($0)) = \(table.replacing($0)) COLLATE \(quoted($1))"
    }.joined(separator: " AND ")
  }

  func isMade(of names: [String]) -> Bool {
    Set(columns.map(\.folded)) == Set(names.map(\.folded))
  }

  /// Whether rows with the same values in this key have the same values in these columns.
  fileprivate func coversColumns(apart names: [String]) -> Bool {
    Set(columns.map(\.folded)).isSuperset(of: names.map(\.folded))
  }
}

extension StoreModel {
  package func watchesReplacedRows(_ collection: String) -> Bool {
    if case .mapped(_, _, .watch) = collections[collection] { true } else { false }
  }
}
