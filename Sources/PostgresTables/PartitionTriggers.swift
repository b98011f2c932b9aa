internal import CascadePostgres
internal import PostgresBinding

/// Triggers of tables that are partitioned, or are partitions.
extension Triggers {
  /// How triggers of a table are fired.
  func dialect(of table: String) -> Dialect {
    binding.partitions[table] == nil ? dialect : .portable
  }

  /// What to append to the text of a trigger of a table that is partitioned.
  func ofPartitions(
    _ name: String, on table: String, _ event: String, _ function: String
  ) -> String {
    guard let partitions = binding.partitions[table] else { return "" }
    let isOfRows = !event.hasPrefix("TRUNCATE")
    // The role that creates a partition has to be allowed to use the functions of its triggers.
    let grant = """
      ;
      GRANT EXECUTE ON FUNCTION \(function)() TO \(partitions.owner) /* \(partitions.numbers) */
      """
    if isOfRows { return grant }
    return grant
      + partitions.names.map { partition in
        """
        ;
        CREATE TRIGGER \(name) AFTER TRUNCATE ON \(partition) FOR EACH STATEMENT
        EXECUTE FUNCTION \(function)()
        """
      }.joined()
  }

  /// That the row `o` was not moved to another partition.
  func hasNotMoved(_ table: MappedTable) -> String {
    "NOT EXISTS (SELECT FROM \(table.name) m WHERE \(table.key.equal("m", table.key, "o")))"
  }
}
