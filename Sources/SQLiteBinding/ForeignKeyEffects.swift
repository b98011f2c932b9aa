internal import CascadeModel
package import CascadeSQLite

/// Rows that the application's foreign keys delete or change along with ours.
///
/// Rows of tables that are not collections go by ON DELETE CASCADE: no rule examines them. Other
/// rows stay, and lose a reference by ON DELETE SET NULL or SET DEFAULT.
package struct ForeignKeyEffect {
  package let table: Table
  /// Selects the rows that a slice affects, as SQL.
  package let rows: (Slice) -> Query
  /// The foreign key by which they lose a reference; nil where the rows go.
  package let lost: Table.ForeignKey?
}

extension Connection {
  /// The tables that have a foreign key which changes rows.
  func tablesChangedByForeignKeys() throws -> [Table] {
    let names = try all(
      """
      SELECT DISTINCT t.name FROM main.sqlite_schema AS t, pragma_foreign_key_list(t.name, 'main') AS f
      WHERE t.type = 'table' AND f.on_delete IN ('CASCADE', 'SET NULL', 'SET DEFAULT')
      ORDER BY t.name
      """
    ) { $0.text(0) }
    return try tables(names)
  }

  /// The tables of these names that can be read.
  package func tables(_ names: [String]) throws -> [Table] {
    if names.isEmpty { return [] }
    let catalog = try Catalog(self)
    return names.compactMap { try? catalog.table($0, in: self).get() }
  }
}
