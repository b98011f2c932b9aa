package import CascadeModel
package import CascadeSQLite
package import CascadeStore
internal import SQLiteBinding
internal import SQLiteTables
internal import SQLiteJournal

extension Reader {
  /// Scans whole tables, in a snapshot, so that no other connection has to wait.
  package func checkSetup() throws -> [SetupFinding] {
    try db.snapshot {
      let binding = try binding()
      return try Reader.libraryFindings + binding.findings + binding.replaceFindings(model)
        + triggerFindings(binding) + binding.rowFindings(db) + journalFindings()
        + expiryFindings(binding)
    }
  }

  /// What `checkSetup` would find right after the store was attached, but for what does not fit.
  func setupFindings(of binding: Binding) throws -> [SetupFinding] {
    let found =
      try binding.findings + binding.replaceFindings(model) + binding.rowFindings(db)
      + expiryFindings(binding)
    return found.filter { $0.kind != .binding }
  }

  private static var libraryFindings: [SetupFinding] {
    if Connection.checkpointsAreSafe { return [] }
    return [
      SetupFinding(
        kind: .library, table: nil,
        message: "SQLite \(Connection.libraryVersionText), which cascaded uses, can corrupt a "
          + "database in WAL mode when a checkpoint meets a commit. cascaded takes no such "
          + "checkpoint, but an application may: every program that opens the store needs 3.51.3 or "
          + "newer. On Debian, `apt-cache policy libsqlite3-0` shows the versions there are; where "
          + "those of the release are older, take it from backports or testing, and start the "
          + "programs again")
    ]
  }

  /// If the watches have no numbers yet, the store was never attached.
  private func triggerFindings(_ binding: Binding) throws -> [SetupFinding] {
    if !model.hasTables { return [] }
    let known = Dictionary(try db.watches().map { ($0.meaning, $0) }) { first, _ in first }
    let watches = binding.meanings.map { known[$0] ?? Watch(number: 0, meaning: $0) }
    let rules = try Counters(db, behind: 0).rulesSeen
    let refusals = RequiredDenials(
      binding: binding, rulesSeen: rules, protected: try db.protectedCollections)
    let wanted =
      WatchTriggers(watches: watches, binding: binding).all + binding.markTriggers
      + refusals.triggers
    let found = try Set(db.ourTriggers())
    let names = Set(found.map(\.name))
    return wanted.filter { !found.contains($0) }.map { trigger in
      SetupFinding(
        kind: .trigger, table: nil,
        message: "trigger \"\(trigger.name)\" is "
          + (names.contains(trigger.name) ? "changed" : "missing"))
    }
  }
}

extension Binding {
  fileprivate var findings: [SetupFinding] {
    problems.map { SetupFinding(kind: .binding, table: nil, message: $0.description) }
      + missingIndexes.map { index in
        SetupFinding(
          kind: .missingIndex, table: index.table,
          message: "no index on \"\(index.table)\"(\(index.quotedColumns)): rows are searched by it"
        )
      } + edgeRelations.flatMap(\.affinityFindings).unique + missingDefinitionFindings
  }

  private var missingDefinitionFindings: [SetupFinding] {
    let tables = collections.values.compactMap(\.table) + edgeRelations.compactMap(\.referringTable)
    return Set(tables).sorted { $0.name < $1.name }.flatMap { table in
      missingDefinitions[table.name.folded]?.findings(table) ?? []
    }
  }

  fileprivate func replaceFindings(_ model: StoreModel) -> [SetupFinding] {
    let watches = meanings.map { Watch(number: 0, meaning: $0) }
    let triggers = WatchTriggers(watches: watches, binding: self)
    return collections.values.sorted { $0.id < $1.id }.compactMap { rows in
      guard let table = rows.table else { return nil }
      if model.watchesReplacedRows(rows.collection) {
        return model.hasRelationship(with: rows.collection) ? table.hiddenKeyFinding : nil
      }
      if triggers.possibleDisplacements(rows, table).isEmpty { return nil }
      return SetupFinding(
        kind: .replaceIgnored, table: table.name,
        message: "\"\(rows.collection)\" has replace: \"ignore\": Cascade does not see a row of "
          + "\"\(table.name)\" that INSERT OR REPLACE displaces")
    }
  }

  fileprivate func rowFindings(_ db: borrowing Connection) throws -> [SetupFinding] {
    var found: [SetupFinding] = []
    for rows in collections.values.sorted(by: { $0.id < $1.id }) {
      guard case .mapped(let table, let key, _) = rows.kind else { continue }
      if try db.hasMissingKey(table, key) {
        found.append(
          SetupFinding(
            kind: .missingKey, table: table.name,
            message: "\"\(table.name)\" has rows without a key, which are not nodes"))
      }
      if !table.foreignKeys.isEmpty { found += try db.foreignKeyFindings(table) }
    }
    return found
  }
}

extension MissingDefinitions {
  fileprivate func findings(_ table: Table) -> [SetupFinding] {
    let rows = "rows of \"\(table.name)\""
    let without = [
      ofInsertTrigger.map { ("its triggers", $0) }, ofCheck.map { ("its CHECK constraints", $0) },
    ].compactMap(\.self)
    return [
      reasonAgainstDeletion(from: table).map {
        SetupFinding(kind: .cannotDelete, table: table.name, message: "\(rows) cannot go: \($0)")
      },
      reasonAgainstRestoring(to: table).map {
        SetupFinding(
          kind: .cannotUndo, table: table.name,
          message: "\(rows) stay unless the model says undo: false, or trash: \"0\": \($0)")
      },
    ].compactMap(\.self)
      + without.map { what, message in
        SetupFinding(
          kind: .undoneWithout, table: table.name,
          message: "undo brings \(rows) back without \(what), which need what only the "
            + "application defines (\(message))")
      }
  }
}

extension Table {
  fileprivate var hiddenKeyFinding: SetupFinding? {
    if unindexedKeys.isEmpty { return nil }
    return SetupFinding(
      kind: .hiddenKey, table: name,
      message: "\"\(name)\" has a UNIQUE index on expressions, or on a part of its rows: Cascade "
        + "does not see a row that INSERT OR REPLACE displaces by it")
  }
}

extension EdgeRelation {
  /// Values of different types are never equal, however they look.
  fileprivate var affinityFindings: [SetupFinding] {
    guard case .mapped(let target, let key, _) = destination.kind, let table = referringTable
    else { return [] }
    return zip(referringColumns.compactMap(table.column), key).compactMap { column, part in
      if column.affinity.isNumeric == part.affinity.isNumeric { return nil }
      return SetupFinding(
        kind: .affinity, table: table.name,
        message: "\"\(table.name)\".\"\(column.name)\" and \"\(target.name)\".\"\(part.name)\" "
          + "have different types: values that look equal may differ")
    }
  }
}

extension Connection {
  fileprivate func hasMissingKey(_ table: Table, _ key: [Table.Column]) throws -> Bool {
    let optional = key.filter { !$0.isRequired }.map { "t.\(quoted($0.name)) IS NULL" }
    if optional.isEmpty { return false }
    return try integer(
      generated: "SELECT 1 FROM main.\(quoted(table.name)) AS t "
        + "WHERE \(optional.joined(separator: " OR ")) LIMIT 1") != nil
  }

  /// SQLite enforces declared foreign keys only for connections that ask for it.
  fileprivate func foreignKeyFindings(_ table: Table) throws -> [SetupFinding] {
    let most: Int64 = 1000
    let parents = try all(
      """
      SELECT parent, count(*) FROM (
        SELECT parent FROM pragma_foreign_key_check(?, 'main') LIMIT ?
      ) GROUP BY parent ORDER BY parent
      """, .text(table.name), .integer(most)
    ) { (name: $0.text(0), count: $0.integer(1)) }
    return parents.map { parent in
      let rows = Int(parent.count).counted("row", "rows")
      return SetupFinding(
        kind: .foreignKey, table: table.name,
        message: "\(parent.count == most ? "at least " : "")\(rows) of \"\(table.name)\" "
          + "\(parent.count == 1 ? "refers" : "refer") to a row of \"\(parent.name)\" that does not exist, although "
          + "a foreign key is declared")
    }
  }
}

/// Whether a model fits a database, and what the daemon would find there.
package struct ModelJudgement: Sendable {
  /// Without any, the model fits.
  package let problems: [ModelProblem]
  /// What would be slow, not seen, not deleted or not restored.
  package let findings: [SetupFinding]
  /// What refers to nothing now. In a store that was attached, also what breaks a demand of the model.
  package let references: Findings

  /// The connection only reads. The database may be one that was never attached; it is called `path`.
  package init(
    of model: StoreModel, for db: consuming Connection, at path: String, limit: Int
  ) throws {
    try db.refuseOtherLayouts(of: path)
    let reader = try Reader(judging: db, by: model)
    let binding = try reader.binding()
    problems = binding.problems
    findings = try reader.setupFindings(of: binding)
    references = problems.isEmpty ? try reader.checkReferences(limit: limit) : Findings()
  }
}
