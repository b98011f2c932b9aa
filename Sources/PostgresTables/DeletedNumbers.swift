package import CascadePostgres

/// What went, by numbers: for programs that do something for each deleted node, and once.
///
/// 1. What a batch took gets numbers when the batch has ended, in the transaction that ends it.
/// 2. Causes come before what follows from them: what an application deleted itself; what a job had planned, by
///    its level, although it deletes what refers to a row before the row; then the others as they went.
package enum DeletedNumbers {
  static let sql = """
    -- What went, by numbers: that of the first of the keys. `source` is the row of `deleted` that had these
    -- keys. A node that was erased has no key.
    -- `at`, `kind` and `author` are what the ledger said, which may be forgotten before.
    CREATE TABLE cascade.went(
      number bigint PRIMARY KEY, batch bigint NOT NULL, collection int NOT NULL, is_own boolean NOT NULL,
      source bigint NOT NULL, at bigint NOT NULL, kind bigint NOT NULL, author text, keys text[] NOT NULL);
    CREATE INDEX went_batches ON cascade.went(batch);
    """

  /// The statement that gives numbers to what a batch took that has ended. It may be run again.
  package static func taking(_ batch: Int64) -> Statement {
    Statement(
      """
      WITH d AS (
          SELECT id, collection, is_own, keys, size,
            (sum(size) OVER (ORDER BY is_own, level NULLS LAST, coalesce(place, id), id) - size)::bigint AS before
          FROM cascade.deleted WHERE batch = $1::bigint AND (is_own OR rows IS NOT NULL)
          AND NOT EXISTS (SELECT FROM cascade.went WHERE batch = $1::bigint)),
        l AS (SELECT coalesce(max(value), 0) AS number FROM cascade.meta WHERE key = 'deleted.last'),
        m AS (INSERT INTO cascade.meta(key, value)
          SELECT 'deleted.last', l.number + sum(d.size) FROM d, l GROUP BY l.number
          ON CONFLICT(key) DO UPDATE SET value = excluded.value)
      INSERT INTO cascade.went(number, batch, collection, is_own, source, at, kind, author, keys)
      SELECT l.number + d.before + 1, $1::bigint, d.collection, d.is_own, d.id, b.at, b.part, b.author, d.keys
      FROM d, l, cascade.ledger b WHERE b.batch = $1::bigint
      """, ["\(batch)"])
  }

  /// The statements that forget those that begin at the numbers of the array `$1`.
  package static let forgetting = [
    """
    INSERT INTO cascade.meta(key, value)
    SELECT 'deleted.forgotten', max(number + cardinality(keys) - 1) FROM cascade.went
    WHERE number = ANY($1::bigint[]) HAVING count(*) > 0
    ON CONFLICT(key) DO UPDATE SET value = excluded.value
    """, "DELETE FROM cascade.went WHERE number = ANY($1::bigint[])",
  ]
}
