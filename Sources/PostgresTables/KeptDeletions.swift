internal import PostgresBinding
internal import CascadePostgres

/// Rows that applications have deleted, and that are kept (`keepDeleted`). The trigger writes each into the
/// journal, with what tells of the deletion. When a sweep takes that out of the journal, the row moves into its
/// batch: so a batch has what an application deleted, and what followed.
package enum KeptDeletions {
  /// The statement that moves those of `rows` of the journal into a batch.
  package static func taking(into batch: String, from rows: String) -> String {
    """
    INSERT INTO cascade.deleted(batch, collection, is_own, bucket, keys, rows, shape)
    SELECT \(batch), j.subject, false, \(OwnSchema.bucket("j.key")), ARRAY[j.key], ARRAY[j.row], j.shape
    FROM \(rows) j WHERE j.row IS NOT NULL AND j.what = \(JournalSubject.gone.rawValue)
    """
  }

  /// How many a batch has.
  package static func count(_ batch: Int64, _ store: StoreConnection) throws -> Int {
    try Int(
      store.db.run(
        """
        SELECT count(*) FROM cascade.deleted
        WHERE batch = \(batch) AND NOT is_own AND rows IS NOT NULL
        """
      ).integer ?? 0)
  }
}
