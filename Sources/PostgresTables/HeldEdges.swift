internal import CascadeModel
internal import CascadePostgres
package import PostgresBinding

/// A node that lost an edge of rule 8 and was held back stays once it is given an edge of that name.
///
/// 1. It was given those that it did not have when it was held back. So the sources of the edges that it
///    had then are written down.
/// 2. They are read in the snapshot of a plan, so no edge is missed that comes later. At the end of the
///    batch, those are taken out that have gone meanwhile: one that comes back is given anew.
package struct HeldEdges {
  private let store: StoreConnection
  private var db: Session { _read { yield store.db } }
  private var binding: Binding { store.binding }

  package init(_ store: StoreConnection) { self.store = store }

  /// The batch in `cascade.work` of what was held back.
  package static let waiting = 0

  static let sql = """
    -- The sources of the edges of one relation that a node had when it was held back: it had lost an edge
    -- of the same name and of rule 8.
    CREATE TABLE cascade.held_edges(
      relation int NOT NULL, key text NOT NULL, sources text[] NOT NULL, PRIMARY KEY(relation, key));
    """

  // MARK: - The relations

  /// A name of edges to a table, of which some have rule 8.
  private struct Group {
    let destination: MappedTable
    /// Those with the rule, as an array in SQL.
    let lost: String
    let all: [EdgeRelation]
  }

  private var groups: [Group] {
    let relations = binding.relations.filter {
      $0.allRules.contains(.deleteDestinationIfSourceDeleted) && !$0.isTie
    }
    return Dictionary(grouping: relations) { [$0.name, "\($0.destination.number)"] }.values.map {
      let numbers = arrayText($0.map { "\($0.number)" })
      return Group(
        destination: $0[0].destination, lost: "'\(numbers)'::int[]",
        all: binding.alikeAtDestination($0[0]))
    }
  }

  /// Whether a row of `cascade.work` waits because an edge of the group was lost.
  private func waits(_ row: String, for group: Group) -> String {
    """
    \(row).batch = \(HeldEdges.waiting) AND NOT \(row).done
    AND \(row).what = \(JournalSubject.lost.rawValue) AND \(row).subject = ANY(\(group.lost))
    """
  }

  private func edges(of relation: EdgeRelation, to key: String) -> String {
    "SELECT \(relation.from()) FROM \(relation.edges()) WHERE \(relation.leads(toText: key))"
  }

  // MARK: - What was given

  /// Whether a row of `cascade.work` that waits is no reason any more: the node has gone, though another
  /// one may have its key by now, or was given an edge.
  package func isOver(_ row: String) -> String {
    // What waits was there before, and is of a later node of the key, if a held plan owns the deletion.
    let seen = "(SELECT * FROM cascade.journal o WHERE \(Causes.unplanned.include("o")))"
    let over = [UsedKeys(binding).isEnded(row, by: seen)] + areOver(row)
    return """
      (\(row).batch = \(HeldEdges.waiting) AND NOT \(row).done AND (\(over.joined(separator: " OR "))))
      """
  }

  private func areOver(_ row: String) -> [String] {
    groups.map { group in
      let given = group.all.map { relation in
        """
        EXISTS (\(edges(of: relation, to: "\(row).other")) EXCEPT
          SELECT unnest(h.sources) FROM cascade.held_edges h
          WHERE h.relation = \(relation.number) AND h.key = \(row).other)
        """
      }
      let isGone = "NOT \(group.destination.has("\(row).other"))"
      return "\(waits(row, for: group)) AND (\(([isGone] + given).joined(separator: " OR ")))"
    }
  }

  /// Also what no plan has read yet: what has a key of these nodes later is another node.
  package func dropLosses(ofDeletedIn batch: Int64) throws {
    try UsedKeys(binding).drop(db, deletedIn: batch, waiting: HeldEdges.waiting)
  }

  /// Removes what is no reason any more.
  package func dropOver() throws {
    try db.run("DELETE FROM cascade.work j WHERE \(isOver("j"))")
  }

  /// A change file has put this row of a table, so it does not go any more for an edge that it has lost,
  /// and what refers to it does not wait any more.
  package func drop(put key: String, in table: MappedTable) throws {
    try dropWidowed(to: table, where: { "\($0) = $1" }, with: [key])
    for group in groups where group.destination.number == table.number {
      try db.run(
        """
        DELETE FROM cascade.work j WHERE \(waits("j", for: group)) AND j.other = (
          SELECT \(table.key.text("t")) FROM \(table.name) t WHERE \(table.key.equal("t", text: "$1")))
        """, [key])
    }
  }

  /// Before a change file changes anything: a reference waits no longer whose destination is there again.
  package func dropReturned() throws {
    for table in binding.tables.values { try dropWidowed(to: table, where: table.has) }
  }

  private func dropWidowed(
    to table: MappedTable, where condition: (String) -> String, with values: [String?] = []
  ) throws {
    let relations = binding.relations.filter {
      $0.join == nil && $0.destination.number == table.number && $0.isFollowed(.widowed)
    }
    if relations.isEmpty { return }
    let numbers = relations.map { "\($0.number)" }.joined(separator: ", ")
    try db.run(
      "DELETE FROM cascade.work j WHERE \(HeldEdges.isWidowed("j", numbers)) AND \(condition("j.other"))",
      values)
  }

  /// A change file has written these rows. `hadBefore` tells whether a row `j` of `cascade.work` is of an
  /// edge that was there before: any other is a new one, and does not wait.
  package func dropWritten(
    _ relation: EdgeRelation, _ keys: String, unless hadBefore: String
  ) throws {
    if relation.join != nil || !relation.isFollowed(.widowed) { return }
    try db.run(
      """
      DELETE FROM cascade.work j WHERE \(HeldEdges.isWidowed("j", "\(relation.number)"))
      AND j.key = ANY($1) AND NOT \(hadBefore)
      """, [keys])
  }

  /// Whether a row of `cascade.work` waits because a reference has lost its destination.
  static func isWidowed(_ row: String, _ relations: String) -> String {
    """
    \(row).batch = \(waiting) AND NOT \(row).done
    AND \(row).what = \(JournalSubject.widowed.rawValue) AND \(row).subject IN (\(relations))
    """
  }

  /// Whether something was held back that no plan owns.
  package static let areAnyUnplanned = """
    EXISTS (SELECT FROM cascade.work w WHERE w.batch = \(HeldEdges.waiting) AND NOT w.done
      AND \(Causes.unplanned.include("w")))
    """

  /// Whether something was held back, also for other reasons.
  package static let areAny =
    "EXISTS (SELECT FROM cascade.work WHERE batch = \(HeldEdges.waiting) AND NOT done)"

  var areAny: Bool { get throws { try db.runAgain("SELECT \(HeldEdges.areAny)").bool } }

  // MARK: - What it had

  /// Writes down the edges of all that waits, in the snapshot of a plan.
  package func note() throws {
    for group in groups {
      try forget(group)
      let waiting = "SELECT j.other FROM cascade.work j WHERE \(waits("j", for: group))"
      try note(
        group, keys: "\(waiting) UNION \(blocked(group))",
        "UPDATE SET sources = excluded.sources")
    }
  }

  /// At the end of a batch.
  package func settle() throws {
    for group in groups {
      try note(group, keys: blocked(group), "NOTHING")
      try forget(group)
      for relation in group.all {
        try db.run(
          """
          UPDATE cascade.held_edges h SET sources = ARRAY(
            SELECT unnest(h.sources) INTERSECT \(edges(of: relation, to: "h.key")))
          WHERE h.relation = \(relation.number) AND h.sources <> '{}'
          """)
      }
    }
  }

  /// Forgets those of what waits no longer.
  private func forget(_ group: Group) throws {
    let numbers = group.all.map { "\($0.number)" }.joined(separator: ", ")
    try db.run(
      """
      DELETE FROM cascade.held_edges h WHERE h.relation IN (\(numbers)) AND h.key NOT IN (
        SELECT j.other FROM cascade.work j WHERE \(waits("j", for: group)) AND j.other IS NOT NULL)
      """)
  }

  private func blocked(_ group: Group) -> String {
    "SELECT b.key FROM cascade.blocked b WHERE b.collection = \(group.destination.number)"
  }

  private func note(_ group: Group, keys: String, _ conflict: String) throws {
    for relation in group.all {
      try db.run(
        """
        INSERT INTO cascade.held_edges(relation, key, sources)
        SELECT \(relation.number), k.key, ARRAY(\(edges(of: relation, to: "k.key")))
        FROM (\(keys)) k(key) ON CONFLICT(relation, key) DO \(conflict)
        """)
    }
  }
}

extension EdgeRelation {
  /// Whether the row `s` was not held back because it lost its reference to a key.
  package func isNotHeldBack(lost key: String) -> String {
    if join != nil { return "true" }
    return """
      NOT EXISTS (SELECT FROM cascade.work w WHERE \(HeldEdges.isWidowed("w", "\(number)"))
        AND w.key = \(source.key.text("s")) AND w.other = \(key))
      """
  }
}
