package import PostgresBinding

/// Cascade's own tables: the schema `cascade`, which `detach` drops.
package enum OwnSchema {
  package static let tables =
    lists + LeaseTable.sql + FileRows.sql + KnownColumns.sql + HeldEdges.sql + ClockJumps.sql
    + KeptShapes.sql + RecentDeletions.sql + SparedCauses.sql + DeletedNumbers.sql + JobRows.sql
    + ProtectionRows.sql + MarkRows.sql

  private static let lists = """
    CREATE SCHEMA IF NOT EXISTS cascade;
    CREATE TABLE cascade.meta(key text PRIMARY KEY, value bigint NOT NULL);
    -- `place` are the numbers in the catalog of the table and of the columns of its key, `names` what the
    -- model called them, and `types` those of the key; null for objects.
    CREATE TABLE cascade.collection(
      number int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE, place text,
      names text, types text);
    CREATE TABLE cascade.relation(
      number int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL,
      source text NOT NULL, destination text NOT NULL, part text NOT NULL, place text,
      UNIQUE(name, source, destination, part));

    -- What others wrote since the last sweep began. `what` is a JournalSubject; `subject` numbers a
    -- collection or a relation. Of a row that is `told`, there are notices already. One with a `kind` is only for
    -- sweeps of that kind, because one of another kind has left it. Of the rows that a statement of an application
    -- causes, only the first has a `seq`: an index of all would take as long as to write them. `plan` is the
    -- held plan to which a row belongs (`Causes`): triggers leave it out, and so it costs them nothing.
    -- `is_manual` tells of a stored edge whether a change had added it, or its source declared it. `row` and
    -- `shape` are those of a row that an application deleted, as in `deleted`, if they are kept.
    CREATE SEQUENCE cascade.journal_seq;
    CREATE TABLE cascade.journal(
      seq bigint DEFAULT nextval('cascade.journal_seq'), what smallint NOT NULL,
      subject int NOT NULL, key text NOT NULL, other text, told boolean NOT NULL DEFAULT false,
      kind text, at bigint, plan bigint, is_manual boolean, row text, shape bigint);
    CREATE INDEX journal_order ON cascade.journal(seq) WHERE seq IS NOT NULL;
    -- For keys that are used again: `at` numbers the statement where that matters.
    CREATE INDEX journal_keys ON cascade.journal(subject, key) WHERE \(UsedKeys.tellsOfRows);
    -- What a batch took from the journal, and what it has found. A row that was examined is `done`, and
    -- stays until the end of the batch. What waits because a node had to stay is in the batch 0, and may
    -- belong to a held `plan`. What a batch deletes itself is in `deleted`, and not here.
    CREATE TABLE cascade.work(
      id bigint GENERATED ALWAYS AS IDENTITY (CACHE 1000), batch bigint NOT NULL, what smallint NOT NULL,
      subject int NOT NULL, key text NOT NULL, other text, done boolean NOT NULL DEFAULT false,
      told boolean NOT NULL DEFAULT false, plan bigint, is_manual boolean);
    CREATE INDEX work_open ON cascade.work(batch, what, subject, id) WHERE NOT done;
    CREATE INDEX work_done ON cascade.work(batch, what, subject, \(survivor("work"))) WHERE done;
    -- Up to which row of `deleted` a batch has followed what it deleted.
    CREATE TABLE cascade.followed(
      batch bigint NOT NULL, collection int NOT NULL, id bigint NOT NULL,
      PRIMARY KEY(batch, collection));
    -- What went, to be looked for again when the transactions of that time have ended.
    CREATE TABLE cascade.recheck(
      xid xid8 NOT NULL DEFAULT pg_current_xact_id(), collection int NOT NULL, key text NOT NULL);
    -- Edges that outlived their destination by then, and were told of.
    CREATE TABLE cascade.outlived(
      xid xid8 NOT NULL DEFAULT pg_current_xact_id(), relation int NOT NULL, key text NOT NULL,
      other text NOT NULL);
    CREATE INDEX outlived_edges ON cascade.outlived(relation, other);
    -- The daemon sleeps while there is a row, and wants to be notified.
    CREATE TABLE cascade.asleep(since timestamptz NOT NULL DEFAULT now());

    -- Nodes that a sweep found unreachable, in the order in which it looks at them again. One that
    -- `is_kept` is held by a node that is none of them, or that is kept; one that `is_denied` stays, but
    -- holds no other. `skipped` is the transaction in which another session had locked it: such a
    -- row stays behind the sweep, so that another one comes.
    CREATE TABLE cascade.unreached(
      id bigint GENERATED ALWAYS AS IDENTITY (CACHE 1000), collection int NOT NULL, key text NOT NULL,
      is_denied boolean NOT NULL, is_kept boolean NOT NULL DEFAULT false, skipped xid8,
      PRIMARY KEY(collection, key));
    CREATE INDEX unreached_open ON cascade.unreached(id) WHERE NOT is_kept AND NOT is_denied;
    -- The leases without which the last sweep would have found more of them.
    CREATE TABLE cascade.reaching_lease(collection text NOT NULL, key text);

    -- Nodes that went. `rule`, `via` and `others` say why; they are null for what an application or a
    -- change file deleted. Of those that a rule deleted, and from which something may follow
    -- (`follows`), the order of `id` is the order in which the batch follows them. What a step of a
    -- sweep deletes shares rows: `bucket` is the same for all nodes of a row, and is by what a key is
    -- found; `size` is how many they are. `rows` are the texts of the rows, if they are kept, and `shape` is
    -- what their table was like; null for one of Cascade's own. `level` is how far a node that a job had
    -- planned is from where the job begins; `place` is what `id` would be of a cause that was deleted after
    -- what followed from it. Of a key that a batch deleted twice, the
    -- last one counts.
    CREATE TABLE cascade.deleted(
      id bigint GENERATED ALWAYS AS IDENTITY (CACHE 1000), batch bigint NOT NULL,
      collection int NOT NULL, via int, rule smallint, is_own boolean NOT NULL,
      follows boolean NOT NULL DEFAULT false, bucket int NOT NULL,
      size int NOT NULL DEFAULT 1, shape bigint, level int, place bigint, keys text[] NOT NULL, others text[],
      rows text[]);
    -- To compress them would take longer than to write them.
    ALTER TABLE cascade.deleted ALTER keys SET STORAGE EXTERNAL, ALTER others SET STORAGE EXTERNAL,
      ALTER rows SET STORAGE EXTERNAL;
    CREATE INDEX deleted_batches ON cascade.deleted(batch, id);
    CREATE INDEX deleted_followed ON cascade.deleted(batch, collection, id) WHERE follows;
    CREATE INDEX deleted_buckets ON cascade.deleted(collection, bucket);
    CREATE INDEX deleted_kept ON cascade.deleted(batch) WHERE rows IS NOT NULL;
    CREATE VIEW cascade.deleted_node AS
      SELECT d.id, d.batch, d.collection, d.via, d.rule, d.is_own, d.follows, d.bucket, n.key, n.other,
        n.row, d.shape
      FROM cascade.deleted d, unnest(d.keys, d.others, d.rows) n(key, other, row);
    -- References that rule 64 removed: `value` is the reference, or the whole list, of which `rest`
    -- is what was left. It is owed to the row, and ends with it.
    CREATE TABLE cascade.nullified(
      batch bigint NOT NULL, relation int NOT NULL, key text NOT NULL, value text NOT NULL,
      rest text);
    CREATE INDEX nullified_batches ON cascade.nullified(batch);
    CREATE INDEX nullified_rows ON cascade.nullified(relation, key);
    -- Join rows that were removed with one of their ends.
    CREATE TABLE cascade.unlinked(
      id bigint GENERATED ALWAYS AS IDENTITY (CACHE 1000), batch bigint NOT NULL,
      relation int NOT NULL, row text, shape bigint);
    CREATE INDEX unlinked_batches ON cascade.unlinked(batch);
    -- Nodes that the last sweep left. `why` is what a constraint or a trigger of the application says;
    -- null if a rule denies the deletion, or a lease holds the node.
    CREATE TABLE cascade.blocked(
      collection int NOT NULL, key text NOT NULL, why text, is_leased boolean NOT NULL DEFAULT false,
      PRIMARY KEY(collection, key));
    CREATE TABLE cascade.notice(
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, relation int NOT NULL,
      source text NOT NULL, destination text NOT NULL, lost_source boolean NOT NULL,
      batch bigint NOT NULL, at bigint NOT NULL, is_manual boolean);
    CREATE INDEX notice_batches ON cascade.notice(batch);

    CREATE SEQUENCE cascade.batch;
    CREATE TABLE cascade.ledger(
      batch bigint PRIMARY KEY, id text NOT NULL, part bigint NOT NULL, author text,
      fingerprint bigint NOT NULL, at bigint NOT NULL, is_last boolean NOT NULL,
      line bigint NOT NULL, deleted bigint NOT NULL, edges bigint NOT NULL,
      notices bigint NOT NULL, skipped bigint NOT NULL, undone_at bigint, undone_by text,
      origin bigint);
    CREATE INDEX ledger_ids ON cascade.ledger(id, batch);
    CREATE TABLE cascade.verdict(
      name bytea PRIMARY KEY, fingerprint bigint NOT NULL, reasons text);
    -- `lost` is how many references would be removed to nodes that no trigger saw go; `value` tells
    -- which, if the plan is about one value that may mean "none". One that `owns_causes` has rows of the
    -- journal, and `is_of_sum` if they are held only for what was deleted lately. `at` is since when it waits,
    -- of one that is not a file's.
    CREATE TABLE cascade.plan(
      number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, file text NOT NULL, id text NOT NULL,
      checksum bigint NOT NULL, deleted bigint NOT NULL, by_collection text NOT NULL,
      is_approved boolean NOT NULL DEFAULT false, lost bigint NOT NULL DEFAULT 0, value text,
      owns_causes boolean NOT NULL DEFAULT false, is_of_sum boolean NOT NULL DEFAULT false,
      at bigint);
    CREATE TABLE cascade.sweep_time(
      kind text PRIMARY KEY, since bigint, at bigint, outcome text, occasion text);
    """

  /// The end of an edge in a row of `work` that was not lost.
  package static func survivor(_ row: String) -> String {
    """
    (CASE \(row).what WHEN \(JournalSubject.widowed.rawValue) THEN \(row).key ELSE \(row).other END)
    """
  }

  /// The bucket of a node that has a row of `deleted` for itself.
  package static func bucket(_ key: String) -> String { "(64 + (hashtext(\(key)) & 65535))" }

  /// The bucket of nodes that share one.
  package static func sharedBucket(_ key: String) -> String { "(hashtext(\(key)) & 63)" }

  // MARK: - Objects and stored edges

  package static func objects(_ table: MappedTable) -> String {
    "CREATE TABLE IF NOT EXISTS \(table.name)(key text PRIMARY KEY, type text, value text)"
  }

  /// A text as JSON; null if it is none.
  package static let json = """
    CREATE OR REPLACE FUNCTION cascade.json(value text) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE STRICT AS $$
      BEGIN RETURN value::pg_catalog.jsonb; EXCEPTION WHEN others THEN RETURN NULL; END $$
    """

  /// `added` is the batch that added the edge.
  package static func edges(_ join: JoinTable) -> String {
    let ends = join.source.all + join.destination.all
    let columns = ends.map { "\($0.name) \($0.family.type) NOT NULL" }.joined(separator: ", ")
    let name = String(join.name.dropFirst("cascade.".utf8.count))
    return """
      CREATE TABLE IF NOT EXISTS \(join.name)(
        \(columns), is_declared boolean NOT NULL, added bigint NOT NULL,
        PRIMARY KEY(\(Columns(ends).names), is_declared));
      CREATE INDEX IF NOT EXISTS \(name)_to ON \(join.name)(\(join.destination.names));
      CREATE INDEX IF NOT EXISTS \(name)_added ON \(join.name)(added)
      """
  }

  /// The same for edges to files.
  static func files(_ stored: StoredPaths) -> String {
    let ends = stored.source.all.map { "\($0.name) \($0.family.type) NOT NULL" }
    let name = String(stored.name.dropFirst("cascade.".utf8.count))
    return """
      CREATE TABLE IF NOT EXISTS \(stored.name)(
        \(ends.joined(separator: ", ")), path text NOT NULL, is_declared boolean NOT NULL,
        added bigint NOT NULL, PRIMARY KEY(\(stored.source.names), path, is_declared));
      CREATE INDEX IF NOT EXISTS \(name)_to ON \(stored.name)(path);
      CREATE INDEX IF NOT EXISTS \(name)_added ON \(stored.name)(added)
      """
  }
}
