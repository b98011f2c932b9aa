package import CascadeSQLite

/// What SQLite cannot do with the rows of a table here, because its schema uses a function or a
/// collation that only the application defines. Each value is SQLite's message.
package struct MissingDefinitions: Hashable, Sendable {
  /// An index or a key: no row can be deleted or inserted.
  package var ofIndex: String?
  /// A trigger that runs when a row is deleted.
  package var ofDeleteTrigger: String?
  /// A generated column: no row can be inserted.
  package var ofGeneratedColumn: String?
  /// A trigger that runs when a row is inserted.
  package var ofInsertTrigger: String?
  /// A CHECK constraint.
  package var ofCheck: String?
}

extension MissingDefinitions {
  package func reasonAgainstDeletion(from table: Table) -> String? {
    let ofIndex = ofIndex.map { "an index of \"\(table.name)\" \(needs($0))" }
    return ofIndex ?? ofDeleteTrigger.map { "a trigger of \"\(table.name)\" \(needs($0))" }
  }

  package func reasonAgainstRestoring(to table: Table) -> String? {
    ofGeneratedColumn.map {
      "it could not come back: a generated column of \"\(table.name)\" \(needs($0))"
    }
  }

  private func needs(_ message: String) -> String {
    "needs what only the application defines (\(message))"
  }
}

extension Connection {
  package func missingDefinitions(of table: Table) throws -> MissingDefinitions {
    var missing = MissingDefinitions()
    let (deletion, insertion) = (table.anyDeletion, table.anyInsertion)
    if let message = try missingDefinition(in: deletion) {
      missing.ofIndex = try missingDefinition(in: deletion, triggers: false)
      missing.ofDeleteTrigger = missing.ofIndex == nil ? message : nil
    }
    if missing.ofIndex != nil { return missing }
    if try missingDefinition(in: insertion) != nil {
      missing.ofGeneratedColumn = try missingDefinition(
        in: insertion, triggers: false, checks: false)
      if missing.ofGeneratedColumn != nil { return missing }
      missing.ofInsertTrigger = try missingDefinition(in: insertion, checks: false)
    }
    missing.ofCheck = try missingDefinition(ofChecksIn: table)
    return missing
  }

  /// A connection that only reads drops CHECK constraints when it reads the schema. So the table is
  /// declared once more, in memory.
  private func missingDefinition(ofChecksIn table: Table) throws -> String? {
    if !table.hasChecks { return nil }
    let sql = try first(
      "SELECT sql FROM main.sqlite_schema WHERE type = 'table' AND name = ?", .text(table.name)
    ) { $0.text(0) }
    let copy = try Connection(path: ":memory:", access: .create)
    try copy.execute("CREATE TABLE cascade_place(x); PRAGMA writable_schema = ON")
    try copy.run(
      "INSERT INTO sqlite_schema VALUES('table', ?1, ?1, 2, ?2)", .text(table.name),
      .text(sql ?? ""))
    try copy.execute("PRAGMA writable_schema = RESET")
    return try copy.missingDefinition(in: table.anyInsertion)
  }

  /// SQLite's message if a statement needs what only the application defines.
  private func missingDefinition(
    in sql: String, triggers: Bool = true, checks: Bool = true
  ) throws -> String? {
    try executing(triggers: triggers, checks: checks) {
      do {
        try validate(sql)
        return nil
      } catch let error as SQLiteError {
        return error.isAboutMissingDefinition ? error.message : nil
      }
    }
  }
}

extension Table {
  fileprivate var anyDeletion: String {
    let column = rowid ?? primaryKey.first.map(quoted) ?? quoted(columns[0].name)
    return "DELETE FROM main.\(quoted(name)) WHERE \(column) = ?"
  }

  fileprivate var anyInsertion: String {
    let names = columns.filter { !$0.isGenerated }.map { quoted($0.name) }
    return """
      INSERT INTO main.\(quoted(name))(\(names.joined(separator: ", ")))
      VALUES(\(names.map { _ in "?" }.joined(separator: ", ")))
      """
  }
}
