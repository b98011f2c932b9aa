package import CascadeSQLite

/// A working table of a connection, which no other connection sees. It is declared once
/// (`TemporaryTableList.swift`), with the code that owns it and how long its rows live.
///
/// A rollback also takes back what a transaction did to these tables. So what a reader writes into
/// any of them ends with its snapshot.
package struct TemporaryTable: Hashable, Sendable {
  /// The code that fills the table, and that other code has to ask for its content.
  package enum Owner: String, CaseIterable, Sendable {
    /// What a transaction knows of nodes (`Transactions.swift`, `Staging.swift`).
    case transaction
    /// What a change file added since the last flush (`RowEdges.swift`).
    case changes
    /// What a flush starts from, and what it must not delete (`Flush.swift`).
    case flush
    /// The set D, and what is needed to complete it (`Closure.swift`).
    case closure
    /// Leased nodes, and what leases and denials keep (`LeaseExclusion.swift`).
    case leases
    /// Candidates of earlier sweeps (`PendingCandidates.swift`).
    case candidates
    /// The reader of the journal (`JournalReader.swift`).
    case journalReader
    /// A scan of whole tables for references to nothing (`DanglingScan.swift`).
    case danglingScan
    /// The search for nodes that the roots do not reach (`Reachability.swift`).
    case reachability
    /// The order in which unreachable nodes are deleted (`UnreachableOrder.swift`).
    case unreachableOrder
    /// A change of this order within D (`UnreachableOrder.swift`).
    case reorder
    /// The plan of a sweep in steps (`SteppedSweep.swift`, `RecheckSlice.swift`).
    case plan
    /// References that objects lose (`Nullify.swift`).
    case nullify
    /// Numbers that no edge names any more (`UnusedIdentities.swift`).
    case identities
    /// The validation of relationships (`Validation.swift`).
    case validation
    /// An undo (`Undo.swift`).
    case undo
    /// Questions about files (`NamedFiles.swift`, `FileCheck.swift`).
    case files
  }

  /// How long rows live.
  package enum Lifetime: String, CaseIterable, Sendable {
    /// The function that fills the table empties it before it returns.
    case call
    /// Until the end of the flush; in a sweep in steps, until the end of the plan, across all of
    /// its commits (`clearPlan`).
    case flush
    /// Until the end of the transaction.
    case transaction
    /// Until the next transaction or plan begins.
    case nextTransaction
    /// Until the same work begins the next time.
    case nextUse
    /// Until the reader's snapshot ends.
    case snapshot
  }

  package let name: String
  package let owner: Owner
  package let lifetime: Lifetime
  /// The columns and what follows them, as in CREATE TABLE.
  let definition: String
  /// Statements that complete it: indexes, a view, rows that are always there.
  let additions: [String]
  /// The statement that empties it.
  let emptying: String

  init(
    _ name: String, _ owner: Owner, _ lifetime: Lifetime, _ definition: String,
    and additions: [String] = [], emptying: String? = nil
  ) {
    self.name = name
    self.owner = owner
    self.lifetime = lifetime
    self.definition = definition
    self.additions = additions
    self.emptying = emptying ?? "DELETE FROM temp.\(name)"
  }

  var creation: [String] { ["CREATE TEMP TABLE \(name)\(definition)"] + additions }
}

/// Temporary tables that are emptied together.
package struct TemporaryTables: Sendable {
  let tables: [TemporaryTable]

  /// All tables of an owner, in the order of their declaration.
  package static func ownedBy(_ owner: TemporaryTable.Owner) -> TemporaryTables {
    byOwner[owner]!
  }

  private static let byOwner = Dictionary(
    uniqueKeysWithValues: TemporaryTable.Owner.allCases.map { owner in
      (owner, TemporaryTables(tables: TemporaryTable.all.filter { $0.owner == owner }))
    })
}

extension Connection {
  package func empty(_ tables: TemporaryTables) throws(SQLiteError) {
    for table in tables.tables { try empty(table) }
  }

  package func empty(_ table: TemporaryTable) throws(SQLiteError) {
    try run(generated: table.emptying)
  }
}
