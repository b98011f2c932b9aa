package import PostgresBinding

/// Nodes that a batch deleted, and that are remembered.
extension MappedTable {
  /// Whether the row `k` of `cascade.deleted_node` is the node of the key that a text names.
  package func isDeleted(_ k: String, _ key: String) -> String {
    """
    \(k).collection = \(number) AND \(k).key = \(key)
    AND \(k).bucket IN (\(OwnSchema.bucket(key)), \(OwnSchema.sharedBucket(key)))
    """
  }

  /// Whether a node was deleted that is remembered, and has not come back; in a later batch, if one is named.
  package func wasDeleted(_ key: String, after batch: Int64? = nil) -> String {
    wasDeleted(key, laterThan: batch.map { "\($0)" })
  }

  /// The same where SQL tells the batch.
  func wasDeleted(_ key: String, laterThan batch: String?) -> String {
    let isLater = batch.map { " AND k.batch > \($0)" } ?? ""
    return "EXISTS (SELECT FROM cascade.deleted_node k WHERE \(isDeleted("k", key))\(isLater))"
  }
}
