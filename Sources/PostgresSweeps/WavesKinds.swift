internal import CascadeModel
internal import CascadePostgres
internal import PostgresBinding
internal import PostgresTables

/// What a sweep of one kind leaves to one of the other kind, at its end.
///
/// A count that found its node held is asked once more when the other kind has deleted something: the edges
/// that go then may have no rule that counts.
extension Waves {
  func leaveToOtherKind() throws {
    for relation in binding.relations where !relation.left.isEmpty { try leave(relation) }
    if !binding.leavesRules || binding.relations(with: .counted).isEmpty { return }
    let isMore = """
      SELECT EXISTS (SELECT FROM cascade.journal j WHERE j.kind = \(Waves.cascade)
        AND NOT \(binding.waits("j")))
      """
    if try !db.run(isMore).bool { return }
    for relation in binding.relations(with: .counted) { try countAgain(relation) }
  }

  private static var cascade: String { literal(SweepKind.cascade.rawValue) }
  private static var refcount: String { literal(SweepKind.refcount.rawValue) }

  /// Gives back to the journal what is for another kind of sweep: also the notices, because what that
  /// one deletes gets none.
  private func leave(_ relation: EdgeRelation) throws {
    if !relation.left.isDisjoint(with: .losingSource) { try leave(.lost, relation) }
    if relation.left.isDisjoint(with: .losingDestination) { return }
    if relation.join == nil { try leaveWidowed(relation) }
    try leave(.widowed, relation)
  }

  private func leave(_ what: JournalSubject, _ relation: EdgeRelation) throws {
    let counts = !relation.left.isDisjoint(with: .counting)
    let kind = counts ? Waves.refcount : Waves.cascade
    let isOver =
      what == .lost
      ? "\(binding.hasEdge(relation, lostIn: "k")) OR NOT \(relation.destination.has("k.other"))"
      : "\(relation.isRestored(lostIn: "k")) OR NOT \(relation.source.has("k.key"))"
    let isHeld =
      counts && hasRemovedNothing ? "k.told AND \(holds(what, relation, "k"))" : "false"
    try db.run(
      """
      WITH k AS (DELETE FROM cascade.work j WHERE \(isDone(what, relation)) RETURNING j.*)
      INSERT INTO cascade.journal(what, subject, key, other, is_manual, told, kind)
      SELECT k.what, k.subject, k.key, k.other, k.is_manual, bool_and(k.told), \(kind) FROM k
      WHERE NOT (\(isOver)) AND NOT (\(isHeld)) GROUP BY 1, 2, 3, 4, 5
      """)
  }

  /// Notes references in rows, which are not noted one by one otherwise.
  private func leaveWidowed(_ relation: EdgeRelation) throws {
    let lost = try store.leads(relation, toAnyOf: gone(relation.destination, untold: true))
    try db.run(
      """
      INSERT INTO cascade.work(batch, what, subject, key, other, done)
      SELECT DISTINCT \(batch), \(JournalSubject.widowed.rawValue), \(relation.number),
        \(relation.source.key.text("s")), \(relation.to()), true
      FROM \(relation.edges()) WHERE \(lost.condition) AND \(relation.isDangling)
      """, lost.values)
  }

  // MARK: - Counts that are asked again

  private var hasRemovedNothing: Bool {
    isWhole && deletions.isEmpty && unlinked == 0 && !hasLocked
  }

  /// Whether the node is there that a row `work` says to have lost an edge, and has another one of that name.
  private func holds(_ what: JournalSubject, _ relation: EdgeRelation, _ row: String) -> String {
    let (table, node, key, has) =
      what == .lost
      ? (relation.destination, "t", "\(row).other", binding.hasSource(relation))
      : (relation.source, "s", "\(row).key", binding.hasDestination(relation))
    return """
      EXISTS (SELECT FROM \(table.name) \(node) WHERE \(table.key.equal(node, text: key)) AND \(has))
      """
  }

  private func countAgain(_ relation: EdgeRelation) throws {
    if relation.rules.contains(.deleteDestinationIfAllSourcesDeleted) {
      try countAgain(.lost, relation)
    }
    if !relation.rules.contains(.deleteSourceIfAllDestinationsDeleted) { return }
    if relation.join == nil { try leaveWidowed(relation) }
    try countAgain(.widowed, relation)
  }

  private func countAgain(_ what: JournalSubject, _ relation: EdgeRelation) throws {
    try db.run(
      """
      INSERT INTO cascade.journal(what, subject, key, other, is_manual, told, kind)
      SELECT DISTINCT j.what, j.subject, j.key, j.other, j.is_manual, true, \(Waves.cascade) FROM cascade.work j
      WHERE \(isDone(what, relation)) AND \(holds(what, relation, "j"))
      """)
  }
}
