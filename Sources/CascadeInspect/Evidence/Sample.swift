internal import CascadeSQLite
internal import CascadeSystem
internal import SQLiteBinding

/// A table, with what was seen of it before anything was counted.
struct SampledTable {
  let table: Table
  let rows: Int
  /// Some values of each column, without NULL.
  let samples: [String: [Value]]
  /// The columns that distinguish rows: each of these alone, the primary key first.
  let singleKeys: [Table.Column]
  /// A key of several columns.
  let compositeKeys: [[String]]

  var name: String { table.name }

  func values(of column: String) -> [Value] { samples[column] ?? [] }

  var named: NamedTable {
    NamedTable(name: name, columns: table.columns.map(\.name), classes: classes)
  }

  private static let mostClasses = 30

  /// As Rails and Hibernate keep objects of several classes in one table.
  private var classes: [String] {
    let texts = Set(values(of: "type").map { $0.text ?? "" })
    let areClasses = texts.allSatisfy { $0.first?.isUppercase == true }
    return areClasses && texts.count <= SampledTable.mostClasses ? texts.sorted() : []
  }
}

extension Database {
  /// The tables of the application, by name.
  func tables() throws -> [Table] {
    let catalog = try Catalog(db)
    let names = try db.all(
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY name"
    ) { $0.text(0) }
    return names.compactMap { name in
      let isForeign = ["sqlite_", "cascade_"].contains { name.lowercased().hasPrefix($0) }
      return isForeign ? nil : try? catalog.table(name, in: db).get()
    }
  }

  func sample(_ table: Table) throws -> SampledTable {
    let name = "main.\(quoted(table.name))"
    let rows = try sum(over: RowSource(table), 1) { part in
      let sql = "SELECT count(*) FROM \(name) AS c WHERE \(part.condition)"
      return [Int(try db.integer(generated: sql, part.values) ?? 0)]
    }[0]
    var samples: [String: [Value]] = [:]
    let columns = table.columns.filter { !$0.isGenerated }.map(\.name)
    for row in try sampledRows(of: table, columns, rows: rows) {
      for (column, value) in zip(columns, row) where value != .null {
        samples[column, default: []].append(value)
      }
    }
    let keys = table.uniqueKeys.filter { !$0.isPartial && !$0.hasExpressions }
    return SampledTable(
      table: table, rows: rows, samples: samples,
      singleKeys: keys.filter { $0.columns.count == 1 && table.canCompare($0.columns) }
        .compactMap { table.column($0.columns[0]) },
      compositeKeys: keys.filter { $0.columns.count > 1 && table.canCompare($0.columns) }
        .map(\.columns))
  }

  private static let sampleBlocks = 20
  private static let sampleRows = 50

  /// Rows from all over the table.
  private func sampledRows(
    of table: Table, _ columns: [String], rows: Int
  ) throws -> [[Value]] {
    if columns.isEmpty { return [] }
    let few = Database.sampleBlocks * Database.sampleRows
    let list = columns.map(Database.short).joined(separator: ", ")
    let from = "SELECT \(list) FROM main.\(quoted(table.name)) AS c"
    guard rows > few, let rowid = table.rowid else { return try self.rows("\(from) LIMIT \(few)") }
    let bounds = try self.rows(
      """
      SELECT (SELECT min(\(rowid)) FROM main.\(quoted(table.name))),
        (SELECT max(\(rowid)) FROM main.\(quoted(table.name)))
      """)
    guard case .integer(let first) = bounds[0][0], case .integer(let last) = bounds[0][1]
    else { return [] }
    let step = (Double(last) - Double(first)) / Double(Database.sampleBlocks)
    return try (0..<Database.sampleBlocks).flatMap { block in
      try self.rows(
        "\(from) WHERE c.\(rowid) >= ?1 ORDER BY c.\(rowid) LIMIT \(Database.sampleRows)",
        [.integer(first + Int64(step * Double(block)))])
    }
  }

  /// Long values are neither keys nor lists of a few keys.
  private static func short(_ column: String) -> String {
    let name = "c.\(quoted(column))"
    return "iif(typeof(\(name)) IN ('text', 'blob') AND length(\(name)) > 2000, NULL, \(name))"
  }
}

extension Table {
  /// Whether SQLite itself has the collations of these columns.
  func canCompare(_ names: [String]) -> Bool {
    names.allSatisfy { name in
      guard let column = column(name) else { return false }
      return ["BINARY", "NOCASE", "RTRIM"].contains(column.collation.uppercased())
    }
  }
}
