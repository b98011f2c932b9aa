internal import CascadeModel
internal import CascadeSQLite
internal import SQLiteBinding
internal import SQLiteDeletion
internal import SQLiteTables

/// How entries `t` of one layout, which are no nodes, belong to nodes of `temp.chosen`, as conditions.
struct EntryWays {
  let layout: TrashLayout
  let writer: Writer

  /// An entry of a list that goes in part.
  struct List {
    let condition: String
    /// The column with the old value, and what of that goes.
    let place: Int
    let old: String
  }

  /// A join row has a chosen end, and the other end is chosen or exists. Other rows that a foreign key took
  /// along referred to a chosen row.
  var ofSideRow: [String] {
    get throws {
      let relations = writer.binding.edgeRelations.filter { $0.joinTable?.name == layout.subject }
      if relations.isEmpty { return try ofForeignKeys(where: { _ in true }) }
      return relations.compactMap { relation in
        guard case .join(_, let from, let to) = relation.form, let source = reference(from),
          let destination = reference(to)
        else { return nil }
        let isSource = relation.source.isChosen(source)
        if relation.leadsToFiles { return isSource }
        let isDestination = relation.destination.isChosen(destination)
        return """
          ((\(isSource) OR \(isDestination))
            AND (\(isSource) OR \(relation.source.hasRow(asKeyOf: source)))
            AND (\(isDestination) OR \(relation.destination.hasRow(asKeyOf: destination))))
          """
      }
    }
  }

  /// A reference of a row that stayed led to a chosen node.
  var ofChange: [String] {
    get throws {
      let columns = relations.compactMap { relation -> String? in
        guard case .column(let names, let type) = relation.form,
          relation.columnsWithType == changed, !relation.leadsToFiles
        else { return nil }
        let places = names.indices.map { "t.c\(layout.keys + $0)" }
        let isChosen = relation.destination.isChosen(Reference(values: places))
        guard let type else { return isChosen }
        return "(t.c\(layout.keys + names.count) = \(literal(type.word)) AND \(isChosen))"
      }
      let lists = lists.map { "(\(has($0, isChosen($0))) AND NOT \(hasOthers($0)))" }
      return try columns + lists + ofForeignKeys(where: { $0.columns == changed })
    }
  }

  /// Of lists in a column of rows that stayed.
  var ofList: [List] {
    if layout.kind != .change { return [] }
    return lists.compactMap { relation in
      guard case .json(_, let path) = relation.form else { return nil }
      let rest = relation.listWithoutGone(
        old, path, without: Query("\(isTaken(relation)) AND \(isOther(relation))"))
      return List(
        condition: "\(has(relation, isChosen(relation))) AND \(hasOthers(relation))",
        place: layout.keys, old: rest.text)
    }
  }

  // MARK: - Lists

  private var old: String { "t.c\(layout.keys)" }
  private var new: String { "t.c\(layout.columns.count)" }

  private var lists: [EdgeRelation] {
    relations.filter { relation in
      guard case .json(let column, _) = relation.form else { return false }
      return [column] == changed && !relation.leadsToFiles
    }
  }

  /// The element `x` of the old list that the new one lacks.
  private func isTaken(_ relation: EdgeRelation) -> String {
    guard case .json(_, let path) = relation.form else { return "0" }
    let left = relation.elements(of: new, at: path, as: "y")
    let isReference = relation.isReference(element: "y")
    return """
      x.value NOT IN (SELECT y.value FROM (SELECT 1) \(left) WHERE \(isReference))
      """
  }

  private func isChosen(_ relation: EdgeRelation) -> String {
    relation.destination.isChosen(Reference("x.value"))
  }

  private func isOther(_ relation: EdgeRelation) -> String {
    let key = relation.destination.asKey("x.value")
    return "NOT \(isChosen(relation)) AND NOT \(relation.destination.hasRow(withKey: key))"
  }

  private func has(_ relation: EdgeRelation, _ condition: String) -> String {
    guard case .json(_, let path) = relation.form else { return "0" }
    return """
      EXISTS (SELECT 1 FROM (SELECT 1) \(relation.elements(of: old, at: path))
        WHERE \(relation.isReference(element: "x")) AND \(isTaken(relation)) AND \(condition))
      """
  }

  private func hasOthers(_ relation: EdgeRelation) -> String { has(relation, isOther(relation)) }

  // MARK: -

  private var changed: [String] { layout.columns.dropFirst(layout.keys).compactMap(\.self) }

  private var relations: [EdgeRelation] {
    writer.binding.edgeRelations.filter {
      $0.joinTable == nil && $0.source.table?.name == layout.subject
    }
  }

  private func reference(_ columns: [String]) -> Reference? {
    let places = columns.compactMap { column in
      layout.columns.firstIndex { $0?.folded == column.folded }
    }
    return places.count == columns.count
      ? Reference(values: places.map(TrashLayout.value)) : nil
  }

  /// References by foreign keys that no relationship is about.
  private func ofForeignKeys(where isMeant: (Table.ForeignKey) -> Bool) throws -> [String] {
    let found = try Catalog(writer.db).table(layout.subject, in: writer.db)
    guard case .success(let table) = found else { return [] }
    return table.foreignKeys.filter(isMeant).compactMap { key in
      let parent = writer.binding.collections.values.first { node in
        node.table?.name.folded == key.parent.folded
          && (key.parentColumns.isEmpty
            || key.parentColumns.map(\.folded) == node.keyNames.map(\.folded))
      }
      guard let parent, parent.keyNames.count == key.columns.count,
        let reference = reference(key.columns)
      else { return nil }
      return parent.isChosen(reference)
    }
  }
}

extension NodeTable {
  fileprivate func isChosen(_ reference: Reference) -> String {
    """
    EXISTS (SELECT 1 FROM temp.chosen AS h
      WHERE h.collection = \(id) AND h.key = \(asKey(reference)))
    """
  }
}
