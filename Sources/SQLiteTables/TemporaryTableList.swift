internal import SQLiteBinding

/// Every temporary table. Numbers of nodes are those of `NumberRange`. What each table has is in
/// `deploy/guides/internals.md`; a comment here says what its columns mean.
extension TemporaryTable {
  package static let all: [TemporaryTable] = [
    known, staged, unreachableNodes, dueCandidates, endedCandidates, candidateEdges, reachableNodes,
    unusedIdentities, touched, queriedFiles, waitingKeys, givenUp, protectedKeys, comingBack,

    // MARK: A scan of whole tables

    // References to nodes that do not exist, by relationship, lost end and key of the missing node.
    TemporaryTable(
      "missing_values", .danglingScan, .nextUse,
      "name TEXT, source TEXT, lost TEXT, destination TEXT, collection INTEGER, key, "
        + "referring INTEGER"),
    TemporaryTable(
      "held_values", .danglingScan, .nextUse, "collection INTEGER, key", key: "collection, key"),

    // MARK: A change file

    TemporaryTable(
      "new_edges", .changes, .flush, "source INTEGER, name INTEGER, destination INTEGER",
      key: "source, name, destination",
      and: ["CREATE INDEX temp.new_edges_destination ON new_edges(destination)"]),
    TemporaryTable("new_rows", .changes, .flush),
    // Nodes that a change wrote which may go by an edge of their own, if the file forbids that; or
    // the reverse.
    TemporaryTable("own_deletion_exceptions", .changes, .flush),
    // Nodes of `dead` whose rows do not exist, and that a change named since the last flush.
    TemporaryTable("named_missing_rows", .changes, .flush),

    // MARK: A flush

    // Rows of `cascade_node` that do not exist: deleted, or only named by an edge so far.
    TemporaryTable("dead", .flush, .flush),
    // Nodes that are gone because of an earlier sweep, which recorded the cause, or that it found
    // gone.
    TemporaryTable("explained_elsewhere", .flush, .flush),
    // Nodes of `explained_elsewhere` whose neighbours that sweep has notified: all of them or, if
    // `leaves` is set, only those that still refer to the node.
    TemporaryTable(
      "already_notified", .flush, .flush,
      "id INTEGER PRIMARY KEY, leaves INTEGER NOT NULL DEFAULT 0"),
    // Edges whose destinations that sweep did not notify, because the edges were gone before.
    TemporaryTable(
      "unnotified_edges", .flush, .flush, "source INTEGER, name INTEGER, destination INTEGER",
      key: "source, name, destination"),
    // Edges that existed at the last flush and were removed since then. `removal` is a
    // `Removal.code`.
    TemporaryTable(
      "lost_edges", .flush, .flush,
      "source INTEGER, name INTEGER, destination INTEGER, origin INTEGER, rules INTEGER, "
        + "born INTEGER, removal INTEGER", key: "source, name, destination, origin",
      and: ["CREATE INDEX temp.lost_edges_edges_destination ON lost_edges(destination)"]),
    // Nodes under keys that were used again: since which row of the journal; and nodes that are gone: by
    // which row.
    TemporaryTable("used_nodes", .flush, .flush, "id INTEGER PRIMARY KEY, since INTEGER"),
    TemporaryTable("deleted_nodes", .flush, .flush, "id INTEGER PRIMARY KEY, last INTEGER"),
    TemporaryTable(
      "pending_notices", .flush, .flush,
      "reason TEXT, to_destination INTEGER, source INTEGER, name INTEGER, destination INTEGER, "
        + "rules INTEGER, origin INTEGER"),
    // `waits_for` is a `WaitsFor`; null where what led to a node is not remembered.
    TemporaryTable("blocked", .flush, .flush, "id INTEGER PRIMARY KEY, waits_for INTEGER"),

    // MARK: The set D

    // The set D, in the order in which it grew, with what put each node there. `counts` is zero for
    // a node that was never there: it was only named by an edge, or gone before it was examined. A job,
    // which deletes in another order, keeps in `place` what `seq` was.
    TemporaryTable(
      "gone", .closure, .flush,
      "seq INTEGER PRIMARY KEY, id INTEGER NOT NULL UNIQUE, collection INTEGER, via INTEGER, "
        + "name INTEGER, rule INTEGER NOT NULL DEFAULT 0, counts INTEGER NOT NULL DEFAULT 1, place INTEGER"
    ),
    TemporaryTable("pending_join_rows", .closure, .flush),
    // One row: up to which `seq` the nodes of `gone` are deleted already, in earlier steps of a
    // sweep.
    TemporaryTable(
      "removed_up_to", .closure, .flush, "seq INTEGER NOT NULL",
      and: [
        "INSERT INTO temp.removed_up_to VALUES(0)",
        """
        CREATE TEMP VIEW still_to_go AS
        SELECT id FROM temp.gone WHERE seq > (SELECT seq FROM temp.removed_up_to)
        """,
      ],
      emptying: "UPDATE temp.removed_up_to SET seq = 0"),
    // How many edges of a name a counting rule still sees at a node. `rule` is 16 or 32. `level` is
    // the level in which the node lost the first of them.
    TemporaryTable(
      "remaining_counts", .closure, .flush,
      "rule INTEGER, node INTEGER, name INTEGER, remaining INTEGER, via INTEGER, level INTEGER, "
        + "collection INTEGER", key: "rule, node, name",
      and: [
        "CREATE INDEX temp.remaining_counts_level ON remaining_counts(level, rule, name)",
        "CREATE INDEX temp.remaining_counts_out ON remaining_counts(rule) WHERE remaining <= 0",
      ]),
    // Edges that nodes lose in one level. `asks` is set if a rule needs to know whether any edge
    // remains. `stays` is set, in the application's tables, if that is known already.
    TemporaryTable(
      "level_losses", .closure, .flush,
      "rule INTEGER, node INTEGER, name INTEGER, edges INTEGER, via INTEGER, asks INTEGER, "
        + "collection INTEGER, stays INTEGER", key: "rule, node, name"),
    // Rows with a JSON list that refers to a node that goes: by rowid, or by key.
    TemporaryTable(
      "list_references", .closure, .flush, "relation TEXT, destination INTEGER, row",
      key: "relation, destination, row"),

    // MARK: Leases and candidates

    // Leased nodes. Where a search for unreachable nodes found none, the tables of leases keep their
    // rows until the next search or flush.
    TemporaryTable("leased", .leases, .flush),
    TemporaryTable("leased_collection", .leases, .flush),
    // Of the leased ones, those that are protected. The view has what holds nodes: leases and protections.
    TemporaryTable(
      "protected_nodes", .leases, .flush,
      and: [
        """
        CREATE TEMP VIEW holds AS SELECT collection, key, expires FROM cascade_lease
        UNION ALL SELECT c.name, p.key, \(Int64.max) FROM cascade_protected AS p
          CROSS JOIN cascade_collection AS c ON c.id = p.collection
        """
      ]),
    // Of the leased ones, those that only a held plan would let go, or that were given up.
    TemporaryTable("waiting_nodes", .leases, .flush),
    // Missing nodes that a change file names, and whose deletion a held plan owns.
    TemporaryTable("waiting_dead", .flush, .flush),
    // What a lease or a denial kept out of `gone`, with every reason. `waits_for` is a `WaitsFor`,
    // `edges` as in `cascade_candidate`.
    TemporaryTable(
      "new_candidates", .leases, .flush,
      "id INTEGER, via INTEGER, name INTEGER, rule INTEGER, collection INTEGER, "
        + "stored INTEGER NOT NULL DEFAULT 0, waits_for INTEGER NOT NULL DEFAULT 0, edges TEXT, "
        + "UNIQUE(id, rule, name, via)"),

    // MARK: The journal

    // Edges that the journal recorded, on their way into `lost_edges`.
    TemporaryTable(
      "journaled_losses", .journalReader, .call,
      "source_collection INTEGER, source_key, source_row INTEGER, source_present INTEGER, "
        + "destination INTEGER, destination_collection INTEGER, destination_key, "
        + "destination_row INTEGER, name INTEGER, rules INTEGER, removal INTEGER, seq INTEGER"),
    // Since which row of the journal the destinations of these edges are gone, and the last row that
    // tells of their deletion.
    TemporaryTable(
      "gone_since", .journalReader, .call, "id INTEGER PRIMARY KEY, seq INTEGER, last INTEGER"),
    // Nodes that were deleted since a sweep last read the journal, and are there: since which row of
    // the journal.
    TemporaryTable(
      "used_keys", .journalReader, .call, "collection INTEGER, key, row INTEGER, since INTEGER",
      key: "collection, key"),

    // MARK: Reachability

    // The unreachable nodes in the order in which they are deleted; or the next nodes to be deleted
    // with the nodes that lead to them, as far back as those are unreachable too.
    TemporaryTable(
      "holder_order", .unreachableOrder, .flush,
      "seq INTEGER PRIMARY KEY, id INTEGER NOT NULL UNIQUE"),
    // Every edge to the nodes of `holder_order`, from any node.
    TemporaryTable(
      "holder_paths", .unreachableOrder, .flush, "holder INTEGER, held INTEGER",
      and: [
        "CREATE INDEX temp.holder_paths_holder ON holder_paths(holder)",
        "CREATE INDEX temp.holder_paths_held ON holder_paths(held)",
      ]),
    TemporaryTable(
      "moved_forward", .reorder, .call,
      "number INTEGER PRIMARY KEY, seq INTEGER, id INTEGER, collection INTEGER"),
    TemporaryTable(
      "moved_back", .reorder, .call, "number INTEGER PRIMARY KEY, id INTEGER, collection INTEGER"),
    // The nodes of D, while a job puts them in its order.
    TemporaryTable(
      "gone_in_order", .reorder, .call,
      "seq INTEGER PRIMARY KEY, id INTEGER, collection INTEGER, via INTEGER, name INTEGER, "
        + "rule INTEGER, counts INTEGER, place INTEGER"),

    // MARK: Removal and undo

    TemporaryTable("staying_nodes", .plan, .flush),
    TemporaryTable("left_alone", .undo, .nextUse),
    TemporaryTable(
      "renumbered", .undo, .nextUse, "id INTEGER PRIMARY KEY, now INTEGER NOT NULL"),
    TemporaryTable(
      "restored", .undo, .nextUse, "id INTEGER PRIMARY KEY, layout INTEGER NOT NULL, key"),
    TemporaryTable("nodes_of_batch_edges", .undo, .nextUse),
    TemporaryTable("rewritten", .undo, .nextUse),
    // What is to come back of the trash: `what` is a `ChosenEntry`. And the entries, by those that they
    // went because of.
    TemporaryTable(
      "chosen", .undo, .nextUse,
      "batch INTEGER, id INTEGER, collection INTEGER, key, what INTEGER", key: "batch, id",
      and: ["CREATE INDEX temp.chosen_key ON chosen(collection, key)"]),
    TemporaryTable(
      "caused", .undo, .nextUse, "batch INTEGER, via INTEGER, id INTEGER", key: "batch, via, id"),
    // The entries of one batch that move into another.
    TemporaryTable("moving", .undo, .nextUse),
    // Nodes that are erased, and what the trash has of them (`ErasedTraces.swift`).
    TemporaryTable("erased", .undo, .nextUse, "collection INTEGER, key", key: "collection, key"),
    TemporaryTable("erased_trash", .undo, .nextUse, "batch INTEGER, id INTEGER", key: "batch, id"),

    // MARK: Marks

    // What is marked, in the order in which it was found: the rows whose mark is followed, of level 0, and
    // what is marked because of them. `via` is the place of the one because of which. `is_done` is set for
    // what an earlier run marked.
    TemporaryTable(
      "marking", .marks, .nextUse,
      "seq INTEGER PRIMARY KEY, collection INTEGER NOT NULL, key NOT NULL, via INTEGER, name INTEGER, "
        + "rule INTEGER, value, old, is_done INTEGER NOT NULL DEFAULT 0",
      and: ["CREATE UNIQUE INDEX temp.marking_key ON marking(collection, key)"]),
    // Edges by which nodes follow those in the place `via`.
    TemporaryTable(
      "mark_reason", .marks, .nextUse,
      "collection INTEGER, key, rule INTEGER, name INTEGER, via INTEGER",
      key: "collection, key, rule, name, via",
      and: ["CREATE INDEX temp.mark_reason_via ON mark_reason(via)"]),
    // Nodes that lost edges which count, and whether some remain.
    TemporaryTable(
      "mark_counted", .marks, .nextUse,
      "id INTEGER PRIMARY KEY, collection INTEGER, key, rule INTEGER, name INTEGER, level INTEGER, "
        + "remains INTEGER NOT NULL DEFAULT 0",
      and: [
        "CREATE UNIQUE INDEX temp.mark_counted_key ON mark_counted(collection, key, rule, name)"
      ]),
    // Nodes that must not be marked, and why.
    TemporaryTable(
      "mark_denied", .marks, .nextUse, "collection INTEGER, key, why TEXT", key: "collection, key"),

    // MARK: Files

    TemporaryTable(
      "files_on_disk", .files, .snapshot, "root TEXT, path TEXT", key: "root, path"),
    TemporaryTable(
      "files_with_edges", .files, .snapshot,
      "root TEXT, path TEXT, collection TEXT, key, name TEXT", key: "root, path"),
  ]

  // MARK: - Tables that are also emptied alone

  /// Nodes without a number of their own: rows of the application, and files. A node that is in
  /// `cascade_node`, because a stored edge names it, has the same number here. The others are
  /// numbered behind the first row, which is no node. `row` is the rowid, if the table has one and
  /// the row exists. Numbers below zero are the exception: code that needs their keys adds them for
  /// the time of the flush.
  package static let known = TemporaryTable(
    "known", .transaction, .nextTransaction,
    "id INTEGER PRIMARY KEY, collection INTEGER NOT NULL, key, row INTEGER, "
      + "present INTEGER NOT NULL",
    and: [
      "CREATE UNIQUE INDEX temp.known_key ON known(collection, key) WHERE id > 0",
      "CREATE INDEX temp.known_row ON known(collection, row) WHERE id > 0 AND row IS NOT NULL",
      "INSERT INTO temp.known VALUES(\(NumberRange.temporary), 0, '', NULL, 0)",
    ],
    emptying: "DELETE FROM temp.known WHERE id <> \(NumberRange.temporary)")

  /// The keys of nodes that only a held plan would let go, or that were given up, while a scan of whole
  /// tables looks for nodes that nothing keeps.
  package static let waitingKeys = TemporaryTable(
    "waiting_keys", .heldPlans, .nextUse, "collection INTEGER, key", key: "collection, key")

  /// Rows on their way into `cascade_given_up`.
  package static let givenUp = TemporaryTable(
    "given_up", .heldPlans, .nextUse,
    "collection INTEGER, key, name INTEGER, via_collection INTEGER, via_key, rule INTEGER",
    key: "collection, key, name, via_collection, via_key")

  /// What a protected node's deletion would take along, as of now.
  package static let protectedKeys = TemporaryTable(
    "protected_keys", .heldPlans, .nextUse, "collection INTEGER, key", key: "collection, key")

  /// What is unmarked: the nodes with which it begins, and what was marked because of these.
  package static let comingBack = TemporaryTable(
    "coming_back", .marks, .nextUse,
    "seq INTEGER PRIMARY KEY, collection INTEGER NOT NULL, key NOT NULL, "
      + "is_first INTEGER NOT NULL DEFAULT 0, event INTEGER",
    and: ["CREATE UNIQUE INDEX temp.coming_back_key ON coming_back(collection, key)"])

  /// Nodes on their way into another table, before they have a number: `id` is null until then.
  package static let staged = TemporaryTable(
    "staged", .transaction, .call,
    "id INTEGER, collection INTEGER, key, row INTEGER, via INTEGER, name INTEGER, rule INTEGER, "
      + "asks INTEGER")

  /// Nodes that no root reaches, or that nothing refers to. A sweep starts from them as from `dead`.
  package static let unreachableNodes = TemporaryTable(
    "unreachable_nodes", .flush, .flush, "id INTEGER PRIMARY KEY, collection INTEGER")

  /// Rows of `cascade_candidate` that a sweep examines again: what kept their nodes may have ended.
  package static let dueCandidates = TemporaryTable(
    "due_candidates", .candidates, .nextUse,
    "id INTEGER PRIMARY KEY, collection INTEGER, key, via_collection INTEGER, via_key, "
      + "name INTEGER, rule INTEGER, stored INTEGER, edges TEXT, node INTEGER, via INTEGER, "
      + "via_there INTEGER NOT NULL DEFAULT 0, is_over INTEGER NOT NULL DEFAULT 0")

  /// Rows of `cascade_candidate` whose node an application has deleted since. What has the key now is
  /// another node.
  package static let endedCandidates = TemporaryTable("ended_candidates", .candidates, .nextUse)

  /// The edges of its name that lead to a candidate of rule 8. `source` tells the sources apart.
  package static let candidateEdges = TemporaryTable(
    "candidate_edges", .candidates, .call, "node INTEGER, name INTEGER, source TEXT",
    key: "node, name, source")

  /// The nodes that the roots lead to, in the order in which they were found.
  package static let reachableNodes = TemporaryTable(
    "reachable_nodes", .reachability, .call, "seq INTEGER PRIMARY KEY, id INTEGER NOT NULL UNIQUE")

  package static let unusedIdentities = TemporaryTable("unused_identities", .identities, .nextUse)
  package static let touched = TemporaryTable("touched", .validation, .transaction)
  package static let queriedFiles = TemporaryTable(
    "queried_files", .files, .nextUse, "collection INTEGER, key, id INTEGER",
    key: "collection, key, id")
}
