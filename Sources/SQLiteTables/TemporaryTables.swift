package import CascadeSQLite

/// A working table of a connection, which no other connection sees. It is declared once
/// (`TemporaryTableList.swift`), with the code that owns it and how long its rows live.
///
/// A rollback also takes back what a transaction did to these tables. So what a reader writes into
/// any of them ends with its snapshot.
package struct TemporaryTable: Hashable, Sendable {
  /// The code that fills the table, and that other code has to ask for its content. Which files that
  /// are, and what the lifetimes mean, is in `deploy/guides/internals.md`.
  package enum Owner: String, CaseIterable, Sendable {
    case transaction, changes, flush, closure, leases, candidates, journalReader, danglingScan
    case reachability, unreachableOrder, reorder, plan, heldPlans, identities, validation, undo
    case files, marks
  }

  /// How long rows live.
  package enum Lifetime: String, CaseIterable, Sendable {
    case call, flush, transaction, nextTransaction, nextUse, snapshot
  }

  package let name: String
  package let owner: Owner
  package let lifetime: Lifetime
  let creation: [String]
  let emptying: String

  /// `columns` as in CREATE TABLE; with a `key` of several, the table has no rowid. `additions`
  /// complete it: indexes, a view, rows that are always there.
  init(
    _ name: String, _ owner: Owner, _ lifetime: Lifetime,
    _ columns: String = "id INTEGER PRIMARY KEY", key: String? = nil, and additions: [String] = [],
    emptying: String? = nil
  ) {
    (self.name, self.owner, self.lifetime) = (name, owner, lifetime)
    let end = key.map { ", PRIMARY KEY(\($0))) WITHOUT ROWID" } ?? ")"
    creation = ["CREATE TEMP TABLE \(name)(\(columns)\(end)"] + additions
    self.emptying = emptying ?? "DELETE FROM temp.\(name)"
  }
}

extension [TemporaryTable] {
  package static func ownedBy(_ owner: TemporaryTable.Owner) -> [TemporaryTable] {
    TemporaryTable.all.filter { $0.owner == owner }
  }
}

extension Connection {
  package func empty(_ tables: [TemporaryTable]) throws(SQLiteError) {
    for table in tables { try empty(table) }
  }

  package func empty(_ table: TemporaryTable) throws(SQLiteError) {
    try run(generated: table.emptying)
  }
}
