internal import CascadeModel
internal import CascadeSQLite
internal import SQLiteBinding

/// Conditions on the rows `c` of a referring table.
enum ReferenceSQL {
  static func column(_ name: String) -> String { "c.\(quoted(name))" }

  static func refers(_ columns: [String]) -> String {
    columns.map { "\(column($0)) IS NOT NULL" }.joined(separator: " AND ")
  }

  /// As a foreign key compares: by the type and the collation of the key. The `+` removes the type
  /// of the reference, so that the key's index is used.
  static func dangles(_ columns: [String], to table: String, _ keys: [String]) -> String {
    let same = zip(keys, columns).map { "p.\(quoted($0)) = +\(column($1))" }
    return "NOT EXISTS (SELECT 1 FROM main.\(quoted(table)) AS p "
      + "WHERE \(same.joined(separator: " AND ")))"
  }

  static func isNoList(_ column: String) -> String {
    "NOT (json_valid(\(column)) AND json_type(\(column)) = 'array')"
  }

  /// The elements of a list `e`; none where the column has something else.
  static func elements(_ name: String) -> String {
    let column = column(name)
    return "json_each(iif(\(isNoList(column)), '[]', \(column))) AS e"
  }

  static func hasElements(_ name: String) -> String {
    "\(column(name)) IS NOT NULL AND EXISTS (SELECT 1 FROM \(elements(name)))"
  }

  static func hasDanglingElement(_ name: String, to table: String, _ key: String) -> String {
    """
    EXISTS (SELECT 1 FROM \(elements(name)) WHERE e.value IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM main.\(quoted(table)) AS p WHERE p.\(quoted(key)) = e.value))
    """
  }
}

extension Value {
  /// As an SQL expression.
  var sql: String {
    switch self {
    case .null: "NULL"
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .text(let text): literal(text)
    case .blob(let bytes): "x'\(hex(bytes))'"
    }
  }
}

func hex(_ bytes: [UInt8]) -> String {
  bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

extension Detective {
  /// All relationships but joins and paths, in the order of the tables.
  func relationships(progress: (String) -> Void) throws -> [InspectedRelationship] {
    var found: [InspectedRelationship] = []
    for table in tables {
      progress(table.name)
      let declared = table.table.foreignKeys.map { self.declared($0, of: table) }
      let typed = try self.typed(table)
      let known = Set(
        declared.flatMap(\.columns).map(\.folded)
          + pairs(table).flatMap { $0.types == nil ? [$0.column, $0.type] : [$0.column] }
          .map(\.name.folded))
      let single = Set(declared.filter { $0.columns.count == 1 }.flatMap(\.columns).map(\.folded))
      var implied: [InspectedRelationship] = []
      for column in table.table.columns where !known.contains(column.name.folded) {
        let found = try self.implied(column, of: table)
        implied += found.isEmpty ? try either(column, of: table) : found
      }
      let composite = try self.composite(table, besides: declared)
      implied.removeAll { reference in
        composite.contains { isPart(reference, of: $0) } || single.contains(reference.columns[0])
      }
      found += declared + typed + composite + implied
    }
    return found
  }

  private func declared(
    _ key: Table.ForeignKey, of table: SampledTable
  ) -> InspectedRelationship {
    let parent = tables.first { key.refers(to: $0.table) }
    let columns = key.columns.map { table.table.column($0)?.name ?? $0 }
    let parentColumns =
      key.parentColumns.isEmpty ? parent?.table.primaryKey ?? [] : key.parentColumns
    var reference = InspectedRelationship(
      from: table.name, columns: columns, to: parent?.name ?? key.parent,
      toColumns: parentColumns.map { parent?.table.column($0)?.name ?? $0 }, found: .foreignKey,
      evidence: "declared" + (parent == nil ? ", but there is no such table" : ""))
    reference.onDelete = key.onDelete
    complete(&reference, table, parent)
    return reference
  }

  private func complete(
    _ reference: inout InspectedRelationship, _ table: SampledTable, _ parent: SampledTable?
  ) {
    reference.isIndexed = table.table.hasIndex(onAll: reference.columns)
    reference.refers = ReferenceSQL.refers(reference.columns)
    let isWhole =
      reference.columns.count > 0 && parent != nil
      && reference.toColumns.count == reference.columns.count
      && reference.toColumns.allSatisfy { parent?.table.column($0) != nil }
    reference.dangles =
      isWhole
      ? ReferenceSQL.dangles(reference.columns, to: reference.to, reference.toColumns) : "1"
    if isWhole, parent?.table.canCompare(reference.toColumns) != true {
      reference.dangles = "0"
      reference.evidence += "; only the application can compare the key"
    }
  }

  private func implied(
    _ column: Table.Column, of table: SampledTable
  ) throws -> [InspectedRelationship] {
    let lists = try self.lists(column, of: table)
    if !lists.isEmpty { return lists }
    return try candidates(for: column, of: table).map { found in
      var reference = InspectedRelationship(
        from: table.name, columns: [column.name], to: found.parent.name,
        toColumns: [found.key.name], found: .name, evidence: found.text)
      reference.isLikely = found.isLikely
      complete(&reference, table, found.parent)
      return reference
    }
  }

  // MARK: - Lists

  /// A column whose values are JSON lists of keys.
  private func lists(
    _ column: Table.Column, of table: SampledTable
  ) throws -> [InspectedRelationship] {
    let texts = table.values(of: column.name).filter { $0.length > 0 }
    let lists = texts.compactMap(\.elements)
    if lists.isEmpty || lists.count * 10 < texts.count * 8 { return [] }
    let elements = lists.flatMap { $0 }
    guard !elements.isEmpty || Words(of: column.name).list.last == "ids" else { return [] }
    let found = try candidates(
      for: column.name, of: table, affinity: .blob, sample: elements, isKey: false)
    return found.map { list(column, of: table, $0) }
  }

  private func list(
    _ column: Table.Column, of table: SampledTable, _ found: Candidate
  ) -> InspectedRelationship {
    var reference = InspectedRelationship(
      from: table.name, columns: [column.name], to: found.parent.name,
      toColumns: [found.key.name], found: .list, evidence: "a JSON list; \(found.text)")
    reference.isLikely = found.isLikely
    reference.refers = ReferenceSQL.hasElements(column.name)
    reference.dangles = ReferenceSQL.hasDanglingElement(
      column.name, to: found.parent.name, found.key.name)
    return reference
  }

  // MARK: - Keys of several columns

  /// Columns that have the names of a key of several columns, and values of it.
  private func composite(
    _ table: SampledTable, besides declared: [InspectedRelationship]
  ) throws -> [InspectedRelationship] {
    var found: [InspectedRelationship] = []
    for parent in tables where parent.name != table.name {
      let isDeclared = declared.contains { $0.to == parent.name && $0.columns.count > 1 }
      guard !isDeclared, let key = parent.compositeKeys.first,
        names.isDetail(table.name, of: parent.name),
        let columns = table.columns(for: key, of: parent, names)
      else { continue }
      var reference = InspectedRelationship(
        from: table.name, columns: columns, to: parent.name, toColumns: key, found: .name,
        evidence: "")
      complete(&reference, table, parent)
      if try judge(&reference, table, parent) { found.append(reference) }
    }
    return found
  }

  private func judge(
    _ reference: inout InspectedRelationship, _ table: SampledTable, _ parent: SampledTable
  ) throws -> Bool {
    let sql = """
      SELECT count(*), ifnull(sum(\(reference.dangles)), 0) FROM (
        SELECT * FROM main.\(quoted(table.name)) LIMIT 300) AS c WHERE \(reference.refers)
      """
    let row = try database.rows(sql)[0]
    let (count, missing) = (row[0].integer ?? 0, row[1].integer ?? 0)
    reference.evidence =
      "the columns are named like the key; \(count - missing) of \(count) sampled values are there"
    return count == 0 || (count - missing) * 2 >= count
  }

  /// Whether a reference is a part of a key that another reference already follows.
  private func isPart(
    _ reference: InspectedRelationship, of composite: InspectedRelationship
  ) -> Bool {
    reference.columns.count == 1 && composite.columns.contains(reference.columns[0])
  }
}

extension SampledTable {
  /// The columns for a key of several columns: with its names, or with the table's name before.
  fileprivate func columns(
    for key: [String], of parent: SampledTable, _ names: TableNames
  ) -> [String]? {
    let found = key.compactMap { part in
      table.columns.first { column in
        if column.name.folded == part.folded { return true }
        let words = Words(of: column.name).singular
        let wanted = Words(of: part).singular.list
        return names.names(of: parent.name).contains { words.list == $0.list + wanted }
      }?.name
    }
    return found.count == key.count && Set(found).count == key.count ? found : nil
  }
}

extension Table {
  /// Whether an index begins with these columns, in any order.
  func hasIndex(onAll columns: [String]) -> Bool {
    let wanted = Set(columns.map(\.folded))
    let isRowid = isRowidColumn && Set(primaryKey.map(\.folded)) == wanted
    return isRowid || hasIndex(on: columns)
  }
}

extension Value {
  /// The elements of a JSON list of texts and numbers; nil for anything else.
  fileprivate var elements: [Value]? {
    guard case .text(let text) = self, text.hasPrefix("["),
      let list = (try? JSON.parse(text))?.array
    else { return nil }
    var values: [Value] = []
    for element in list {
      if let number = element.integer {
        values.append(.integer(number))
      } else if let text = element.string {
        values.append(.text(text))
      } else if !element.isNull {
        return nil
      }
    }
    return values
  }
}
