/// The tables of what is marked as gone for others (`softDelete`).
package enum MarkRows {
  static let sql = """
    -- Rows that were marked or unmarked since that was last followed, with the values before, as a JSON list. `job`
    -- is the one that follows it. Triggers write the rows.
    CREATE TABLE IF NOT EXISTS cascade.mark(
      seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, collection int NOT NULL, key text NOT NULL,
      marked boolean NOT NULL, old text, job bigint);
    CREATE INDEX IF NOT EXISTS mark_jobs ON cascade.mark(job);
    -- Why rows are marked: because others are, by a rule of an edge; or by themselves, with rule 0. `batch` is that
    -- of the job that followed the mark.
    CREATE TABLE IF NOT EXISTS cascade.marked(
      collection int NOT NULL, key text NOT NULL, via_collection int NOT NULL, via_key text NOT NULL,
      name text NOT NULL, rule smallint NOT NULL, batch bigint, at bigint NOT NULL, old text,
      PRIMARY KEY(collection, key, rule, name, via_collection, via_key));
    CREATE INDEX IF NOT EXISTS marked_via ON cascade.marked(via_collection, via_key);
    CREATE INDEX IF NOT EXISTS marked_batches ON cascade.marked(batch);
    -- The plan of a job, which is made anew when the job goes on. `marking` has what is marked, in the order in which
    -- it was found: the rows whose mark is followed, and what is marked because of them. `via` is the place of the one
    -- because of which. What an earlier run marked is done.
    CREATE UNLOGGED TABLE IF NOT EXISTS cascade.marking(
      job bigint NOT NULL, seq bigint GENERATED ALWAYS AS IDENTITY, collection int NOT NULL, key text NOT NULL,
      via bigint, name text, rule smallint, value text, type text, old text,
      is_done boolean NOT NULL DEFAULT false, PRIMARY KEY(job, collection, key));
    CREATE INDEX IF NOT EXISTS marking_order ON cascade.marking(job, seq);
    -- Edges by which nodes follow those in the place `via`; nodes that lost edges which count, and whether some remain;
    -- nodes that must not be marked, and why.
    CREATE UNLOGGED TABLE IF NOT EXISTS cascade.mark_reason(
      collection int NOT NULL, key text NOT NULL, rule smallint NOT NULL, name text NOT NULL, via bigint NOT NULL,
      PRIMARY KEY(collection, key, rule, name, via));
    CREATE INDEX IF NOT EXISTS mark_reason_via ON cascade.mark_reason(via);
    CREATE UNLOGGED TABLE IF NOT EXISTS cascade.mark_counted(
      collection int NOT NULL, key text NOT NULL, rule smallint NOT NULL, name text NOT NULL, level bigint NOT NULL,
      remains boolean NOT NULL DEFAULT false, PRIMARY KEY(collection, key, rule, name));
    CREATE UNLOGGED TABLE IF NOT EXISTS cascade.mark_denied(
      collection int NOT NULL, key text NOT NULL, why text NOT NULL, PRIMARY KEY(collection, key));
    -- What is unmarked: the nodes with which it begins, and what was marked because of these; and the row of `mark` by
    -- which a trigger told of it.
    CREATE UNLOGGED TABLE IF NOT EXISTS cascade.coming_back(
      seq bigint GENERATED ALWAYS AS IDENTITY, collection int NOT NULL, key text NOT NULL,
      is_first boolean NOT NULL DEFAULT false, event bigint, PRIMARY KEY(collection, key));
    """

  /// Within a transaction, triggers do not tell what the daemon marks.
  package static let marking = "SELECT set_config('cascade.marking', 'on', true)"
  static let isMarking =
    "current_setting('cascade.marking', true) IS NOT DISTINCT FROM 'on' AND pg_trigger_depth() = 1"
}
