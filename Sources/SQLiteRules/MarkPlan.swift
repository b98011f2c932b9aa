internal import CascadeEngine
package import CascadeModel
package import CascadeSQLite
package import CascadeStore
package import SQLiteBinding

/// What `MarkClosure` has found.
extension Connection {
  /// How many rows are to be marked because of others, by collection.
  package func countsOfMarking(_ slice: Slice = .all) throws -> [String: Int] {
    let counts = try all(
      """
      SELECT c.name, count(*) FROM temp.marking AS m JOIN cascade_collection AS c ON c.id = m.collection
      WHERE \(slice.contains("m.seq")) AND m.via IS NOT NULL AND NOT m.is_done GROUP BY 1
      """
    ) { ($0.text(0), Int($0.integer(1))) }
    return Dictionary(counts, uniquingKeysWith: +)
  }

  package func deniedMarks(_ model: StoreModel) throws -> [Reason] {
    try all(
      """
      SELECT c.name, m.key, m.why FROM temp.mark_denied AS m JOIN cascade_collection AS c ON c.id = m.collection
      ORDER BY 1, 2
      """
    ) { Reason.unmarkable($0.node(0, model), because: $0.text(2)) }
  }
}
