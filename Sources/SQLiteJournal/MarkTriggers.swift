internal import CascadeModel
package import SQLiteBinding
internal import SQLiteTables

/// The triggers that tell which rows are marked or unmarked. They also tell what change files do; what the
/// daemon marks because of that, it takes out again in the same transaction.
extension MarkedTable {
  var trigger: Trigger {
    Trigger(
      "\(Trigger.mark)\(nodes.id)_\(nodes.collection)", "AFTER \(event)", on: table,
      when: "\(isMarked("OLD")) <> \(isMarked("NEW"))",
      [
        "INSERT INTO cascade_mark(collection, key, marked, old) "
          + "VALUES(\(nodes.id), \(nodes.key("NEW")), \(isMarked("NEW")), \(replaced("OLD")))"
      ])
  }

  /// The event at which a row may be marked or unmarked.
  var event: String { "UPDATE\(table.assignments(to: deciding))" }
}

extension Binding {
  package var markTriggers: [Trigger] {
    marked.values.sorted { $0.nodes.id < $1.nodes.id }.map(\.trigger)
  }

  /// A condition for a row of the collection: for others, it is there.
  func isNotMarked(_ row: String, of table: NodeTable) -> String {
    marked[table.id].map { "NOT \($0.isMarked(row))" } ?? "1"
  }
}
