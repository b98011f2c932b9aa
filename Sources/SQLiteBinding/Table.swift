internal import CascadeModel
package import CascadeSQLite

/// A table of the application, as SQLite describes it.
package struct Table: Hashable, Sendable {
  /// As the schema spells it.
  package let name: String
  package let columns: [Column]
  package let primaryKey: [String]
  /// The name that reads the rowid; nil in a table WITHOUT ROWID, and if columns have taken all
  /// such names.
  package let rowid: String?
  /// Whether the rowid is a column too: an INTEGER PRIMARY KEY.
  package let isRowidColumn: Bool
  /// The primary key first, if there is one, then every UNIQUE constraint and index.
  package let uniqueKeys: [UniqueKey]
  /// The columns of each index, unique or not, except for partial indexes.
  package let indexes: [[String]]
  package let foreignKeys: [ForeignKey]
  /// Whether a CHECK constraint may refuse a row.
  package let hasChecks: Bool

  package struct Column: Hashable, Sendable {
    package let name: String
    package let affinity: Affinity
    package let collation: String
    package let isRequired: Bool
    /// The default value: an SQL expression.
    package let initial: String?
    package let isGenerated: Bool
    /// Whether its type says that it has dates or times; SQLite itself knows no such type.
    package let isOfTimes: Bool
  }

  package struct UniqueKey: Hashable, Sendable {
    package let columns: [String]
    package let collations: [String]
    package let isPartial: Bool
    /// Made of expressions, so only SQLite can tell when it is violated.
    package let hasExpressions: Bool
  }

  package struct ForeignKey: Hashable, Sendable {
    package let columns: [String]
    package let parent: String
    /// Empty if the key refers to the parent's primary key.
    package let parentColumns: [String]
    package let onDelete: Action

    /// What happens to a row when the row that it refers to is deleted, in SQLite's words.
    package enum Action: String, Sendable {
      case noAction = "NO ACTION"
      case restrict = "RESTRICT"
      case cascade = "CASCADE"
      case setNull = "SET NULL"
      case setDefault = "SET DEFAULT"

      package var blocksDeletion: Bool { self == .noAction || self == .restrict }
      /// The row stays, and loses its reference.
      package var clearsReference: Bool { self == .setNull || self == .setDefault }
    }

    package func has(_ column: String) -> Bool { columns.contains { $0.folded == column.folded } }
    package func refers(to table: Table) -> Bool { refers(to: table.name) }
    func refers(to name: String) -> Bool { parent.folded == name.folded }
  }

  /// How SQLite compares a column with values of another type.
  package enum Affinity: Sendable {
    case integer, text, blob, real, numeric

    /// SQLite's own rules, in their order. ANY leaves values as they are only in a STRICT table.
    init(declared type: String, isStrict: Bool) {
      let type = isStrict && type.uppercased() == "ANY" ? "" : type.uppercased()
      func says(_ words: String...) -> Bool { words.contains(where: type.mentions) }
      if says("INT") {
        self = .integer
      } else if says("CHAR", "CLOB", "TEXT") {
        self = .text
      } else if says("BLOB") || type.isEmpty {
        self = .blob
      } else {
        self = says("REAL", "FLOA", "DOUB") ? .real : .numeric
      }
    }

    /// As the type that a value is cast to.
    package var name: String {
      switch self {
      case .integer: "INTEGER"
      case .text: "TEXT"
      case .blob: "BLOB"
      case .real: "REAL"
      case .numeric: "NUMERIC"
      }
    }

    package var isNumeric: Bool { self == .integer || self == .real || self == .numeric }
  }

  /// SQLite compares names without regard to case.
  package func column(_ name: String) -> Column? {
    let folded = name.folded
    return columns.first { $0.name.folded == folded }
  }

  /// The columns that distinguish any two rows, as a row value.
  package func identity(_ alias: String) -> String { "(\(identityColumns(alias)))" }

  package func identityColumns(_ alias: String) -> String {
    if let rowid { return "\(alias).\(rowid)" }
    // If columns hide the rowid and there is no primary key, equal rows cannot be distinguished.
    let names = primaryKey.isEmpty ? columns.filter { !$0.isGenerated }.map(\.name) : primaryKey
    return names.map { "\(alias).\(quoted($0))" }.joined(separator: ", ")
  }

  /// For use after `identity` and IN. With several columns, SQLite uses no index for a bare UNION,
  /// and scans every row.
  package static func union(_ rows: [Query]) -> Query {
    rows.count == 1 ? rows[0] : "SELECT * FROM (\(rows.joined(separator: "\nUNION ")))"
  }

  /// The key that consists of these columns, if they distinguish any two rows.
  package func uniqueKey(of names: [String]) -> UniqueKey? {
    let wanted = Set(names.map(\.folded))
    return uniqueKeys.first {
      !$0.isPartial && !$0.hasExpressions && Set($0.columns.map(\.folded)) == wanted
        && isUniqueAsCompared($0)
    }
  }

  /// An index may distinguish values that the column's own collation does not.
  private func isUniqueAsCompared(_ key: UniqueKey) -> Bool {
    zip(key.columns, key.collations).allSatisfy { name, collation in
      let own = column(name)?.collation.uppercased()
      return own == "BINARY" || own == collation.uppercased()
    }
  }

  package func hasIndex(on column: String) -> Bool { hasIndex(on: [column]) }

  /// Whether an index begins with these columns, in any order.
  package func hasIndex(on columns: [String]) -> Bool {
    let wanted = Set(columns.map(\.folded))
    return indexes.contains { Set($0.prefix(columns.count).map(\.folded)) == wanted }
  }

  /// The columns that name a node of `table`.
  package typealias End = (columns: [String], table: NodeTable)
}
