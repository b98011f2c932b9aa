internal import CascadeModel
internal import CascadePostgres
internal import PostgresBinding
internal import PostgresTables

/// The steps of a job that delete what it has planned itself.
extension Waves {
  /// Deletes nodes of a job that come next. Each is looked at again: one that does not refer to what it goes
  /// with any more stays, and so does one to which something refers that was not planned, and one with which the
  /// job begins that is not meant any more. Returns how many
  /// were looked at; nil if none is left.
  package mutating func deletePlanned(
    ofJob job: Int64, where isMeant: String?, _ ties: ForeignKeyTies, _ limit: Int
  ) throws -> Int? {
    guard let next = try planned(ofJob: job, limit) else { return nil }
    guard let table = binding.table(next.table) else { return next.keys.count }
    level = next.level
    defer { level = nil }
    if let relation = next.via.flatMap(binding.relation), let rule = next.rule {
      let row = rule.isSubset(of: .ofLostSource) ? "t" : "s"
      let rows = RowRemoval.Selection(row: row, of: table, keys: next.keys, others: next.others)
      let follows = self.follows(relation, rule)
      _ = try delete(
        from: table, rows.only(where: "\(follows) AND \(isFree(row, of: table, ties))"),
        RowRemoval.Cause(rule: rule, relation: relation, other: RowRemoval.Cause.listedOther))
    } else {
      try deleteFirst(
        table,
        RowRemoval.Selection(
          row: "s",
          condition:
            "\(table.key.isAny("s", "$1")) AND \(isMeant ?? "true") AND \(isFree("s", of: table, ties))",
          values: [arrayText(next.keys)]))
    }
    return next.keys.count
  }

  private mutating func deleteFirst(
    _ table: MappedTable, _ selection: RowRemoval.Selection
  ) throws {
    count.rows += try changeUnlessRefused(table, selection, by: .delete) {
      try $0.removal.delete(from: table, $1, because: nil, limit: .max).rows
    }
  }

  private typealias Planned = (
    table: Int64, level: Int?, rule: Rules?, via: Int64?, keys: [String], others: [String]
  )

  /// Takes some that go for the same reason.
  private func planned(ofJob job: Int64, _ limit: Int) throws -> Planned? {
    let rows = try db.run(
      """
      WITH f AS (SELECT place, level, rule, via, collection FROM cascade.job_node WHERE job = \(job)
          ORDER BY place, level DESC, rule, via LIMIT 1),
        n AS (SELECT n.ctid FROM cascade.job_node n, f WHERE n.job = \(job) AND n.place = f.place
          AND n.level = f.level AND n.collection = f.collection AND (n.rule, n.via) IS NOT DISTINCT FROM (f.rule, f.via) LIMIT \(limit))
      DELETE FROM cascade.job_node d USING n WHERE d.ctid = n.ctid
      RETURNING d.collection, d.rule, d.via, d.key, d.other, d.level
      """
    ).rows
    guard let first = rows.first else { return nil }
    return (
      Int64(first[0]!)!, first[5].flatMap { Int($0) },
      first[1].flatMap { Int64($0) }.map { Rules(rawValue: $0) },
      first[2].flatMap { Int64($0) }, rows.map { $0[3]! }, rows.map { $0[4] ?? "" }
    )
  }

  /// Whether a row follows from `n.other`: a source `s` that refers to it, or a destination `t` that has lost it,
  /// since what refers to a row goes before it.
  private func follows(_ relation: EdgeRelation, _ rule: Rules) -> String {
    switch rule {
    case .deleteDestinationIfSourceDeleted:
      let edges = relation.edges(ofText: "n.other")
      return
        "NOT EXISTS (SELECT FROM \(edges.from) WHERE \(edges.condition) AND \(relation.leads(to: "t")))"
    case .deleteDestinationIfAllSourcesDeleted: return "NOT \(binding.hasSource(relation))"
    default: return relation.leads(toText: "n.other")
    }
  }

  private func isFree(
    _ row: String, of table: MappedTable, _ ties: ForeignKeyTies
  ) -> String {
    "\(isNotReferredTo(row, table, ties)) AND NOT \(leases.holds(table, table.key.text(row)))"
  }

  /// Whether nothing that would follow refers to the row: what was planned has gone.
  private func isNotReferredTo(
    _ row: String, _ table: MappedTable, _ ties: ForeignKeyTies
  ) -> String {
    let rule = Rules.deleteSourceIfDestinationDeleted
    let following = binding.relations(to: table).filter {
      $0.columns != nil && $0.rules.contains(rule) && ties.refers($0.source, table)
    }
    return
      (["true"]
      + following.map {
        "NOT EXISTS (SELECT FROM \($0.source.name) c WHERE \($0.leads(to: row, in: "c")))"
      }).joined(separator: " AND ")
  }
}
