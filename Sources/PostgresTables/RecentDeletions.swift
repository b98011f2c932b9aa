package import CascadeModel
internal import CascadeEngine
package import CascadePostgres

/// What sweeps deleted lately without an approval, as `HoldWindow` keeps it.
package enum RecentDeletions {
  static let sql = """
    -- What sweeps deleted lately without an approval, for the hold: `at` is the last of these deletions.
    CREATE TABLE cascade.recent_deletion(
      number bigint NOT NULL, collection text NOT NULL, at bigint NOT NULL, count bigint NOT NULL,
      PRIMARY KEY(number, collection));
    """

  private static func isKept(_ model: StoreModel) -> Bool { HoldWindow(model).isOn }

  /// How many nodes that count, at most, as an expression: those that are too old are among them. So it
  /// has no value that changes, and the server keeps the plan of its statement.
  package static func most(_ model: StoreModel) -> String {
    if !isKept(model) { return "0" }
    let exempt = literal(arrayText(model.withoutHold.sorted()))
    return """
      (SELECT coalesce(sum(r.count), 0) FROM cascade.recent_deletion r
        WHERE r.collection <> ALL(\(exempt)::text[]))
      """
  }

  package static func read(
    _ store: StoreConnection, at now: Int64
  ) throws -> [String: Int] {
    if !isKept(store.model) { return [:] }
    let slots = try store.db.run(
      "SELECT number, collection, at, count FROM cascade.recent_deletion"
    ).rows.map {
      HoldWindow.Slot(
        number: Int64($0[0]!)!, collection: $0[1]!, at: Int64($0[2]!)!, count: Int($0[3]!)!)
    }
    return HoldWindow(store.model, slots).sums(at: now)
  }

  /// The statements that add what was deleted now, and forget what is too old.
  package static func adding(
    _ nodes: [String: Int], _ model: StoreModel, at now: Int64
  ) -> [Statement] {
    var window = HoldWindow(model)
    let slots = window.add(nodes, at: now)
    guard let within = window.within, !slots.isEmpty else { return [] }
    let forgets =
      "DELETE FROM cascade.recent_deletion r WHERE abs(r.at - $1::bigint) >= \(within)"
    return [Statement(forgets, ["\(now)"])]
      + slots.map { slot in
        Statement(
          """
          INSERT INTO cascade.recent_deletion AS r(number, collection, at, count)
          VALUES($1::bigint, $2, $3::bigint, $4::bigint) ON CONFLICT(number, collection)
          DO UPDATE SET at = greatest(r.at, excluded.at), count = r.count + excluded.count
          """, ["\(slot.number)", slot.collection, "\(slot.at)", "\(slot.count)"])
      }
  }

  package static let emptying = "DELETE FROM cascade.recent_deletion"
}
