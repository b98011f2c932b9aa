internal import CascadeModel
internal import CascadeSQLite
internal import SQLiteBinding

/// A column that has the keys which another table lacks.
struct MovedRows {
  let table: SampledTable
  let column: Table.Column
  /// The keys that the column has.
  let keys: ReferredValues
  let evidence: MoveEvidence

  var place: String { "\(table.name).\(column.name)" }
}

extension Detective {
  /// A counted reference; with what is moved, the one to the other table beside it.
  func withMoves(_ reference: InspectedRelationship) throws -> [InspectedRelationship] {
    guard reference.isLikely, reference.found != .join else { return [reference] }
    if reference.orphans > 0, let move = try move(of: reference) {
      return try moved(reference, move)
    }
    var reference = reference
    reference.archive =
      tables.map(\.name).first {
        $0 != reference.from && $0 != reference.to && names.isArchive($0, of: reference.to)
      }
    return [reference]
  }

  /// Where the rows are to which a counted reference leads in vain; nil if no other table has them.
  func move(of reference: InspectedRelationship) throws -> MovedRows? {
    guard reference.values != nil, reference.either.isEmpty,
      let parent = tables.first(where: { $0.name == reference.to }),
      let key = parent.table.column(reference.toColumns[0])
    else { return nil }
    for other in tables where ![parent.name, reference.from].contains(other.name) {
      for column in other.table.columns where mayBeKey(column, of: other, from: parent, key) {
        let moved = try moved(reference, to: other, column, from: parent, key)
        if moved.evidence.isMove { return moved }
      }
    }
    return nil
  }

  /// A key, or a column whose name says that it has the keys.
  private func mayBeKey(
    _ column: Table.Column, of other: SampledTable, from parent: SampledTable, _ key: Table.Column
  ) -> Bool {
    let sample = other.values(of: column.name)
    guard !column.isGenerated, other.table.canCompare([column.name]), !sample.isEmpty,
      fits(column.affinity, sample, parent, key)
    else { return false }
    if other.singleKeys.contains(where: { $0.name == column.name }) {
      return isAlike(column, of: other, parent, key)
    }
    let words = names.column(column.name, of: other.name).words
    let keyWords = names.column(key.name, of: parent.name).words
    return names.mayHaveTaken(column.name, of: other.name, from: parent.name)
      && (words == keyWords || words.ends(with: keyWords)
        || names.isNamed(column.name, of: other.name, after: parent.name))
  }

  /// A key that is named after the first table is that of a detail, unless the tables are alike.
  private func isAlike(
    _ column: Table.Column, of other: SampledTable, _ parent: SampledTable, _ key: Table.Column
  ) -> Bool {
    names.mayHaveTaken(column.name, of: other.name, from: parent.name)
      || parent.values(of: key.name).areDistinctive
        && !names.isNamed(column.name, of: other.name, after: parent.name)
  }

  private func moved(
    _ reference: InspectedRelationship, to other: SampledTable, _ column: Table.Column,
    from parent: SampledTable, _ key: Table.Column
  ) throws -> MovedRows {
    var keys = InspectedRelationship(
      from: other.name, columns: [column.name], to: parent.name, toColumns: [key.name],
      found: .name, evidence: "")
    keys.refers = ReferenceSQL.refers(keys.columns)
    let missing = ReferredValues(name: reference.values ?? "")
    let values = ReferredValues(name: "moved_\(missing.name)")
    let evidence = try database.evidence(missing, values, of: keys, in: other.table, key: key)
    return MovedRows(table: other, column: column, keys: values, evidence: evidence)
  }

  /// The reference, and beside it the one to the rows that were moved. What the schema declares is
  /// still broken; what is only implied refers to either table.
  private func moved(
    _ reference: InspectedRelationship, _ move: MovedRows
  ) throws -> [InspectedRelationship] {
    var first = reference
    first.movedTo = move.place
    first.evidence += "; \(move.evidence.text(move.place))"
    // A type says one table: a model has no list for it.
    if first.found == .typed { return [first] }
    first.either = [first.to, move.table.name]
    var other = InspectedRelationship(
      from: first.from, columns: first.columns, to: move.table.name,
      toColumns: [move.column.name], found: .name, evidence: "rows of \(first.to) were moved there")
    other.either = first.either
    (other.rows, other.isIndexed) = (move.evidence.rows, first.isIndexed)
    if first.found == .name { try leaveOut(move, from: &first) }
    return [first, other]
  }

  private func leaveOut(_ move: MovedRows, from reference: inout InspectedRelationship) throws {
    reference.rows -= move.evidence.rows
    reference.orphans -= move.evidence.rows
    let missing = ReferredValues(name: reference.values ?? "")
    try database.db.execute(
      """
      DELETE FROM temp.\(missing.dangling)
      WHERE value IN (SELECT value FROM temp.\(move.keys.name))
      """)
    guard !reference.examples.isEmpty,
      let table = tables.first(where: { $0.name == reference.from })
    else { return }
    reference.examples = try database.examples(of: reference, in: table.table)
  }
}

extension Database {
  /// Compares what refers to nothing with the keys of another table, and those with the table that
  /// lacks it.
  fileprivate func evidence(
    _ missing: ReferredValues, _ values: ReferredValues, of keys: InspectedRelationship,
    in table: Table, key: Table.Column
  ) throws -> MoveEvidence {
    for name in [values.name, values.dangling] {
      try db.execute("DROP TABLE IF EXISTS temp.\(name)")
    }
    _ = try collect(keys, into: values.name, of: table, key: key)
    _ = try findDangling(values, in: keys.to, key: key.name)
    let counts = try rows(
      """
      SELECT (SELECT count(*) FROM temp.\(missing.dangling)),
        (SELECT count(*) FROM temp.\(missing.dangling) AS m
          WHERE m.value IN (SELECT value FROM temp.\(values.name))),
        (SELECT count(*) FROM temp.\(values.name)), (SELECT count(*) FROM temp.\(values.dangling)),
        (SELECT ifnull(sum(m.n), 0) FROM temp.\(missing.dangling) AS m
          WHERE m.value IN (SELECT value FROM temp.\(values.name)))
      """)[0].map { Int($0.integer ?? 0) }
    return MoveEvidence(
      missing: counts[0], found: counts[1], keys: counts[2], shared: counts[2] - counts[3],
      rows: counts[4])
  }
}
