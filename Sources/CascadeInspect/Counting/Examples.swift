internal import CascadeSQLite
internal import SQLiteBinding

extension Database {
  private static let mostExamples = 5
  private static let exampleColumns = 6

  /// Some rows that refer to nothing: the key, the reference, and what stands first.
  func examples(
    of reference: InspectedRelationship, in table: Table
  ) throws -> [InspectedRelationship.Example] {
    let names = columns(of: table, with: reference.columns)
    let list = names.map(ReferenceSQL.column).joined(separator: ", ")
    var found: [InspectedRelationship.Example] = []
    try eachPart(of: RowSource(table)) { part in
      try rows(
        """
        SELECT \(list) FROM main.\(quoted(table.name)) AS c
        WHERE \(part.condition) AND \(reference.isOrphan) LIMIT \(Database.mostExamples)
        """, part.values)
    } take: { rows in
      found += rows.map { Array(zip(names, $0)).map { (column: $0, value: $1) } }
      return found.count < Database.mostExamples
    }
    return Array(found.prefix(Database.mostExamples))
  }

  private func columns(of table: Table, with ends: [String]) -> [String] {
    let stored = table.columns.filter { !$0.isGenerated }.map(\.name)
    var names: [String] = []
    for name in table.primaryKey + ends + stored where !names.contains(name) { names.append(name) }
    let least = table.primaryKey.count + ends.count
    return Array(names.prefix(max(Database.exampleColumns, least)))
  }
}
