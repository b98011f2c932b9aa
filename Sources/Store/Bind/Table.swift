internal import CascadeModel
internal import CascadeSQLite

/// A table of the application, as SQLite describes it.
struct Table: Hashable, Sendable {
  /// As the schema spells it.
  let name: String
  let columns: [Column]
  let primaryKey: [String]
  /// The name that reads the rowid; nil in a table WITHOUT ROWID, and if columns have taken all
  /// such names.
  let rowid: String?
  /// Whether the rowid is a column too: an INTEGER PRIMARY KEY.
  let isRowidColumn: Bool
  /// The primary key first, if there is one, then every UNIQUE constraint and index.
  let uniqueKeys: [UniqueKey]
  /// The columns of each index, unique or not, except for partial indexes.
  let indexes: [[String]]
  let foreignKeys: [ForeignKey]
  /// Whether a CHECK constraint may refuse a row.
  let hasChecks: Bool

  struct Column: Hashable, Sendable {
    let name: String
    let affinity: Affinity
    let collation: String
    let isRequired: Bool
    /// The default value: an SQL expression.
    let initial: String?
    let isGenerated: Bool
  }

  struct UniqueKey: Hashable, Sendable {
    let columns: [String]
    let collations: [String]
    let isPartial: Bool
    /// Made of expressions, so only SQLite can tell when it is violated.
    let hasExpressions: Bool
  }

  struct ForeignKey: Hashable, Sendable {
    let columns: [String]
    let parent: String
    /// Empty if the key refers to the parent's primary key.
    let parentColumns: [String]
    let onDelete: Action

    /// What happens to a row when the row that it refers to is deleted, in SQLite's words.
    enum Action: String, Sendable {
      case noAction = "NO ACTION"
      case restrict = "RESTRICT"
      case cascade = "CASCADE"
      case setNull = "SET NULL"
      case setDefault = "SET DEFAULT"

      var blocksDeletion: Bool { self == .noAction || self == .restrict }
      /// The row stays, and loses its reference.
      var clearsReference: Bool { self == .setNull || self == .setDefault }
    }

    func has(_ column: String) -> Bool { columns.contains { $0.folded == column.folded } }
    func refers(to table: Table) -> Bool { refers(to: table.name) }
    func refers(to name: String) -> Bool { parent.folded == name.folded }
  }

  /// How SQLite compares a column with values of another type.
  enum Affinity: Sendable {
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

    var isNumeric: Bool { self == .integer || self == .real || self == .numeric }
  }

  /// SQLite compares names without regard to case.
  func column(_ name: String) -> Column? {
    let folded = name.folded
    return columns.first { $0.name.folded == folded }
  }

  /// The columns that distinguish any two rows, as a row value.
  func identity(_ alias: String) -> String { "(\(identityColumns(alias)))" }

  func identityColumns(_ alias: String) -> String {
    if let rowid { return "\(alias).\(rowid)" }
    return identifying.map { "\(alias).\(quoted($0))" }.joined(separator: ", ")
  }

  /// If columns hide the rowid and there is no primary key, equal rows cannot be distinguished.
  private var identifying: [String] {
    if !primaryKey.isEmpty { return primaryKey }
    return columns.filter { !$0.isGenerated }.map(\.name)
  }

  /// For use after `identity` and IN. With several columns, SQLite uses no index for a bare UNION,
  /// and scans every row.
  static func union(_ rows: [String]) -> String {
    rows.count == 1 ? rows[0] : "SELECT * FROM (\(rows.joined(separator: "\nUNION ")))"
  }

  /// The key that consists of these columns, if they distinguish any two rows.
  func uniqueKey(of names: [String]) -> UniqueKey? {
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

  /// Whether rows can be found by this column without a scan of the table.
  func hasIndex(on column: String) -> Bool {
    indexes.contains { $0.first?.folded == column.folded }
  }
}

/// Why a part of the model cannot be served with the existing tables.
package struct BindingProblem: Hashable, Sendable, CustomStringConvertible {
  /// Where in the model: `collections.songs`, `relationships[2]`.
  package let path: String
  package let message: String
  package var description: String { "\(path): \(message)" }

  static func path(of collection: String) -> String { "collections.\(collection)" }
}

extension Table {
  typealias End = (column: String, table: NodeTable)
}
