/// Tables for files, which are not nodes.
extension Schema {
  static let trashedFiles: [StaticString] = [
    // Files in the trash of their root. `fate`: 0 is kept, 1 is to be removed, 2 is to be restored.
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

  static let ofFiles: [StaticString] = [
    // Files for which a query asks whether an edge names them.
    """
    CREATE TEMP TABLE queried_files(
      collection INTEGER, key, id INTEGER, PRIMARY KEY(collection, key, id)) WITHOUT ROWID
    """,
    // The files below the roots, and those that edges name there; by the number of the root.
    """
    CREATE TEMP TABLE files_on_disk(
      root INTEGER, path TEXT, PRIMARY KEY(root, path)) WITHOUT ROWID
    """,
    """
    CREATE TEMP TABLE files_with_edges(
      root INTEGER, path TEXT, collection TEXT, key, name TEXT,
      PRIMARY KEY(root, path)) WITHOUT ROWID
    """,
  ]
}
