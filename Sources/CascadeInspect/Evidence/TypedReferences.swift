internal import CascadeModel
internal import CascadeSQLite
internal import SQLiteBinding

extension Detective {
  private static let typeWords: Set<String> = ["type", "class", "kind", "model", "table", "entity"]

  /// Columns with a key whose table another column names: `subject_id` and `subject_type`.
  func typed(_ table: SampledTable) throws -> [InspectedRelationship] {
    var found: [InspectedRelationship] = []
    for type in table.table.columns {
      let words = Words(of: type.name)
      guard words.list.count > 1, Detective.typeWords.contains(words.list.last ?? ""),
        let column = table.column(besideType: words.dropLast(), type)
      else { continue }
      for (value, parent) in try parents(namedIn: type, of: table) {
        guard let key = parent.singleKeys.first else { continue }
        found.append(reference(table, column, type, value, parent, key))
      }
    }
    return found
  }

  /// The tables that the values of a type column name.
  private func parents(
    namedIn type: Table.Column, of table: SampledTable
  ) throws -> [(String, SampledTable)] {
    let values = Set(table.values(of: type.name)).compactMap { value -> String? in
      if case .text(let text) = value { text } else { nil }
    }
    if values.count > 50 { return [] }
    return values.sorted().compactMap { value in
      guard let name = names.table(called: value) else { return nil }
      return tables.first { $0.name == name }.map { (value, $0) }
    }
  }

  private func reference(
    _ table: SampledTable, _ column: Table.Column, _ type: Table.Column, _ value: String,
    _ parent: SampledTable, _ key: Table.Column
  ) -> InspectedRelationship {
    var reference = InspectedRelationship(
      from: table.name, columns: [column.name, type.name], to: parent.name,
      toColumns: [key.name], found: .typed,
      evidence: "\(type.name) is \(JSON.string(value).text), which names the table")
    reference.type = value
    reference.isIndexed =
      table.table.hasIndex(on: column.name)
      || table.table.hasIndex(on: [type.name, column.name])
    reference.refers =
      "\(ReferenceSQL.refers([column.name])) AND "
      + "\(ReferenceSQL.column(type.name)) = \(literal(value))"
    reference.dangles = ReferenceSQL.dangles([column.name], to: parent.name, [key.name])
    return reference
  }
}

extension SampledTable {
  /// The column with the key, beside a type column: `about` or `about_id` beside `about_type`.
  fileprivate func column(besideType base: Words, _ type: Table.Column) -> Table.Column? {
    table.columns.first { column in
      let words = Words(of: column.name)
      if column.name == type.name { return false }
      if words == base { return true }
      return words.dropLast() == base && ColumnName.keys.contains(words.list.last ?? "")
    }
  }
}
