internal import CascadeEngine
internal import CascadeModel
internal import CascadePostgres
internal import PostgresBinding

/// What the triggers refuse to delete.
///
/// 1. A denial reads the rows that deny, and must not miss any. Where row security hides some, and the daemon has
///    not noticed yet, PostgreSQL refuses the statement (`row_security`).
/// 2. When it has noticed, the trigger refuses what cannot be judged, and says why.
extension Triggers {
  /// Refuses to delete what is protected.
  func protection(_ table: MappedTable, _ old: String) -> String {
    let hasMoved = binding.partitions[table.name].map { _ in " AND \(hasNotMoved(table))" } ?? ""
    return """
      IF EXISTS (SELECT FROM cascade.protected) THEN
        \(raise(protected(table, "o"), from: """
          \(old), cascade.protected p, cascade.protection t WHERE p.collection = \(table.number)
            AND p.key = \(table.key.text("o")) AND t.number = p.protection\(hasMoved)
          """))
      END IF;
      """
  }

  func protectionFromTruncation(_ table: MappedTable) -> String {
    let node = "concat(\(literal(table.collection + "/")), p.key)"
    return raise(
      protected(node),
      from: """
        cascade.protected p, cascade.protection t
        WHERE p.collection = \(table.number) AND t.number = p.protection
        """)
  }

  private func protected(_ table: MappedTable, _ row: String) -> [String] {
    protected(table.described(row))
  }

  private func protected(_ node: String) -> [String] {
    func text(with root: String?) -> String {
      let parts = DenialText.protected(
        node, with: root, because: "t.reason", words: { literal($0) })
      return "concat(\(parts.joined(separator: ", ")))"
    }
    let isRoot = "t.collection = p.collection AND t.key = p.key"
    return ["CASE WHEN \(isRoot) THEN \(text(with: nil)) ELSE \(text(with: "t.node")) END"]
  }

  /// Refuses a deletion at once. What a response to the daemon's own writes deletes is not refused,
  /// because that would end the sweep.
  func denials(_ table: MappedTable, _ old: String, ofMark: Bool = false) -> String {
    let mayMove = !ofMark && binding.partitions[table.name] != nil
    let isGone = mayMove ? " AND \(hasNotMoved(table))" : ""
    let byDestination = judged(of: table, at: .destination).map { relation in
      let edges = "\(old), \(relation.edges())"
      let leads = relation.leads(to: "o") + isGone
      let isThere = andIsThere("s", relation.source, ofMark: ofMark)
      return holdAlternatives(relation, edges, leads)
        + denial(
          relation, at: .destination,
          "\(edges) WHERE \(leads)\(relation.andNowhereElse())\(isThere)")
    }
    let bySource = judged(of: table, at: .source).map { relation in
      let to = "\(relation.destination.name) t"
      let isGone = isGone + andIsThere("t", relation.destination, ofMark: ofMark)
      guard let join = relation.join else {
        let edges = "\(old)\(relation.references(of: "o"))"
        return denial(
          relation, at: .source,
          "\(edges), \(to) WHERE \(relation.leads(to: "t", in: "o"))\(isGone)")
      }
      let isOfSource = join.source.equal("e", table.key, "o")
      return denial(
        relation, at: .source,
        "\(old), \(join.name) e, \(to) WHERE \(isOfSource) AND \(relation.leads(to: "t"))\(isGone)")
    }
    let all = byDestination + bySource
    if all.isEmpty { return refusals(of: table, old, isGone) }
    return """
      SET LOCAL row_security = off;
      \(all.joined(separator: "\n"))
      SET LOCAL row_security = on;
      \(refusals(of: table, old, isGone))
      """
  }

  /// The relations that may deny the deletion of rows of a table, and of which this can be told.
  private func judged(of table: MappedTable, at end: EdgeEnd) -> [EdgeRelation] {
    let all = end == .destination ? binding.relations(to: table) : binding.relations(from: table)
    return all.filter { relation in
      relation.rules.contains(end.denial) && reasonNotToJudge(relation, at: end) == nil
    }
  }

  /// Why it cannot be told whether a relation denies the deletion of nodes at one end: a table cannot be
  /// read that has its edges, or the nodes at the other end.
  private func reasonNotToJudge(_ relation: EdgeRelation, at end: EdgeEnd) -> String? {
    let read =
      [relation.join?.name, relation.table(at: end.other).name]
      + relation.alternatives.map(\.table.name)
    return read.compactMap(\.self).compactMap { binding.stopped.hidden[$0] }.first
  }

  /// Refuses what cannot be judged, if it could be once.
  private func refusals(of table: MappedTable, _ old: String, _ isGone: String) -> String {
    let refused = EdgeEnd.allCases.flatMap { end in
      binding.stopped.relationships.filter { one in
        one.number != nil && one.denies(at: end) && one.collection(at: end) == table.collection
          && one.relation.map { reasonNotToJudge($0, at: end) != nil } ?? true
      }
    }
    return refused.map { one in
      let stays = DenialText.stays(
        table.described("o"), because: [literal(one.refusal)], words: { literal($0) })
      return raise(stays, from: "\(old) WHERE true\(isGone)")
    }.joined(separator: "\n")
  }

  /// Holds the other rows to which the references lead, so that no other session deletes these at the
  /// same time.
  private func holdAlternatives(
    _ relation: EdgeRelation, _ edges: String, _ leads: String
  ) -> String {
    relation.alternatives.map { other in
      """
      PERFORM 1 FROM \(edges), \(other.table.name) a
      WHERE \(leads) AND \(other.columns.equal("s", other.table.key, "a"))
      ORDER BY \(other.table.key.values("a")) FOR KEY SHARE OF a;

      """
    }.joined()
  }

  /// `rows` have what is deleted as `o`, and what denies it.
  private func denial(_ relation: EdgeRelation, at end: EdgeEnd, _ rows: String) -> String {
    let holder =
      end == .source
      ? relation.destination.described("t") : relation.source.described(key: relation.from())
    let why = DenialText.held(
      by: holder, literal(relation.name), literal(end.denial.names.joined()),
      words: { literal($0) })
    let node = relation.table(at: end).described("o")
    return raise(DenialText.stays(node, because: why, words: { literal($0) }), from: rows)
  }

  /// The rows may be gone when they are read again for the message.
  private func raise(_ message: [String], from rows: String) -> String {
    """
    IF session_user <> \(literal(role)) AND EXISTS (SELECT FROM \(rows)) THEN
      RAISE EXCEPTION USING ERRCODE = 'foreign_key_violation', MESSAGE = coalesce(
        (SELECT concat(\(message.joined(separator: ", "))) FROM \(rows) LIMIT 1), 'denied');
    END IF;
    """
  }
}

extension MappedTable {
  /// The name of the node that a row is, as SQL.
  fileprivate func described(_ row: String) -> String { described(key: key.text(row)) }

  fileprivate func described(key text: String) -> String {
    key.all.count == 1
      ? "concat(\(literal(collection + "/")), \(text))"
      : "concat(\(literal("[\(JSON.string(collection).text),")), \(text), ']')"
  }
}
