/// Tables for files, which are not nodes.
extension Schema {
  static let trashedFiles: [StaticString] = [
    // Files in the trash of their root. For `fate` see `FileFate`.
    """
    CREATE TABLE IF NOT EXISTS cascade_trash_file(
      batch INTEGER NOT NULL,
      collection INTEGER NOT NULL,
      path TEXT NOT NULL,
      fate INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY(batch, collection, path)) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX IF NOT EXISTS cascade_trash_file_fate ON cascade_trash_file(fate) WHERE fate",
  ]
}
