/// Cascade's own tables. Names begin with `cascade_`; nothing else in the file is ours.
///
/// Invariants, outside of a transaction of ours:
/// 1. Every row of `cascade_node` is a node that exists. Ids are never reused (`cascade_meta.nextId`).
/// 2. Both ends of every row of `cascade_edge` are rows of `cascade_node`.
/// 3. A file that an edge points at is a row of `cascade_node` in the collection `cascade_file/ROOT`.
enum Schema {
  static let version: Int64 = 1

  static let create: [StaticString] = [
    """
    CREATE TABLE cascade_meta(
      name TEXT PRIMARY KEY,
      value ANY) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE cascade_collection(
      id INTEGER PRIMARY KEY,
      name TEXT NOT NULL UNIQUE) STRICT
    """,
    """
    CREATE TABLE cascade_name(
      id INTEGER PRIMARY KEY,
      name TEXT NOT NULL UNIQUE) STRICT
    """,
    """
    CREATE TABLE cascade_node(
      id INTEGER PRIMARY KEY,
      collection INTEGER NOT NULL,
      key ANY NOT NULL,
      type TEXT,
      value TEXT,
      UNIQUE(collection, key)) STRICT
    """,
    // `born` is the flush that added the edge: the ledger says whose it was.
    """
    CREATE TABLE cascade_edge(
      source INTEGER NOT NULL,
      name INTEGER NOT NULL,
      destination INTEGER NOT NULL,
      origin INTEGER NOT NULL,
      rules INTEGER NOT NULL,
      born INTEGER NOT NULL,
      PRIMARY KEY(source, name, destination, origin)) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX cascade_edge_destination ON cascade_edge(destination, name, rules)",
    "CREATE INDEX cascade_edge_name ON cascade_edge(name)",
  ]
}
