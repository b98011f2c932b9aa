internal import SQLite

/// The foreign keys that take rows along outside of the model: those to nodes, and from there on all that
/// cascade, however often they lead through the same table, until they lead to nodes again.
struct FollowerWays {
  private struct Step {
    let child: Int
    let key: Table.ForeignKey
    let parent: Int
  }

  private let binding: Binding
  private let numbers: Numbers
  private let names: SliceNames
  private let nodes: [NodeTable]
  /// Those of the nodes first.
  private let tables: [Table]
  private let starts: [Step]
  private let steps: [Step]
  private let detours: [Step]
  private let losses: [Step]

  /// `names` are those of the slice that they begin with.
  init(binding: Binding, numbers: Numbers = Numbers(), _ names: SliceNames = .inTrash) {
    self.binding = binding
    self.numbers = numbers
    self.names = names
    let nodes = binding.collections.values.sorted { $0.id < $1.id }.filter { $0.table != nil }
    let parents = nodes.map { $0.table! }
    let others = binding.following.filter { child in !parents.contains { $0.isSame(as: child) } }
    let tables = parents + others
    let all = tables.indices.flatMap { child in
      tables[child].foreignKeys.flatMap { key in
        tables.indices.filter { key.refers(to: tables[$0]) }
          .map { Step(child: child, key: key, parent: $0) }
      }
    }
    let cascades = all.filter { $0.key.onDelete == "CASCADE" }
    func isNode(_ table: Int) -> Bool { table < nodes.count }
    starts = cascades.filter { isNode($0.parent) && !isNode($0.child) }
    steps = cascades.filter { !isNode($0.parent) && !isNode($0.child) }
    detours = cascades.filter { !isNode($0.parent) && isNode($0.child) }
    losses = all.filter { $0.key.onDelete.hasPrefix("SET ") }
    (self.nodes, self.tables) = (nodes, tables)
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

  // MARK: - Nodes

  /// Whether nodes go with nodes through tables of others.
  var leadToNodes: Bool { !detoursInUse.isEmpty }

  private var detoursInUse: [Step] { detours.filter { reached.contains($0.parent) } }

  /// The nodes that go with those of the slice, each with the columns that `found` names of its row `r`,
  /// and what it goes with.
  func nodes(_ found: (NodeTable) -> String) -> [String] {
    detoursInUse.map { step in
      let node = nodes[step.child]
      return """
        SELECT \(found(node)), f.g \(fromFound(step, in: "(\(way(to: step.parent))) AS f", "r"))
        WHERE \(node.isNode("r", numbers))
        """
    }
  }

  /// What goes with such nodes as are in a list, as numbers.
  func parents(ofThoseIn list: String) -> String? {
    let queries = detoursInUse.map { step in
      """
      SELECT f.g \(fromFound(step, in: "(\(way(to: step.parent))) AS f", "r"))
      WHERE NOT (\(nodes[step.child].isOutside(list, "r", numbers)))
      """
    }
    return queries.isEmpty ? nil : queries.joined(separator: "\nUNION ")
  }

  // MARK: - Tables

  private func collection(_ table: Int) -> NodeTable? { table < nodes.count ? nodes[table] : nil }

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
    "SELECT \(identities(of: child)) FROM (\(way(to: child))) AS f WHERE f.t = \(child)"
  }

  /// What goes in a later part of the transaction is kept then, without what it lost by now.
  private func rows(losing step: Step) -> String {
    let columns = tables[step.child].identityColumns("w1")
    let going =
      "(SELECT id FROM temp.gone WHERE seq > \(names.low) AND seq <= \(names.high))"
    let stays = collection(step.child)?.isOutside(going, "w1", numbers)
    let ofNodes = fromNodes(step).map { "SELECT \(columns) \($0) AND \(stays ?? "1")" }
    if !reached.contains(step.parent) { return ofNodes.joined(separator: "\nUNION ") }
    let found = fromFound(step, in: "(\(way(to: step.parent))) AS f")
    let ofFound = "SELECT \(columns) \(found) WHERE \(stays ?? "1")"
    return (ofNodes + [ofFound]).joined(separator: "\nUNION ")
  }

  /// All rows on the way to a table: the number of their table, below zero where it is an edge's, the
  /// node that they go with, and what tells them apart.
  private func way(to table: Int) -> String {
    let within = onTheWay(to: table)
    let first = starts.filter { within.contains($0.child) }.flatMap { step in
      fromNodes(step).map { "\(selected(step.child, isOfEdge(step) ? "-" : "", "g.id")) \($0)" }
    }
    let more = steps.filter { within.contains($0.child) && within.contains($0.parent) }.map {
      "\(selected($0.child, "", "f.g")) \(fromFound($0, in: "f"))"
    }
    return """
      WITH RECURSIVE f(t, g, \(places.joined(separator: ", "))) AS (
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
      \(children(step)) WHERE \(names.condition)
      """
    }
  }

  private func fromFound(_ step: Step, in found: String, _ child: String = "w1") -> String {
    """
    FROM \(found) CROSS JOIN \(name(step.parent)) AS w0 ON abs(f.t) = \(step.parent)
      AND \(tables[step.parent].identity("w0")) = (\(identities(of: step.parent)))
    \(children(step, child))
    """
  }

  private func children(_ step: Step, _ child: String = "w1") -> String {
    "CROSS JOIN \(name(step.child)) AS \(child) ON "
      + step.key.matches(child, "w0", tables[step.parent])
  }

  // MARK: - Columns

  private func name(_ table: Int) -> String { "main.\(quoted(tables[table].name))" }

  private func selected(_ table: Int, _ sign: String, _ node: String) -> String {
    let missing = places.dropFirst(tables[table].identityCount).map { _ in ", NULL" }.joined()
    return "SELECT \(sign)\(table), \(node), \(tables[table].identityColumns("w1"))\(missing)"
  }

  private func identities(of table: Int) -> String {
    places.prefix(tables[table].identityCount).map { "f.\($0)" }.joined(separator: ", ")
  }

  private var places: [String] {
    (0..<(tables.map(\.identityCount).max() ?? 1)).map { "i\($0)" }
  }
}

extension Table {
  func isSame(as other: Table) -> Bool { name.lowercased() == other.name.lowercased() }

  fileprivate var identityCount: Int { rowid == nil ? primaryKey.count : 1 }
}
