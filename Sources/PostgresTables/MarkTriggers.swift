internal import CascadeModel
internal import PostgresBinding

/// Triggers that tell which rows are marked or unmarked, and refuse marks that are denied. They also tell what change
/// files do.
extension Triggers {
  func markTrigger(_ table: MappedTable) -> [Trigger] {
    guard let marked = binding.marked[table.number] else { return [] }
    let refusals = markRefusals(table)
    let isNew = "\(marked.isMarked("NEW")) AND NOT \(marked.isMarked("OLD"))"
    return [
      trigger(
        "mark", on: table, "UPDATE ON \(table.name) FOR EACH ROW WHEN (\(marked.mayChange))",
        body: """
          IF \(marked.isMarked("OLD")) = \(marked.isMarked("NEW")) OR \(MarkRows.isMarking) THEN RETURN NULL; END IF;
          IF \(isNew) THEN
            \(refusals)
          END IF;
          INSERT INTO cascade.mark(collection, key, marked, old)
          VALUES(\(table.number), \(table.key.text("NEW")), \(marked.isMarked("NEW")), \(marked.replaced("OLD")));
          """, judges: !denials(table, "(SELECT OLD.*) o", ofMark: true).isEmpty)
    ]
  }

  private func markRefusals(_ table: MappedTable) -> String {
    let old = "(SELECT OLD.*) o"
    return [protection(table, old), denials(table, old, ofMark: true)].filter { !$0.isEmpty }
      .joined(separator: "\n")
  }

  /// For marks, a row that is marked denies nothing.
  func andIsThere(_ row: String, _ table: MappedTable, ofMark: Bool) -> String {
    guard ofMark, let marked = binding.marked[table.number] else { return "" }
    return " AND NOT \(marked.isMarked(row))"
  }
}
