internal import CascadePostgres

/// What triggers of a dialect are fired by, and how they see the rows.
///
/// 1. A trigger of a statement sees its rows in a table, and is called once.
/// 2. In the portable dialect it is called for each row. It sees one, when the statement has done its
///    work. So a statement that deletes both ends of an edge is denied in neither dialect.
extension Dialect {
  /// `rows` are those that went, for FROM; each is called `o`.
  func deletion(from table: String) -> (event: String, rows: String) {
    switch self {
    case .fast: ("DELETE ON \(table) REFERENCING OLD TABLE AS old FOR EACH STATEMENT", "old o")
    case .portable: ("DELETE ON \(table) FOR EACH ROW", "(SELECT OLD.*) o")
    }
  }

  /// `rows` are those that came, for FROM; each is called `n`.
  func insertion(into table: String) -> (event: String, rows: String) {
    switch self {
    case .fast: ("INSERT ON \(table) REFERENCING NEW TABLE AS new FOR EACH STATEMENT", "new n")
    case .portable: ("INSERT ON \(table) FOR EACH ROW", "(SELECT NEW.*) n")
    }
  }

  /// Nothing tells rows of a truncation.
  func truncation(of table: String) -> [String] {
    self == .fast ? ["TRUNCATE ON \(table) FOR EACH STATEMENT"] : []
  }
}
