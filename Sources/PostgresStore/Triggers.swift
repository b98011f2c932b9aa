internal import CascadeModel
internal import CascadePostgres

/// The triggers by which a table of the application writes the journal.
///
/// They are quiet for what the daemon itself writes, and not for what triggers and foreign keys of
/// the application write in response to it, which they see as nested. An application cannot forge the
/// name of its session's role.
struct Triggers {
  let binding: Binding
  let role: String

  struct Trigger {
    let name: String
    let table: String
    let function: String
    fileprivate let text: String

    /// A comment at the function tells whether it is this one.
    var fingerprint: String { "\(Fingerprint(text).signed)" }

    /// Only the table's owner may drop a trigger, but it goes with its function.
    var sql: String {
      """
      DROP FUNCTION IF EXISTS \(function)() CASCADE;
      \(text);
      COMMENT ON FUNCTION \(function)() IS \(literal(fingerprint))
      """
    }
  }

  /// The functions and triggers of all tables, in the order in which they are created.
  var all: [Trigger] { binding.tables.values.sorted { $0.number < $1.number }.flatMap(triggers) }

  private func triggers(of table: MappedTable) -> [Trigger] {
    let isRelated =
      !binding.relations(from: table).isEmpty || !binding.relations(to: table).isEmpty
    if !isRelated { return [] }
    return [gone(table), changed(table), truncated(table)] + arrived(table)
  }

  private var isOthers: String { "(session_user <> \(literal(role)) OR pg_trigger_depth() > 0)" }

  private static let wake =
    "IF EXISTS (SELECT FROM cascade.asleep) THEN PERFORM pg_notify('cascade', ''); END IF;"

  private func trigger(
    _ kind: String, on table: MappedTable, _ event: String, body: String
  ) -> Trigger {
    let function = "cascade.\(kind)_\(table.number)"
    return Trigger(
      name: "cascade_\(kind)", table: table.name, function: function,
      text: """
        CREATE FUNCTION \(function)() RETURNS trigger LANGUAGE plpgsql
        SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS \(literal("""
          BEGIN
          \(body)
          \(Triggers.wake)
          RETURN NULL;
          END
          """));
        REVOKE ALL ON FUNCTION \(function)() FROM PUBLIC;
        CREATE TRIGGER cascade_\(kind) AFTER \(event)
        EXECUTE FUNCTION \(function)()
        """)
  }

  // MARK: - Rows that go

  private func gone(_ table: MappedTable) -> Trigger {
    let edges = binding.relations(from: table).filter { !$0.rules.isDisjoint(with: .losingSource) }
    let statements =
      [denials(table, "old o")]
      + [
        """
        INSERT INTO cascade.journal(what, subject, key)
        SELECT \(JournalSubject.gone.rawValue), \(table.number), o.\(table.key)::text FROM old o;
        """
      ]
      + edges.map { relation in
        """
        INSERT INTO cascade.journal(what, subject, key, other)
        SELECT \(JournalSubject.lost.rawValue), \(relation.number), o.\(table.key)::text,
        o.\(relation.column)::text FROM old o WHERE o.\(relation.column) IS NOT NULL;
        """
      }
    return trigger(
      "gone", on: table,
      """
      DELETE ON \(table.name) REFERENCING OLD TABLE AS old FOR EACH STATEMENT WHEN \(isOthers)
      """, body: statements.joined(separator: "\n"))
  }

  /// Refuses a deletion at once. What a response to the daemon's own writes deletes is not refused,
  /// because that would end the sweep.
  private func denials(_ table: MappedTable, _ old: String) -> String {
    let byDestination = binding.relations(to: table).filter {
      $0.rules.contains(.denyDestinationDeletion)
    }.map { relation in
      denial(
        relation,
        """
        \(old) JOIN \(relation.source.name) s ON s.\(relation.column) = o.\(table.key)
        """)
    }
    let bySource = binding.relations(from: table).filter {
      $0.rules.contains(.denySourceDeletion)
    }.map { relation in
      let other = relation.destination
      return denial(
        relation, "\(old) JOIN \(other.name) t ON t.\(other.key) = o.\(relation.column)")
    }
    return (byDestination + bySource).joined(separator: "\n")
  }

  private func denial(_ relation: ColumnRelation, _ rows: String) -> String {
    let message =
      "Cascade: \"\(relation.name)\" from \"\(relation.relationship.from)\" denies this deletion"
    return """
      IF session_user <> \(literal(role)) AND EXISTS (SELECT FROM \(rows)) THEN
        RAISE EXCEPTION USING ERRCODE = 'foreign_key_violation', MESSAGE = \(literal(message));
      END IF;
      """
  }

  /// A truncation does not tell which rows are gone, so whole tables are looked through.
  private func truncated(_ table: MappedTable) -> Trigger {
    trigger(
      "truncated", on: table,
      "TRUNCATE ON \(table.name) FOR EACH STATEMENT",
      body: """
        INSERT INTO cascade.meta(key, value) VALUES('watch_gap', 1) ON CONFLICT DO NOTHING;
        """)
  }

  // MARK: - Keys and references that change

  /// UPDATE OF has no transition tables, so this is a trigger of rows.
  private func changed(_ table: MappedTable) -> Trigger {
    let relations = binding.relations(from: table)
    let columns = [table.key] + relations.map(\.column)
    let isChanged = columns.map { "OLD.\($0) IS DISTINCT FROM NEW.\($0)" }
    return trigger(
      "changed", on: table,
      """
      UPDATE ON \(table.name) FOR EACH ROW
      WHEN (\(isOthers) AND (\(isChanged.joined(separator: " OR "))))
      """,
      body: ([keyChange(table)] + relations.map(referenceChange)).joined(separator: "\n"))
  }

  private func keyChange(_ table: MappedTable) -> String {
    """
    IF OLD.\(table.key) IS DISTINCT FROM NEW.\(table.key) THEN
      \(denials(table, "(SELECT OLD.*) o"))
      INSERT INTO cascade.journal(what, subject, key)
      VALUES(\(JournalSubject.gone.rawValue), \(table.number), OLD.\(table.key)::text);
    END IF;
    """
  }

  private func referenceChange(_ relation: ColumnRelation) -> String {
    let (key, column) = (relation.source.key, relation.column)
    var parts: [String] = []
    if !relation.rules.isDisjoint(with: .losingSource) {
      parts.append(
        """
        IF OLD.\(column) IS NOT NULL AND (OLD.\(column) IS DISTINCT FROM NEW.\(column)
          OR OLD.\(key) IS DISTINCT FROM NEW.\(key)) THEN
          INSERT INTO cascade.journal(what, subject, key, other)
          VALUES(\(JournalSubject.lost.rawValue), \(relation.number), OLD.\(key)::text,
          OLD.\(column)::text);
        END IF;
        """)
    }
    let arrival = arrival(relation, "(SELECT NEW.\(key), NEW.\(column)) n")
    if !arrival.isEmpty {
      parts.append("IF OLD.\(column) IS DISTINCT FROM NEW.\(column) THEN\n\(arrival)\nEND IF;")
    }
    return parts.joined(separator: "\n")
  }

  // MARK: - References that come

  private func arrived(_ table: MappedTable) -> [Trigger] {
    let body = binding.relations(from: table).map { arrival($0, "new n") }.filter { !$0.isEmpty }
    if body.isEmpty { return [] }
    return [
      trigger(
        "arrived", on: table,
        """
        INSERT ON \(table.name) REFERENCING NEW TABLE AS new FOR EACH STATEMENT WHEN \(isOthers)
        """, body: body.joined(separator: "\n"))
    ]
  }

  /// Holds what a counting rule could delete until the transaction ends, and journals a reference
  /// that came too late.
  private func arrival(_ relation: ColumnRelation, _ new: String) -> String {
    let (column, other) = (relation.column, relation.destination)
    var statements: [String] = []
    if binding.mayKeepDestination(relation) {
      statements.append(
        """
        PERFORM 1 FROM \(other.name) t WHERE t.\(other.key) IN (SELECT n.\(column) FROM \(new))
        ORDER BY t.\(other.key) FOR KEY SHARE;
        """)
    }
    if !relation.rules.isDisjoint(with: .losingDestination) {
      statements.append(
        """
        INSERT INTO cascade.journal(what, subject, key, other)
        SELECT \(JournalSubject.arrived.rawValue), \(relation.number),
        n.\(relation.source.key)::text, n.\(column)::text FROM \(new)
        WHERE n.\(column) IS NOT NULL AND NOT EXISTS (
          SELECT FROM \(other.name) t WHERE t.\(other.key) = n.\(column));
        """)
    }
    return statements.joined(separator: "\n")
  }
}

extension Rules {
  /// The rules that something follows from when an edge loses its source.
  static let losingSource: Rules = [
    .notifyIfSourceDeleted, .deleteDestinationIfSourceDeleted,
    .deleteDestinationIfAllSourcesDeleted, .denySourceDeletion,
  ]

  /// The rules by which no reference to nothing is left.
  static let removingSource: Rules = [
    .deleteSourceIfDestinationDeleted, .nullifySourceIfDestinationDeleted,
  ]

  static let losingDestination: Rules = [
    .notifyIfDestinationDeleted, .deleteSourceIfDestinationDeleted,
    .deleteSourceIfAllDestinationsDeleted, .nullifySourceIfDestinationDeleted,
  ]

}
