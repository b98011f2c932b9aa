package import CascadeModel
package import StoreDefinition

/// Random tables in SQLite.
package struct TablesInSQLite: TableSQL {
  package init() {}

  package let keys: [PlacedGraph.Keys] = [.text, .integer, .withoutRowid, .nocase, .pair]

  package func key(_ keys: PlacedGraph.Keys) -> (columns: String, options: String) {
    switch keys {
    case .integer: ("id INTEGER PRIMARY KEY", "")
    case .nocase: ("id TEXT COLLATE NOCASE PRIMARY KEY", "")
    case .pair: ("id TEXT NOT NULL, id_of INTEGER NOT NULL", "")
    case .withoutRowid: ("id TEXT PRIMARY KEY", " WITHOUT ROWID")
    default: ("id TEXT PRIMARY KEY", "")
    }
  }

  /// None keeps what it is given.
  package func types(_ relation: PlacedGraph.Relation, to keys: PlacedGraph.Keys?) -> [String] {
    let type = ["", "TEXT", "INTEGER", "VARCHAR(9)"][relation.variant % 4]
    return Array(repeating: relation.place == .column ? type : "", count: keys == .pair ? 2 : 1)
  }

  package func typesOfSources(_ keys: PlacedGraph.Keys) -> [String] {
    Array(repeating: "", count: keys == .pair ? 2 : 1)
  }

  package let typeOfTypes = ""

  package func typeOfDocuments(_ variant: Int) -> String { "" }

  package func literal(_ part: JSON) -> String { part.string.map { "'\($0)'" } ?? part.text }

  package func hearing(_ tables: [String]) -> String {
    tables.map { table in
      """
      CREATE TRIGGER "\(table) goes" AFTER DELETE ON "\(table)" BEGIN INSERT INTO heard VALUES(1); END;
      CREATE TRIGGER "\(table) changes" AFTER UPDATE ON "\(table)" BEGIN
        INSERT INTO heard VALUES(2);
      END;
      """
    }.joined(separator: "\n") + "CREATE TABLE heard(v);"
  }

  package let canReplace = true

  package func inserting(_ values: String, unlessIn table: String) -> String {
    "INSERT OR IGNORE INTO \(table) \(values)"
  }

  package func quoted(_ column: String) -> String { "quote(\(column))" }

  package var rowid: String? { "rowid" }
}
