internal import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
internal import SQLiteBinding
internal import SQLiteRules

extension Connection {
  /// What `MarkClosure` has found, as a plan.
  func planOfMarking(_ model: StoreModel) throws -> Plan {
    let steps = try all(
      """
      SELECT c.name, m.key, n.name, oc.name, v.key, m.rule FROM temp.marking AS m
      JOIN cascade_collection AS c ON c.id = m.collection
      LEFT JOIN cascade_name AS n ON n.id = m.name LEFT JOIN temp.marking AS v ON v.seq = m.via
      LEFT JOIN cascade_collection AS oc ON oc.id = v.collection
      WHERE m.via IS NOT NULL AND NOT m.is_done ORDER BY m.seq LIMIT ?
      """, .integer(Int64(Receipt.mostListed))
    ) { Plan.Step(row: $0, model) }
    let rules = try all(
      """
      SELECT rule, count(*) FROM temp.marking WHERE via IS NOT NULL AND NOT is_done GROUP BY 1
      """
    ) { (Rules(rawValue: $0.integer(0)).names.first ?? "", Int($0.integer(1))) }
    let counts = try countsOfMarking()
    return Plan(
      steps: steps, deletedCount: counts.values.reduce(0, +), byCollection: counts,
      byRule: Dictionary(rules, uniquingKeysWith: +), denials: try deniedMarks(model), files: 0,
      isOverLimit: true)
  }
}
