/// Cascade's own tables. Their names begin with `cascade_`; nothing else in the file is Cascade's.
///
/// Invariants, outside of Cascade's transactions:
/// 1. Every row of `cascade_node` is a node that exists. Ids are never reused: the counter in
///    `cascade_meta` only grows.
/// 2. Both ends of every row of `cascade_edge` are rows of `cascade_node`.
/// 3. A file that an edge names is a row of `cascade_node`, in the collection `cascade_file/ROOT`.
///    No collection of the application's can have such a name.
/// 4. An edge of origin 2 or 3 repeats what its source's value says, so that rules see it among the
///    other edges. A reference to a missing node has no such edge, but a row of
///    `cascade_dangling_reference`.
/// 5. A change file took effect if, and only if, its row is in `cascade_ledger`.
package enum Schema {
  static let create: [StaticString] = [
    """
    CREATE TABLE IF NOT EXISTS cascade_meta(
      name TEXT PRIMARY KEY,
      value INTEGER NOT NULL) STRICT, WITHOUT ROWID
    """,
    // What in the schema is Cascade's (`Parts.swift`), so that every version can detach what another one made.
    """
    CREATE TABLE IF NOT EXISTS cascade_part(
      type TEXT NOT NULL,
      pattern TEXT NOT NULL,
      PRIMARY KEY(type, pattern)) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE IF NOT EXISTS cascade_collection(
      id INTEGER PRIMARY KEY,
      name TEXT NOT NULL UNIQUE,
      place TEXT) STRICT
    """,
    """
    CREATE TABLE IF NOT EXISTS cascade_name(
      id INTEGER PRIMARY KEY,
      name TEXT NOT NULL UNIQUE) STRICT
    """,
    """
    CREATE TABLE IF NOT EXISTS cascade_node(
      id INTEGER PRIMARY KEY,
      collection INTEGER NOT NULL,
      key ANY NOT NULL,
      type TEXT,
      value TEXT,
      UNIQUE(collection, key)) STRICT
    """,
    // For programs that read managed objects. Rows of the application and files that a stored edge
    // names are no objects.
    """
    CREATE VIEW IF NOT EXISTS cascade_object(collection, key, type, value) AS
    SELECT c.name, n.key, n.type, n.value
    FROM cascade_node AS n JOIN cascade_collection AS c ON c.id = n.collection
    WHERE c.place IS NULL AND c.name NOT GLOB 'cascade_*'
    """,
    // Three B-trees, each covering: by source, by destination, and by name alone.
    // `born` is the flush that added the edge: the ledger says where the edge came from.
    """
    CREATE TABLE IF NOT EXISTS cascade_edge(
      source INTEGER NOT NULL,
      name INTEGER NOT NULL,
      destination INTEGER NOT NULL,
      origin INTEGER NOT NULL,
      rules INTEGER NOT NULL,
      born INTEGER NOT NULL,
      PRIMARY KEY(source, name, destination, origin)) STRICT, WITHOUT ROWID
    """,
    """
    CREATE INDEX IF NOT EXISTS cascade_edge_destination
    ON cascade_edge(destination, name, source, origin, rules)
    """,
    "CREATE INDEX IF NOT EXISTS cascade_edge_name ON cascade_edge(name, source, destination, origin)",
    // For programs that read stored edges.
    """
    CREATE VIEW IF NOT EXISTS cascade_stored_edge(
      name, source_collection, source_key, destination_collection, destination_key) AS
    SELECT m.name, f.name, s.key, t.name, d.key
    FROM cascade_edge AS e JOIN cascade_name AS m ON m.id = e.name
      JOIN cascade_node AS s ON s.id = e.source JOIN cascade_collection AS f ON f.id = s.collection
      JOIN cascade_node AS d ON d.id = e.destination
      JOIN cascade_collection AS t ON t.id = d.collection
    """,
    // See `DanglingReferences.swift`.
    """
    CREATE TABLE IF NOT EXISTS cascade_dangling_reference(
      collection INTEGER NOT NULL,
      key ANY NOT NULL,
      source INTEGER NOT NULL,
      name INTEGER NOT NULL,
      origin INTEGER NOT NULL,
      rules INTEGER NOT NULL,
      PRIMARY KEY(collection, key, source, name, origin)) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX IF NOT EXISTS cascade_dangling_reference_source ON cascade_dangling_reference(source)",
    // One row for each transaction. A change file of many transactions has a part for each; `line`
    // is the line after the part. The part of a sweep is negative, because a change file may have
    // the same id as a sweep.
    """
    CREATE TABLE IF NOT EXISTS cascade_ledger(
      seq INTEGER PRIMARY KEY,
      id TEXT NOT NULL,
      part INTEGER NOT NULL,
      fingerprint INTEGER NOT NULL,
      author TEXT,
      at INTEGER NOT NULL,
      outcome TEXT NOT NULL,
      line INTEGER NOT NULL,
      deleted INTEGER NOT NULL,
      edges_added INTEGER NOT NULL DEFAULT 0,
      edges_removed INTEGER NOT NULL DEFAULT 0,
      notices INTEGER NOT NULL DEFAULT 0,
      passed_over INTEGER NOT NULL DEFAULT 0,
      undone_at INTEGER,
      undone_by TEXT,
      origin INTEGER,
      UNIQUE(id, part)) STRICT
    """,
    "CREATE INDEX IF NOT EXISTS cascade_ledger_origin ON cascade_ledger(origin) WHERE origin IS NOT NULL",
    // By collection and key: an end may be a row of the application, which has no number.
    """
    CREATE TABLE IF NOT EXISTS cascade_notice(
      id INTEGER PRIMARY KEY,
      reason TEXT NOT NULL,
      receiver_collection INTEGER NOT NULL, receiver_key ANY NOT NULL,
      name INTEGER NOT NULL,
      source_collection INTEGER NOT NULL, source_key ANY NOT NULL,
      destination_collection INTEGER NOT NULL, destination_key ANY NOT NULL,
      rules INTEGER NOT NULL,
      origin INTEGER NOT NULL,
      batch INTEGER NOT NULL,
      receiver_deleted INTEGER NOT NULL DEFAULT 0) STRICT
    """,
    "CREATE INDEX IF NOT EXISTS cascade_notice_receiver ON cascade_notice(receiver_collection, receiver_key)",
    "CREATE INDEX IF NOT EXISTS cascade_notice_batch ON cascade_notice(batch)",
    // Deletions over the limit that wait for approval, or have it. The plan of a sweep has an empty
    // id, which no change file has, and its `file` is a slash and the kinds. `value` is set for a
    // value that may mean "none", and `referring` says how many references have it. A plan that owns its
    // causes (`HeldCauses.swift`) has them in `cascade_plan_rows` and `cascade_candidate`. Of it,
    // `spent` is how many of the approved nodes are deleted, `is_open` whether causes that are held for
    // the sum alone join it, `own_end` what `MetaKey.ownJournalEnd` was. `ended` is a `PlanEnd`. `at` is since
    // when it waits, of one that is not a file's.
    """
    CREATE TABLE IF NOT EXISTS cascade_plan(
      plan INTEGER PRIMARY KEY,
      id TEXT NOT NULL,
      file TEXT NOT NULL,
      checksum INTEGER NOT NULL,
      deleted INTEGER NOT NULL,
      approved INTEGER NOT NULL DEFAULT 0,
      value TEXT,
      referring INTEGER,
      owns INTEGER NOT NULL DEFAULT 0,
      by_collection TEXT,
      spent INTEGER NOT NULL DEFAULT 0,
      is_open INTEGER NOT NULL DEFAULT 0,
      own_end INTEGER,
      ended INTEGER,
      given_up INTEGER NOT NULL DEFAULT 0,
      restored INTEGER NOT NULL DEFAULT 0,
      at INTEGER,
      UNIQUE(id, checksum)) STRICT
    """,
    "CREATE INDEX IF NOT EXISTS cascade_plan_file ON cascade_plan(file)",
    // The rows of the journal that a plan owns, behind `low` up to `high` (`JournalScope`). With `hides`, no
    // other sweep reads them.
    """
    CREATE TABLE IF NOT EXISTS cascade_plan_rows(
      low INTEGER PRIMARY KEY,
      high INTEGER NOT NULL,
      plan INTEGER NOT NULL,
      hides INTEGER NOT NULL DEFAULT 1) STRICT
    """,
    // While a plan owns rows: the last rows that told that a node was deleted, and that its key was used
    // again, of those that are not in the journal any more.
    """
    CREATE TABLE IF NOT EXISTS cascade_plan_used(
      collection INTEGER NOT NULL,
      key ANY NOT NULL,
      gone INTEGER,
      arrived INTEGER,
      PRIMARY KEY(collection, key)) STRICT, WITHOUT ROWID
    """,
    // What sweeps deleted lately without an approval (`HoldWindow`).
    """
    CREATE TABLE IF NOT EXISTS cascade_hold_window(
      slot INTEGER NOT NULL,
      collection TEXT NOT NULL,
      at INTEGER NOT NULL,
      count INTEGER NOT NULL,
      PRIMARY KEY(slot, collection)) STRICT, WITHOUT ROWID
    """,
    // Why a node would have gone, had a plan not been rejected: by the rule `rule` of the edge `name`
    // between it and `via`, which is gone (`RejectedPlans.swift`). For rule 64 it stays in any case, and
    // its reference too.
    """
    CREATE TABLE IF NOT EXISTS cascade_given_up(
      collection INTEGER NOT NULL, key ANY NOT NULL,
      name INTEGER NOT NULL,
      via_collection INTEGER NOT NULL, via_key ANY NOT NULL,
      rule INTEGER NOT NULL,
      PRIMARY KEY(collection, key, name, via_collection, via_key)) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX IF NOT EXISTS cascade_given_up_via ON cascade_given_up(via_collection, via_key)",
    // Deletions that began here (`DeletionJob`). `subject`, `by_collection` and `blocked` are JSON.
    // `approved` is how many nodes may go, because an operator has approved them; `standing`, how many
    // were approved for an earlier pass over the same collection.
    """
    CREATE TABLE IF NOT EXISTS cascade_job(
      job INTEGER PRIMARY KEY,
      state TEXT NOT NULL,
      subject TEXT NOT NULL,
      author TEXT NOT NULL,
      at INTEGER NOT NULL,
      expected INTEGER,
      is_partial INTEGER NOT NULL,
      approved INTEGER,
      batch INTEGER,
      plan INTEGER,
      deleted INTEGER NOT NULL DEFAULT 0,
      total INTEGER,
      by_collection TEXT NOT NULL DEFAULT '{}',
      blocked TEXT NOT NULL DEFAULT '[]',
      standing INTEGER) STRICT
    """,
    // Nodes that are protected, and the nodes that their deletion would take along, themselves among them
    // (`Protections.swift`). `node` is what messages call it. Triggers read the keys.
    """
    CREATE TABLE IF NOT EXISTS cascade_protection(
      protection INTEGER PRIMARY KEY,
      collection INTEGER NOT NULL, key ANY NOT NULL,
      node TEXT NOT NULL,
      reason TEXT NOT NULL,
      author TEXT NOT NULL,
      since INTEGER NOT NULL,
      until INTEGER,
      UNIQUE(collection, key)) STRICT
    """,
    """
    CREATE TABLE IF NOT EXISTS cascade_protected(
      collection INTEGER NOT NULL, key ANY NOT NULL,
      protection INTEGER NOT NULL,
      PRIMARY KEY(collection, key, protection)) STRICT, WITHOUT ROWID
    """,
    // Rows that were marked or unmarked (`softDelete`) since that was last followed, with the values before.
    // Triggers write the rows, so no constraint may fail.
    "CREATE TABLE IF NOT EXISTS cascade_mark(seq INTEGER PRIMARY KEY, collection, key, marked, old)",
    // Why rows are marked: because others are, by a rule of an edge; or by themselves, with rule 0. `old` is a
    // JSON list of the values before. `batch` is that of the job that followed the mark.
    """
    CREATE TABLE IF NOT EXISTS cascade_marked(
      collection INTEGER NOT NULL, key ANY NOT NULL,
      via_collection INTEGER NOT NULL, via_key ANY NOT NULL,
      name INTEGER NOT NULL,
      rule INTEGER NOT NULL,
      batch INTEGER,
      at INTEGER NOT NULL,
      old TEXT,
      PRIMARY KEY(collection, key, rule, name, via_collection, via_key)) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX IF NOT EXISTS cascade_marked_via ON cascade_marked(via_collection, via_key)",
    "CREATE INDEX IF NOT EXISTS cascade_marked_batch ON cascade_marked(batch)",
    // Change files that were rejected (or held: no reasons). They are listed until they have left
    // the queue, if files behind them were applied in the same commit.
    """
    CREATE TABLE IF NOT EXISTS cascade_verdict(
      name BLOB PRIMARY KEY,
      fingerprint INTEGER NOT NULL,
      reasons TEXT) STRICT, WITHOUT ROWID
    """,
    // Files that lost their last edge. The row commits together with the change that released the
    // file. `at` is by `SystemClock.ofFiles`.
    """
    CREATE TABLE IF NOT EXISTS cascade_released_file(
      id INTEGER PRIMARY KEY,
      batch INTEGER NOT NULL,
      collection INTEGER NOT NULL,
      path TEXT NOT NULL,
      at INTEGER) STRICT
    """,
    // A row of a table, or what else the layout says. Its values are in the layout's order, sixteen
    // to a part. The columns have no type, so each value stays what it was. The row is here because
    // of `rule` of the edge `name` to or from the node `via`. The id of a node is its number in the
    // batch. Anything else has an id above all of those, and later ones are smaller. There is no
    // index by key: it would cost as much again.
    """
    CREATE TABLE IF NOT EXISTS cascade_trash(
      batch INTEGER NOT NULL,
      id INTEGER NOT NULL,
      part INTEGER NOT NULL,
      layout INTEGER NOT NULL,
      via INTEGER,
      name INTEGER,
      rule INTEGER,
      c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15,
      PRIMARY KEY(batch, id, part)) WITHOUT ROWID
    """,
    // See `TrashLayout`. The columns of the key come first. `types` are theirs. `count` is how many rows
    // were kept, `remaining` how many still are.
    """
    CREATE TABLE IF NOT EXISTS cascade_trash_layout(
      batch INTEGER NOT NULL,
      layout INTEGER NOT NULL,
      kind TEXT NOT NULL,
      collection INTEGER,
      subject TEXT NOT NULL,
      columns TEXT NOT NULL,
      keys INTEGER NOT NULL,
      count INTEGER NOT NULL,
      remaining INTEGER NOT NULL,
      types TEXT NOT NULL,
      PRIMARY KEY(batch, layout)) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX IF NOT EXISTS cascade_trash_layout_collection ON cascade_trash_layout(collection, batch)",
    // Nodes that an application deleted after a sweep had set references of theirs to null, by the batch
    // that read it. What has the key since is another node.
    """
    CREATE TABLE IF NOT EXISTS cascade_ended(
      collection INTEGER NOT NULL,
      key ANY NOT NULL,
      batch INTEGER NOT NULL,
      PRIMARY KEY(collection, key)) STRICT, WITHOUT ROWID
    """,
    // What the tables of the trash and of the model were like when they were last looked at
    // (`FollowedTables.swift`). `trigger` is one of ours on it, which goes with the table.
    """
    CREATE TABLE IF NOT EXISTS cascade_shape(
      subject TEXT PRIMARY KEY,
      columns TEXT NOT NULL,
      trigger TEXT,
      is_migrating INTEGER NOT NULL DEFAULT 0,
      schema_version INTEGER NOT NULL) STRICT, WITHOUT ROWID
    """,
    // The node behind an id of the batch, if nothing else in the trash says it: a node that
    // survived, a file, or a row of the application that stored edges name.
    """
    CREATE TABLE IF NOT EXISTS cascade_trash_node(
      batch INTEGER NOT NULL,
      id INTEGER NOT NULL,
      collection INTEGER NOT NULL,
      key ANY NOT NULL,
      PRIMARY KEY(batch, id)) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE IF NOT EXISTS cascade_trash_edge(
      batch INTEGER NOT NULL,
      source INTEGER NOT NULL,
      name INTEGER NOT NULL,
      destination INTEGER NOT NULL,
      origin INTEGER NOT NULL,
      rules INTEGER NOT NULL,
      born INTEGER NOT NULL,
      PRIMARY KEY(batch, source, name, destination, origin)) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX IF NOT EXISTS cascade_trash_edge_list ON cascade_trash_edge(source) WHERE origin = 1",
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
    // Nodes that a batch took, and the numbers of a part of them: the first is `number`, of the one in the
    // place `low` (`DeletedNumbers.swift`). The id is that in the trash. An erased node has no key. The part
    // has what the ledger said, which may be forgotten before; `kind` was its part there.
    """
    CREATE TABLE IF NOT EXISTS cascade_deleted(
      batch INTEGER NOT NULL,
      part INTEGER NOT NULL,
      place INTEGER NOT NULL,
      collection INTEGER NOT NULL,
      id INTEGER NOT NULL,
      key ANY,
      PRIMARY KEY(batch, part, place)) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE IF NOT EXISTS cascade_deleted_part(
      number INTEGER PRIMARY KEY,
      batch INTEGER NOT NULL,
      part INTEGER NOT NULL,
      low INTEGER NOT NULL,
      high INTEGER NOT NULL,
      at INTEGER NOT NULL,
      kind INTEGER NOT NULL,
      author TEXT) STRICT
    """,
    "CREATE INDEX IF NOT EXISTS cascade_deleted_part_batch ON cascade_deleted_part(batch, part)",
    // See `DenialTriggers.swift`. Triggers write and delete the rows.
    "CREATE TABLE IF NOT EXISTS cascade_displaced(collection, key, message)",
    // See `Watch`. Triggers write the rows, in the application's transactions. No constraint may
    // fail here: for a statement whose trigger can fail, SQLite keeps a copy of every page that it
    // changes, and a deletion of many rows takes half as long again.
    "CREATE TABLE IF NOT EXISTS cascade_journal(seq INTEGER PRIMARY KEY, what, key, gone, a, b, c, d)",
    // See `UsedKeys.swift`, and `GoneMark`.
    "CREATE INDEX IF NOT EXISTS cascade_journal_gone ON cascade_journal(gone, key) WHERE gone >= 2",
    """
    CREATE TABLE IF NOT EXISTS cascade_watch(
      what INTEGER PRIMARY KEY,
      meaning TEXT NOT NULL UNIQUE) STRICT
    """,
    // Rows whose lists of references were written, and one row more while triggers record that
    // (`JSONLists.swift`).
    "CREATE TABLE IF NOT EXISTS cascade_list_write(seq INTEGER PRIMARY KEY, collection, key)",
    // Has a row while the daemon writes, within its transaction. Then denial triggers refuse
    // nothing. Whether the other triggers write the journal, the row says (`Muting`).
    "CREATE TABLE IF NOT EXISTS cascade_muted(id INTEGER PRIMARY KEY) STRICT",
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
    // node's own row. `edges` is for rule 8: the sources of the edges of the name that the node had
    // (`EdgesGivenSince.swift`). `waits_for` is a `WaitsFor`. Rule 0 is what only a lease holds,
    // because no root reaches it. `plan` owns the row, if any does: only its sweep examines it.
    """
    CREATE TABLE IF NOT EXISTS cascade_candidate(
      id INTEGER PRIMARY KEY,
      collection INTEGER NOT NULL, key ANY NOT NULL,
      via_collection INTEGER NOT NULL, via_key ANY NOT NULL,
      name INTEGER NOT NULL,
      rule INTEGER NOT NULL,
      stored INTEGER NOT NULL,
      waits_for INTEGER NOT NULL,
      edges TEXT,
      plan INTEGER,
      UNIQUE(collection, key, rule, name, via_collection, via_key)) STRICT
    """,
    "CREATE INDEX IF NOT EXISTS cascade_candidate_waits ON cascade_candidate(waits_for)",
  ]
}
