/// The tables of leases, and of what leases keep from being deleted.
extension Schema {
  static let leases: [StaticString] = [
    // Leases of nodes that are being built and have no reference yet (DESIGN 8.7). Applications
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
    // node's own row, or where the edge of rule 8 was removed and its source stayed. `denied` is 0
    // for a leased node. Otherwise the node was kept by something else: 1, possibly by a leased
    // node; 2, by a node that another kind of sweep has yet to delete; 3, possibly by an edge that
    // this other kind removes; 4, by something that the rest of the same sweep may delete. Rule 0
    // is what only a lease holds, because no root reaches it.
    """
    CREATE TABLE IF NOT EXISTS cascade_candidate(
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
    CREATE TEMP TABLE new_candidates(
      id INTEGER, via INTEGER, name INTEGER, rule INTEGER, collection INTEGER,
      stored INTEGER NOT NULL DEFAULT 0, denied INTEGER NOT NULL DEFAULT 0,
      UNIQUE(id, rule, name, via))
    """,
    // Rows of `cascade_candidate` whose nodes are no longer leased.
    """
    CREATE TEMP TABLE due_candidates(
      id INTEGER PRIMARY KEY, collection INTEGER, key, via_collection INTEGER, via_key,
      name INTEGER, rule INTEGER, stored INTEGER, node INTEGER, via INTEGER,
      via_there INTEGER NOT NULL DEFAULT 0, refers INTEGER NOT NULL DEFAULT 0)
    """,
  ]

  static let ofReachability: [StaticString] = [
    // The nodes that the roots lead to, in the order in which they were found; and the unreachable
    // nodes.
    "CREATE TEMP TABLE reachable_nodes(seq INTEGER PRIMARY KEY, id INTEGER NOT NULL UNIQUE)",
    "CREATE TEMP TABLE unreachable_nodes(id INTEGER PRIMARY KEY, collection INTEGER)",
    // `leading`: the unreachable nodes in the order in which they are deleted; or the next nodes to
    // be deleted with the nodes that lead to them, as far back as those are unreachable too.
    // `leads`: every path to them, from any node.
    "CREATE TEMP TABLE holder_order(seq INTEGER PRIMARY KEY, id INTEGER NOT NULL UNIQUE)",
    "CREATE TEMP TABLE holder_paths(holder INTEGER, held INTEGER)",
    "CREATE INDEX temp.holder_paths_holder ON holder_paths(holder)",
    "CREATE INDEX temp.holder_paths_held ON holder_paths(held)",
    // For a change of order in `gone`: nodes that move to the front, and the nodes that take their
    // places.
    "CREATE TEMP TABLE moved_forward(number INTEGER PRIMARY KEY, seq INTEGER, id INTEGER, collection INTEGER)",
    "CREATE TEMP TABLE moved_back(number INTEGER PRIMARY KEY, id INTEGER, collection INTEGER)",
  ]
}
