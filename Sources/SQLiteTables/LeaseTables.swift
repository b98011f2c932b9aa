/// The tables of leases, and of what leases and denials keep from being deleted.
extension Schema {
  static let leases: [StaticString] = [
    // Leases of nodes that are being built and have no reference yet. Applications
    // write these rows themselves, so the table is plain: any number of rows may name the same
    // node, and the node need not exist. A row without a key is for the whole collection. Only the
    // daemon sets `connection`: it marks the lease of a client, which ends with its connection. The
    // default uses only functions that every SQLite has.
    """
    CREATE TABLE IF NOT EXISTS cascade_lease(
      id INTEGER PRIMARY KEY,
      collection TEXT NOT NULL,
      key,
      owner TEXT,
      expires INTEGER NOT NULL DEFAULT (CAST(strftime('%s', 'now') AS INTEGER) + 900),
      connection INTEGER,
      CONSTRAINT "expires is in seconds since 1970"
        CHECK(typeof(expires) IN ('integer', 'real') AND expires < 100000000000))
    """,
    "CREATE INDEX IF NOT EXISTS cascade_lease_node ON cascade_lease(collection, key)",
    "CREATE INDEX IF NOT EXISTS cascade_lease_end ON cascade_lease(expires)",
    // Why a node would have been deleted if nothing had kept it: by the rule `rule` of an edge
    // `name` between the node and `via`. `stored` is set where the edge of rule 4 is not in the
    // node's own row, or where the edge of rule 8 was removed and its source stayed. `waits_for`
    // is a `WaitsFor`. Rule 0 is what only a lease holds, because no root reaches it.
    """
    CREATE TABLE IF NOT EXISTS cascade_candidate(
      id INTEGER PRIMARY KEY,
      collection INTEGER NOT NULL, key ANY NOT NULL,
      via_collection INTEGER NOT NULL, via_key ANY NOT NULL,
      name INTEGER NOT NULL,
      rule INTEGER NOT NULL,
      stored INTEGER NOT NULL,
      waits_for INTEGER NOT NULL,
      UNIQUE(collection, key, rule, name, via_collection, via_key)) STRICT
    """,
  ]
}
