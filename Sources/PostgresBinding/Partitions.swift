package import CascadePostgres

/// A table that is partitioned, or is a partition.
///
/// 1. A trigger of statements fires for the table that a statement names, and one of rows in each
///    partition, whatever the statement names. So these tables have triggers of rows.
/// 2. A row that an UPDATE moves to another partition is deleted there and inserted here, for the triggers. It
///    is not gone: a denial looks whether the key is still there, and so does a sweep.
/// 3. Nothing fires when a partition is attached, detached or dropped with its rows. The text of the
///    triggers has the partitions, so triggers that have other ones are made anew, and whole tables are
///    looked through.
package struct Partitions {
  /// With their schemas.
  package let names: [String]
  /// Those of the table and its partitions in the catalog, as a list.
  package let numbers: String
  /// Quoted.
  package let owner: String

  /// Nil for an ordinary table.
  package init?(of table: String, _ db: borrowing Session) throws {
    let rows = try db.run(
      """
      SELECT format('%I.%I', n.nspname, c.relname), c.oid, format('%I', r.rolname)
      FROM pg_partition_tree($1::regclass) t JOIN pg_class c ON c.oid = t.relid
      JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_roles r ON r.oid = c.relowner
      ORDER BY c.oid <> $1::regclass, c.oid
      """, [table]
    ).rows
    if rows.isEmpty { return nil }
    owner = rows[0][2]!
    names = rows.map { $0[0]! }.filter { $0 != table }
    numbers = rows.map { $0[1]! }.joined(separator: " ")
  }
}
