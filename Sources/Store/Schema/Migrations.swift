internal import CascadeSQLite

/// Statements that bring the tables of an older version to the next one, a list for each version.
extension Schema {
  /// From version 1, whose AUTOINCREMENT left a table of SQLite's own behind.
  static let from1: [StaticString] =
    [
      """
      INSERT OR REPLACE INTO cascade_meta
      SELECT substr(name, 9), seq FROM sqlite_sequence
      WHERE name IN ('cascade_notice', 'cascade_plan')
      """,
      "ALTER TABLE cascade_notice RENAME TO cascade_notice_1",
      "ALTER TABLE cascade_plan RENAME TO cascade_plan_1",
      "DROP INDEX cascade_notice_receiver",
    ]
    + history.filter { sql in
      [" cascade_notice", " cascade_plan"].contains { "\(sql)".mentions($0) }
    }
    + journal + [
      """
      INSERT INTO cascade_notice
      SELECT id, reason, iif(receiver = source, source_collection, destination_collection),
        iif(receiver = source, source_key, destination_key), name, source_collection, source_key,
        destination_collection, destination_key, rules, origin, batch, receiver_deleted
      FROM cascade_notice_1
      """,
      "INSERT INTO cascade_plan SELECT * FROM cascade_plan_1",
      "DROP TABLE cascade_notice_1", "DROP TABLE cascade_plan_1",
      "DELETE FROM sqlite_sequence WHERE name GLOB 'cascade_*'",
      "UPDATE cascade_meta SET value = 2 WHERE name = 'version'",
    ]

  /// From version 2, whose trash stored a row as a text. This trash still explains deletions, but
  /// they cannot be undone.
  static let from2: [StaticString] =
    [
      "ALTER TABLE cascade_ledger ADD COLUMN undone_at INTEGER",
      "ALTER TABLE cascade_ledger ADD COLUMN undone_by TEXT",
      "ALTER TABLE cascade_trash RENAME TO cascade_trash_2",
      "DROP INDEX cascade_trash_node",
      "DROP TABLE cascade_trash_edge",
    ] + trash + trashedFiles + leases + [
      """
      INSERT INTO cascade_trash_layout
      SELECT batch, collection, 'name', collection, '', '[]', 1, count(*), 0
      FROM cascade_trash_2 GROUP BY batch, collection
      """,
      """
      INSERT INTO cascade_trash(batch, id, part, layout, via, name, rule, c0)
      SELECT batch, id, 0, collection, via, name, rule, key FROM cascade_trash_2
      """,
      "DROP TABLE cascade_trash_2",
      "UPDATE cascade_meta SET value = 3 WHERE name = 'version'",
    ]

  /// From version 3, which did not detect denied rows that are displaced.
  static let from3: [StaticString] =
    journal + ["UPDATE cascade_meta SET value = 4 WHERE name = 'version'"]

  /// From version 4, which did not record which lists of references are written or declared again,
  /// and did not store references to missing nodes. The latter are read from the values again.
  static let from4: [StaticString] =
    journal + trash + unresolvedReferences + [
      "DELETE FROM cascade_meta WHERE name = 'references'",
      "UPDATE cascade_meta SET value = 5 WHERE name = 'version'",
    ]

  /// From version 5, which did not record when a file was released.
  static let from5: [StaticString] = [
    "ALTER TABLE cascade_released_file ADD COLUMN at INTEGER",
    "UPDATE cascade_meta SET value = 6 WHERE name = 'version'",
  ]

  /// From version 6, in which a change file could have the id of a sweep, and then blocked it.
  static let from6: [StaticString] =
    history + [
      "UPDATE OR REPLACE cascade_plan SET id = '' WHERE id = 'sweep' AND file GLOB '/*'",
      """
      UPDATE OR REPLACE cascade_ledger SET part = -1
      WHERE author = 'sweep' AND fingerprint = 0 AND id GLOB 'sweep-*'
      """,
      "UPDATE cascade_meta SET value = 7 WHERE name = 'version'",
    ]

  /// From version 7, which did not record what collections stand for.
  static let from7: [StaticString] = [
    "ALTER TABLE cascade_collection ADD COLUMN place TEXT",
    "UPDATE cascade_collection SET place = '?'",
    "UPDATE cascade_meta SET value = 8 WHERE name = 'version'",
  ]

  /// From version 8, whose watches named collections, and did not record which edges they describe.
  static let from8: [StaticString] = [
    """
    UPDATE cascade_watch SET meaning = json_set(meaning, '$.rows', coalesce(
      (SELECT id FROM cascade_collection WHERE name = meaning ->> 'rows'), -what))
    WHERE json_type(meaning, '$.rows') = 'text'
    """,
    "UPDATE cascade_meta SET value = 9 WHERE name = 'version'",
  ]
}
