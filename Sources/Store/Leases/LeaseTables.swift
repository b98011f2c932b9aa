/// Leases, and what they keep from going.
extension Schema {
  static let leases: [StaticString] = [
    // What is being built, and is not referenced yet (DESIGN 8.7). Applications write it themselves,
    // so it is plain: any number of rows may name the same node, and none has to be there. A row
    // without a key is for the whole collection. `connection` is of the daemon alone: the lease of a
    // client, which ends with its connection. The default is in words that every SQLite knows.
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
    // Why a node would have gone, had it not been leased: `rule` of an edge `name` between it and
    // `via`. `stored` where the edge of rule 4 is not in the node's own row, or the edge of rule 8 was
    // removed and its source stayed. `denied` where the node is not leased itself, but something that
    // is may have kept it: 1; or what another kind of sweep deletes, and did not yet: 2; or an edge may
    // have, which that one removes: 3; or the rest of the same sweep: 4. Rule 0 is what a lease holds that
    // no root reaches.
    """
    CREATE TABLE IF NOT EXISTS cascade_spared(
      id INTEGER PRIMARY KEY,
      collection INTEGER NOT NULL, key ANY NOT NULL,
      via_collection INTEGER NOT NULL, via_key ANY NOT NULL,
      name INTEGER NOT NULL,
      rule INTEGER NOT NULL,
      stored INTEGER NOT NULL,
      denied INTEGER NOT NULL,
      UNIQUE(collection, key, rule, name, via_collection, via_key)) STRICT
    """,
  ]

  static let ofLeases: [StaticString] = [
    "CREATE TEMP TABLE leased(id INTEGER PRIMARY KEY)",
    "CREATE TEMP TABLE leased_collection(id INTEGER PRIMARY KEY)",
    // What a lease kept out of `gone`, with every reason.
    """
    CREATE TEMP TABLE spared(
      id INTEGER, via INTEGER, name INTEGER, rule INTEGER, collection INTEGER,
      stored INTEGER NOT NULL DEFAULT 0, denied INTEGER NOT NULL DEFAULT 0,
      UNIQUE(id, rule, name, via))
    """,
    // Rows of `cascade_spared` whose nodes nobody leases any more.
    """
    CREATE TEMP TABLE examined(
      id INTEGER PRIMARY KEY, collection INTEGER, key, via_collection INTEGER, via_key,
      name INTEGER, rule INTEGER, stored INTEGER, node INTEGER, via INTEGER,
      via_there INTEGER NOT NULL DEFAULT 0, refers INTEGER NOT NULL DEFAULT 0)
    """,
  ]

  static let ofReaching: [StaticString] = [
    // What the roots lead to, in the order in which it was found; and what they do not.
    "CREATE TEMP TABLE reached(seq INTEGER PRIMARY KEY, id INTEGER NOT NULL UNIQUE)",
    "CREATE TEMP TABLE unreached(id INTEGER PRIMARY KEY, collection INTEGER)",
    // Of these, in which order they go; or what goes next, and who leads to it, as far back as he is
    // of these. And every way, from whomever.
    "CREATE TEMP TABLE leading(seq INTEGER PRIMARY KEY, id INTEGER NOT NULL UNIQUE)",
    "CREATE TEMP TABLE leads(holder INTEGER, held INTEGER)",
    "CREATE INDEX temp.leads_holder ON leads(holder)",
    "CREATE INDEX temp.leads_held ON leads(held)",
    // Whose turn comes earlier, and who takes their places.
    "CREATE TEMP TABLE late(number INTEGER PRIMARY KEY, seq INTEGER, id INTEGER, collection INTEGER)",
    "CREATE TEMP TABLE early(number INTEGER PRIMARY KEY, id INTEGER, collection INTEGER)",
  ]
}
