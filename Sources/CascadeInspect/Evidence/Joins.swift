internal import SQLiteBinding

extension Detective {
  /// Tables that do nothing but join the rows of two others.
  func joins(_ references: [InspectedRelationship]) -> [InspectedRelationship] {
    tables.compactMap { table in
      let own = references.filter {
        $0.from == table.name && $0.isLikely && [.foreignKey, .name].contains($0.found)
      }
      let isEnd = references.contains { $0.to == table.name && $0.isLikely }
      guard own.count == 2, !isEnd, own[0].columns != own[1].columns,
        isJoin(table.table, own[0], own[1])
      else { return nil }
      return join(table, own[0], own[1])
    }
  }

  /// Columns that a join may have beside its two references.
  private static let ornaments: Set<String> = [
    "id", "rowid", "position", "order", "sort", "rank", "index", "idx", "created", "updated",
    "added",
    "at", "on", "date", "time", "ordering", "priority", "weight", "seq", "sequence",
  ]

  private func isJoin(
    _ table: Table, _ one: InspectedRelationship, _ other: InspectedRelationship
  ) -> Bool {
    let ends = Set(one.columns + other.columns)
    let rest = table.columns.map(\.name).filter { !ends.contains($0) }
    if rest.isEmpty { return true }
    let isPair = table.uniqueKeys.contains { Set($0.columns) == ends }
    let areOrnaments = rest.allSatisfy {
      Words(of: $0).list.allSatisfy(Detective.ornaments.contains)
    }
    return areOrnaments || isPair && rest.count <= 2
  }

  private func join(
    _ table: SampledTable, _ source: InspectedRelationship, _ destination: InspectedRelationship
  ) -> InspectedRelationship {
    var join = InspectedRelationship(
      from: source.to, columns: source.toColumns, to: destination.to,
      toColumns: destination.toColumns, found: .join,
      evidence: "\(table.name) has nothing but the two references")
    join.join = InspectedRelationship.Join(
      table: table.name, source: source.columns, destination: destination.columns)
    join.isIndexed = source.isIndexed && destination.isIndexed
    return join
  }
}
