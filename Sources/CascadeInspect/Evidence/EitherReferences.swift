internal import CascadeSQLite
internal import SQLiteBinding

extension Detective {
  private static let mostTables = 12
  private static let mostValues = 200

  /// A column whose values are keys of several tables, without a type beside it: GnuCash's
  /// `slots.obj_guid`. Only values that are nowhere by accident tell this.
  func either(
    _ column: Table.Column, of table: SampledTable
  ) throws -> [InspectedRelationship] {
    let sample = table.values(of: column.name).filter { !$0.looksLikeNone }
    let values = sample.unique.prefix(Detective.mostValues)
    if table.table.isItsOwnKey(column) || !sample.areDistinctive || values.count < 4 { return [] }
    let found = try candidates(sample, of: table)
    guard (2...Detective.mostTables).contains(found.count) else { return [] }
    let count = try values.count { value in
      try found.contains { try database.has(value, in: $0.parent, key: $0.key) }
    }
    if count * 10 < values.count * 9 { return [] }
    let keys = found.map { (table: $0.parent.name, key: $0.key.name) }
    return found.indices.map { reference(table, column, found[$0], keys, isFirst: $0 == 0) }
  }

  /// The tables that have some of the values, with the largest share first.
  private func candidates(
    _ values: [Value], of table: SampledTable
  ) throws -> [Candidate] {
    try tables.compactMap { parent -> Candidate? in
      guard let key = parent.singleKeys.first(where: parent.isIdentity),
        parent.values(of: key.name).areDistinctive
      else { return nil }
      let evidence = try database.evidence(values, in: parent, key: key)
      if evidence.hits == 0 { return nil }
      return Candidate(
        parent: parent, key: key, name: .none, values: evidence, isSameType: false)
    }
    .sorted { ($1.values.hits, $0.parent.name) < ($0.values.hits, $1.parent.name) }
  }

  /// What refers to nothing, and what only the first table has, counts as a reference to the first.
  private func reference(
    _ table: SampledTable, _ column: Table.Column, _ found: Candidate,
    _ keys: [(table: String, key: String)], isFirst: Bool
  ) -> InspectedRelationship {
    let others = keys.map(\.table).filter { $0 != found.parent.name }
    var reference = InspectedRelationship(
      from: table.name, columns: [column.name], to: found.parent.name,
      toColumns: [found.key.name], found: .name,
      evidence: "\(found.text); others are in \(others.joined(separator: ", "))")
    reference.either = keys.map(\.table)
    reference.isIndexed = table.table.hasIndex(on: column.name)
    let isMissing = { (key: (table: String, key: String)) in
      ReferenceSQL.dangles([column.name], to: key.table, [key.key])
    }
    let own =
      isFirst
      ? keys.dropFirst().map(isMissing)
      : ["NOT (\(isMissing((found.parent.name, found.key.name))))"]
    reference.refers = ([ReferenceSQL.refers([column.name])] + own).joined(separator: " AND ")
    reference.dangles = isMissing((found.parent.name, found.key.name))
    return reference
  }
}
