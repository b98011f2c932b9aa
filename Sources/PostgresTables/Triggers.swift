internal import CascadeModel
internal import CascadePostgres
internal import PostgresBinding

/// The triggers by which a table of the application writes the journal.
///
/// They are quiet for what the daemon itself writes, and not for what triggers and foreign keys of
/// the application write in response to it, which they see as nested. An application cannot forge the
/// name of its session's role.
package struct Triggers {
  let binding: Binding
  let dialect: Dialect
  private let model: StoreModel
  let role: String
  /// What each trigger does at its end.
  let wake: String

  /// The collections of which nodes are protected.
  private let protected: Set<Int64>

  package init(_ store: StoreConnection, role: String) throws {
    protected = try ProtectionRows.collections(store.db)
    (binding, dialect, self.role) = (store.binding.watched, store.dialect, role)
    model = store.model
    wake = Notification.wake(store.server.location)
  }

  package struct Trigger {
    package let name: String
    package let table: String
    package let function: String
    package let text: String

    /// A comment at the function tells whether it is this one.
    package var fingerprint: String { "\(Fingerprint(text).signed)" }

    /// Only the table's owner may drop a trigger, but it goes with its function.
    package var sql: String {
      """
      DROP FUNCTION IF EXISTS \(function)() CASCADE;
      \(text);
      COMMENT ON FUNCTION \(function)() IS \(literal(fingerprint))
      """
    }
  }

  /// The functions and triggers of all tables, in the order in which they are created.
  package var all: [Trigger] {
    binding.tables.values.sorted { $0.number < $1.number }.flatMap(triggers)
      + binding.relations.flatMap(triggers) + leases + files
  }

  private func triggers(of table: MappedTable) -> [Trigger] {
    let isRelated =
      !binding.relations(from: table).isEmpty || !binding.relations(to: table).isEmpty
      || !binding.storedFiles(of: table).isEmpty
      || EdgeEnd.allCases.contains { binding.isPartlySeen(table.collection, at: $0) }
    if table.isManaged { return [] }
    return triggersOfChanges(of: table, isRelated) + markTrigger(table)
  }

  private func triggersOfChanges(of table: MappedTable, _ isRelated: Bool) -> [Trigger] {
    if !isRelated && protected.contains(table.number) {
      return gone(table) + [changed(table)] + truncated(table)
    }
    if !isRelated { return model.keepsDeleted(table.collection) ? gone(table) : [] }
    return gone(table) + [changed(table)] + truncated(table) + arrived(table)
  }

  var isOthers: String { "(session_user <> \(literal(role)) OR pg_trigger_depth() > 0)" }

  func trigger(
    _ kind: String, on table: MappedTable, _ event: String, body: String, judges: Bool = false
  ) -> Trigger {
    trigger(
      "cascade_\(kind)", on: table.name, "\(kind)_\(table.number)", event, body, judges: judges)
  }

  /// `row` is what a trigger before the event makes of the row. One that `judges` reads rows of which none
  /// may be hidden.
  func trigger(
    _ name: String, on table: String, _ function: String, _ event: String, _ body: String,
    before row: String? = nil, judges: Bool = false
  ) -> Trigger {
    let function = "cascade.\(function)"
    let settings = binding.settings + (judges ? " SET row_security = on" : "")
    return Trigger(
      name: name, table: table, function: function,
      text: """
        CREATE FUNCTION \(function)() RETURNS trigger LANGUAGE plpgsql
        SECURITY DEFINER SET search_path = pg_catalog, pg_temp\(settings) AS \(literal("""
          BEGIN
          \(body)
          \(wake)
          RETURN \(row ?? "NULL");
          END
          """));
        REVOKE ALL ON FUNCTION \(function)() FROM PUBLIC;
        CREATE TRIGGER \(name) \(row == nil ? "AFTER" : "BEFORE") \(event)
        EXECUTE FUNCTION \(function)()\(ofPartitions(name, on: table, event, function))
        """)
  }

  /// What begins an insertion into the journal.
  private static func journaling(_ columns: String) -> String {
    """
    INSERT INTO cascade.journal(seq, \(columns))
    SELECT CASE WHEN row_number() OVER () = 1 THEN nextval('cascade.journal_seq') END,
    """
  }

  // MARK: - Rows that go

  /// The loss of a node; nothing if nothing may follow from it, and nothing is owed to it: what is ends
  /// with the node.
  private func gone(_ table: MappedTable, _ keys: String, isDeletion: Bool = false) -> String {
    let at = binding.hasOrder(table) ? UsedKeys.now : "NULL"
    let isKept = isDeletion && model.keepsDeleted(table.collection)
    let row = isKept ? "(o.*)::text, \(KeptShapes.now(table.name)), " : ""
    let loss = """
      \(Triggers.journaling("what, subject, at, \(isKept ? "row, shape, " : "")key")) \(JournalSubject.gone.rawValue), \(table.number), \(at), \(row)\(keys);
      """
    if isKept || binding.isMissed(table) || binding.mayHaveLost(table) { return loss }
    if !binding.isDeniable(table) { return "" }
    return """
      IF EXISTS (SELECT FROM cascade.blocked b WHERE b.collection = \(table.number)) THEN
        \(loss)
      END IF;
      """
  }

  /// Ends what is owed to rows that go: a row that is made under the key of one is another row. To such a
  /// row nothing is owed, and to the one that a later batch has deleted it is owed still.
  private func owed(_ table: MappedTable, _ keys: String) -> String {
    let emptied = binding.relations(from: table).filter {
      $0.join == nil && $0.rules.contains(.nullifySourceIfDestinationDeleted)
    }.map { "\($0.number)" }
    if emptied.isEmpty { return "" }
    return """
      IF EXISTS (SELECT FROM cascade.nullified) THEN
        DELETE FROM cascade.nullified n
        WHERE n.relation IN (\(emptied.joined(separator: ", "))) AND n.key IN (SELECT \(keys))
        AND NOT \(table.wasDeleted("n.key", laterThan: "n.batch"));
      END IF;
      """
  }

  private func gone(_ table: MappedTable) -> [Trigger] {
    let edges = binding.relations(from: table).filter {
      $0.join == nil && !$0.rules.isDisjoint(with: .missingTheEdge)
    }
    let (event, old) = dialect(of: table.name).deletion(from: table.name)
    let denials = denials(table, old)
    let keys = "\(table.key.text("o")) FROM \(old)"
    let statements =
      [protection(table, old), denials, gone(table, keys, isDeletion: true), owed(table, keys)]
      + edges.map { lost($0, old) }
    let body = statements.filter { !$0.isEmpty }.joined(separator: "\n")
    if body.isEmpty { return [] }
    return [
      trigger(
        "gone", on: table, "\(event) WHEN \(isOthers)", body: body, judges: !denials.isEmpty)
    ]
  }

  /// Journals the loss of the edges in the rows `o`.
  private func lost(_ relation: EdgeRelation, _ old: String) -> String {
    let source = relation.join?.source ?? relation.source.key
    let (from, to) = (relation.from(in: "o"), relation.to(in: "o"))
    let isOne = relation.isOnlyCounted
    let at = binding.mayHaveLost(relation.destination) ? UsedKeys.now : "NULL"
    return """
      \(Triggers.journaling("what, subject, key, at, other")) \(JournalSubject.lost.rawValue), \(relation.number), \(isOne ? "min(\(from))" : from),
      \(at), \(to) FROM \(old)\(relation.references(of: "o"))
      WHERE \(relation.isEdge(in: "o")) AND \(source.isComplete("o"))\(wasThere(relation))
      \(isOne ? "GROUP BY \(to)" : "");
      """
  }

  /// Where nothing tells to which table a reference leads, it was an edge only to rows that are there:
  /// one that comes later has not lost it.
  private func wasThere(_ relation: EdgeRelation) -> String {
    if relation.alternatives.isEmpty { return "" }
    let leads = relation.leads(to: "t", in: "o")
    return " AND EXISTS (SELECT FROM \(relation.destination.name) t WHERE \(leads))"
  }

  /// A truncation does not tell which rows are gone, so whole tables are looked through.
  private func truncated(_ table: MappedTable) -> [Trigger] {
    truncated(
      "cascade_truncated", on: table.name, "truncated_\(table.number)",
      protectionFromTruncation(table))
  }

  private func truncated(
    _ name: String, on table: String, _ function: String, _ first: String = ""
  ) -> [Trigger] {
    dialect.truncation(of: table).map {
      trigger(name, on: table, function, $0, first + Triggers.isGap)
    }
  }

  private static let isGap =
    "INSERT INTO cascade.meta(key, value) VALUES('watch_gap', 1) ON CONFLICT DO NOTHING;"

  // MARK: - Keys and references that change

  /// UPDATE OF has no transition tables, so this is a trigger of rows.
  private func changed(_ table: MappedTable) -> Trigger {
    let relations = binding.relations(from: table).filter { $0.join == nil }
    let isChanged =
      [table.key.areDistinct("OLD", "NEW")] + relations.map { $0.mayBeChanged("OLD", "NEW") }
    return trigger(
      "changed", on: table,
      """
      UPDATE ON \(table.name) FOR EACH ROW
      WHEN (\(isOthers) AND (\(isChanged.joined(separator: " OR "))))
      """,
      body: ([keyChange(table)] + relations.map(referenceChange)).joined(separator: "\n"),
      judges: !denials(table, "old").isEmpty)
  }

  private func keyChange(_ table: MappedTable) -> String {
    let key = table.key.text("OLD")
    let body = [
      protection(table, "(SELECT OLD.*) o"), denials(table, "(SELECT OLD.*) o"), gone(table, key),
      owed(table, key),
      reused(table, "(SELECT NEW.*) n"),
    ]
    .filter { !$0.isEmpty }.joined(separator: "\n")
    return body.isEmpty ? "" : "IF \(table.key.areDistinct("OLD", "NEW")) THEN\n\(body)\nEND IF;"
  }

  private func referenceChange(_ relation: EdgeRelation) -> String {
    let isChanged = relation.isChanged("OLD", "NEW")
    var parts: [String] = []
    if !relation.rules.isDisjoint(with: .missingTheEdge) {
      parts.append(
        """
        IF \(isChanged) OR \(relation.source.key.areDistinct("OLD", "NEW")) THEN
          \(lost(relation, "(SELECT OLD.*) o"))
        END IF;
        """)
    }
    let arrival = arrival(relation, "(SELECT NEW.*) n")
    if !arrival.isEmpty { parts.append("IF \(isChanged) THEN\n\(arrival)\nEND IF;") }
    return parts.joined(separator: "\n")
  }

  // MARK: - References that come

  private func arrived(_ table: MappedTable) -> [Trigger] {
    let (event, new) = dialect(of: table.name).insertion(into: table.name)
    let edges = binding.relations(from: table).filter { $0.join == nil }.map { arrival($0, new) }
    let body = ([reused(table, new)] + edges).filter { !$0.isEmpty }
    if body.isEmpty { return [] }
    return [
      trigger(
        "arrived", on: table, "\(event) WHEN \(isOthers)", body: body.joined(separator: "\n"))
    ]
  }

  /// Journals the rows that come under the keys of nodes that were deleted.
  private func reused(_ table: MappedTable, _ new: String) -> String {
    if !binding.hasOrder(table) { return "" }
    let isOfTable = "g.subject = \(table.number) AND \(UsedKeys.tellsOfRows)"
    return """
      IF EXISTS (SELECT FROM cascade.journal g WHERE \(isOfTable)) THEN
        \(Triggers.journaling("what, subject, at, key")) \(JournalSubject.reused.rawValue), \(table.number), \(UsedKeys.now), k.key
        FROM (SELECT \(table.key.text("n")) AS key FROM \(new)) k
        WHERE EXISTS (SELECT FROM cascade.journal g WHERE \(isOfTable) AND g.key = k.key);
      END IF;
      """
  }

  /// Holds what a counting rule or a search from the roots could delete until the transaction ends, and journals an edge that
  /// came too late.
  private func arrival(_ relation: EdgeRelation, _ new: String) -> String {
    let source = relation.join?.source ?? relation.source.key
    let new = new + relation.references(of: "n")
    var statements: [String] = []
    if binding.mayKeepDestination(relation) || binding.mayReach(.destination, of: relation) {
      let edges = "\(new) WHERE \(relation.isEdge(in: "n"))"
      statements.append(hold(relation.destination, relation.toValues(in: "n"), edges))
    }
    let mayKeepSource =
      binding.mayKeepSource(relation) || binding.mayReach(.source, of: relation)
    if relation.join != nil && mayKeepSource {
      statements.append(hold(relation.source, source.values("n"), new))
    }
    if let isLate = isLate(relation) {
      statements.append(
        """
        \(Triggers.journaling("what, subject, key, other")) \(JournalSubject.arrived.rawValue), \(relation.number), \(relation.from(in: "n")),
        \(relation.to(in: "n")) FROM \(new) WHERE \(relation.isEdge(in: "n"))
        AND \(source.isComplete("n")) AND (\(isLate));
        """)
    }
    return statements.joined(separator: "\n")
  }

  private func hold(_ table: MappedTable, _ values: String, _ new: String) -> String {
    """
    PERFORM 1 FROM \(table.name) t
    WHERE (\(table.key.values("t"))) IN (SELECT \(values) FROM \(new))
    ORDER BY \(table.key.values("t")) FOR KEY SHARE;
    """
  }

  /// Whether an end of the new edge `n` is not there; nil if that does not matter, or if a tie tells.
  private func isLate(_ relation: EdgeRelation) -> String? {
    if relation.join?.nodes != nil { return nil }
    let to = relation.destination
    let lacksDestination =
      "NOT EXISTS (SELECT FROM \(to.name) t WHERE \(relation.leads(to: "t", in: "n")))"
      + relation.andNowhereElse(in: "n")
    guard let join = relation.join else {
      return relation.rules.isDisjoint(with: .losingDestination) ? nil : lacksDestination
    }
    let from = relation.source
    return lacksDestination
      + " OR NOT EXISTS (SELECT FROM \(from.name) t WHERE \(join.source.equal("n", from.key, "t")))"
  }

  // MARK: - Join rows

  /// A join table may have several relationships, so each has triggers of its own.
  private func triggers(of relation: EdgeRelation) -> [Trigger] {
    guard let join = relation.join, !join.isStored else { return [] }
    let isChanged = [join.source, join.destination].map { $0.areDistinct("OLD", "NEW") }
      .joined(separator: " OR ")
    func lost(_ rows: String) -> String {
      relation.rules.isDisjoint(with: .missingTheEdge) ? "" : self.lost(relation, rows)
    }
    func trigger(_ kind: String, _ event: String, _ body: String) -> Trigger {
      let name = "\(kind)_\(relation.number)"
      return self.trigger("cascade_\(name)", on: join.name, name, event, body)
    }
    let dialect = dialect(of: join.name)
    let (deletion, old) = dialect.deletion(from: join.name)
    let (insertion, new) = dialect.insertion(into: join.name)
    let unlinked = trigger("unlinked", "\(deletion) WHEN \(isOthers)", lost(old))
    return (lost("").isEmpty ? [] : [unlinked]) + [
      trigger(
        "relinked",
        "UPDATE ON \(join.name) FOR EACH ROW WHEN (\(isOthers) AND (\(isChanged)))",
        lost("(SELECT OLD.*) o") + "\n" + arrival(relation, "(SELECT NEW.*) n")),
      trigger("linked", "\(insertion) WHEN \(isOthers)", arrival(relation, new)),
    ]
      + truncated(
        "cascade_link_truncated_\(relation.number)", on: join.name,
        "link_truncated_\(relation.number)")
  }
}
