internal import SQLite

/// The foreign keys that take rows along: those to nodes, where no rule looks at them, and from there on
/// all that cascade, however often they lead through the same table.
struct FollowerWays {
  private struct Step {
    let child: Int
    let key: Table.ForeignKey
    let parent: Int
  }

  private let binding: Binding
  private let numbers: Numbers
  private let nodes: [NodeTable]
  private let tables: [Table]
  private let steps: [Step]
  private let losses: [Step]

  init(binding: Binding, tables children: [Table], numbers: Numbers) {
    self.binding = binding
    self.numbers = numbers
    nodes = binding.collections.values.sorted { $0.id < $1.id }.filter { $0.table != nil }
    let parents = nodes.map { $0.table! }
    let tables = parents + children.filter { child in !parents.contains { $0.isSame(as: child) } }
    self.tables = tables
    let all = tables.indices.flatMap { child in
      tables[child].foreignKeys.flatMap { key in
        tables.indices.filter { key.refers(to: tables[$0]) }
          .map { Step(child: child, key: key, parent: $0) }
      }
    }
    steps = all.filter { $0.key.onDelete == "CASCADE" }
    losses = all.filter { $0.key.onDelete.hasPrefix("SET ") }
  }

  /// Parents before their children, as far as foreign keys do not go in circles; and what only loses a
  /// reference behind them.
  func followers() -> [Follower] {
    let reached = self.reached
    let going = reached.filter { child in
      starts.contains { $0.child == child && !isOfEdge($0) }
        || steps.contains { $0.child == child && reached.contains($0.parent) }
    }
    let losing = losses.filter { step in
      !isOfEdge(step) && (step.parent < nodes.count || reached.contains(step.parent))
    }
    return going.map { Follower(table: tables[$0], rows: rows(of: $0), lost: nil) }
      + losing.map { Follower(table: tables[$0.child], rows: rows(losing: $0), lost: $0.key) }
  }

  // MARK: - Tables

  private func collection(_ table: Int) -> NodeTable? { table < nodes.count ? nodes[table] : nil }

  /// The rules look at what leads from node to node.
  private var starts: [Step] {
    steps.filter { step in
      step.parent < nodes.count
        && !binding.implied.contains { place in
          place.form.is(step.key) && place.source == collection(step.child)
            && place.destination == nodes[step.parent]
        }
    }
  }

  private var reached: [Int] {
    let found = closed(Set(starts.map(\.child))) { ($0.parent, $0.child) }
    return inOrder(found.sorted()) { child, parent in
      steps.contains { $0.child == child && $0.parent == parent }
    }.reversed()
  }

  /// Those through which rows of a table are found, and itself.
  private func onTheWay(to table: Int) -> Set<Int> {
    closed([table]) { ($0.child, $0.parent) }.intersection(reached)
  }

  private func closed(_ tables: Set<Int>, _ ends: (Step) -> (from: Int, to: Int)) -> Set<Int> {
    let more = steps.map(ends).filter { tables.contains($0.from) }.map(\.to)
    let all = tables.union(more)
    return all == tables ? all : closed(all, ends)
  }

  /// A row of a join table is its edge, and goes by the rules.
  private func isOfEdge(_ step: Step) -> Bool { binding.isOfEnd(step.key, of: tables[step.child]) }

  // MARK: - Rows

  private func rows(of child: Int) -> String {
    let (table, columns) = (tables[child], identities(of: child))
    let found = "FROM (\(way(to: child))) AS f"
    guard let collection = collection(child) else {
      return "SELECT \(columns) \(found) WHERE f.t = \(child)"
    }
    return """
      SELECT \(table.identityColumns("r")) \(found)
      CROSS JOIN \(name(child)) AS r ON \(table.identity("r")) = (\(columns))
      WHERE f.t = \(child) AND \(collection.isOutside("temp.going", "r", numbers))
      """
  }

  /// What goes in a later part of the transaction is kept then, without what it lost by now.
  private func rows(losing step: Step) -> String {
    let columns = tables[step.child].identityColumns("w1")
    let stays = collection(step.child).map {
      $0.isOutside("(SELECT id FROM temp.gone WHERE seq > ?3 AND seq <= ?4)", "w1", numbers)
    }
    let ofNodes = fromNodes(step).map { "SELECT \(columns) \($0) AND \(stays ?? "1")" }
    if !reached.contains(step.parent) { return ofNodes.joined(separator: "\nUNION ") }
    let found = fromFound(step, in: "(\(way(to: step.parent))) AS f")
    let ofFound = "SELECT \(columns) \(found) WHERE \(stays ?? "1")"
    return (ofNodes + [ofFound]).joined(separator: "\nUNION ")
  }

  /// All rows on the way to a table: the number of their table, below zero where it is an edge's, and
  /// what tells them apart.
  private func way(to table: Int) -> String {
    let within = onTheWay(to: table)
    let first = starts.filter { within.contains($0.child) }.flatMap { step in
      fromNodes(step).map { "\(selected(step.child, isOfEdge(step) ? "-" : "")) \($0)" }
    }
    let more = steps.filter { within.contains($0.child) && within.contains($0.parent) }.map {
      "\(selected($0.child)) \(fromFound($0, in: "f"))"
    }
    return """
      WITH RECURSIVE f(t, \(places.joined(separator: ", "))) AS (
        \((first + more).joined(separator: "\nUNION ")))
      SELECT * FROM f
      """
  }

  private func fromNodes(_ step: Step) -> [String] {
    if step.parent >= nodes.count { return [] }
    let parent = nodes[step.parent]
    return numbers.forms(of: parent).map { form in
      """
      FROM temp.gone AS g CROSS JOIN \(parent.node(form, "g.id"))
      CROSS JOIN \(parent.rows) AS w0 ON \(parent.isRow("w0", of: "m", form))
      \(children(step)) WHERE g.seq > ?3 AND g.seq <= ?4
      """
    }
  }

  private func fromFound(_ step: Step, in found: String) -> String {
    """
    FROM \(found) CROSS JOIN \(name(step.parent)) AS w0 ON abs(f.t) = \(step.parent)
      AND \(tables[step.parent].identity("w0")) = (\(identities(of: step.parent)))
    \(children(step))
    """
  }

  private func children(_ step: Step) -> String {
    "CROSS JOIN \(name(step.child)) AS w1 ON "
      + step.key.matches("w1", "w0", tables[step.parent])
  }

  // MARK: - Columns

  private func name(_ table: Int) -> String { "main.\(quoted(tables[table].name))" }

  private func selected(_ table: Int, _ sign: String = "") -> String {
    let missing = places.dropFirst(tables[table].identityCount).map { _ in ", NULL" }.joined()
    return "SELECT \(sign)\(table), \(tables[table].identityColumns("w1"))\(missing)"
  }

  private func identities(of table: Int) -> String {
    places.prefix(tables[table].identityCount).map { "f.\($0)" }.joined(separator: ", ")
  }

  private var places: [String] {
    (0..<(tables.map(\.identityCount).max() ?? 1)).map { "i\($0)" }
  }
}

extension Table {
  fileprivate func isSame(as other: Table) -> Bool { name.lowercased() == other.name.lowercased() }

  fileprivate var identityCount: Int { rowid == nil ? primaryKey.count : 1 }
}
