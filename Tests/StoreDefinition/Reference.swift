package import CascadeModel

/// The meaning of the rules, in plain Swift: every rule looks at every edge until
/// nothing changes. Slow, and short enough to be believed.
package struct Reference {
  package struct EdgeID: Hashable {
    package var name: String
    package var source: Node
    package var destination: Node
    package var origin: Origin

    var path: String {
      "\(name)/\(source.collection)/\(destination.collection)"
    }
  }

  package struct Told: Hashable {
    package var receiver: Node
    package var edge: EdgeID
    package var reason: String
  }

  package struct Result: Equatable {
    package var deleted: Set<Node> = []
    package var denied: Set<Node>?

    package init(deleted: Set<Node> = [], denied: Set<Node>? = nil) {
      (self.deleted, self.denied) = (deleted, denied)
    }
  }

  package var nodes: [Node: String] = [:]
  package var edges: [EdgeID: Rules] = [:]
  package var notices: [Told] = []
  /// Of edges in properties, by `name/from/to`. Property `x_a` refers to the collection "a" by "x".
  package var propertyRules: [String: Rules] = [:]

  /// References without a type, by `name/from`: the collections that they may lead to. There is an
  /// edge to each of these in `edges`, and it counts while the node is there.
  package var alternatives: [String: [String]] = [:]

  /// Join rows that are nodes, by their collection. A row has an edge to each of its ends, by which it
  /// goes with that end, and is an edge between them.
  package struct Joined {
    package let name: String
    /// The names of the edges to the source and to the destination.
    package let ends: [String]
    package let rules: Rules

    package init(name: String, ends: [String], rules: Rules) {
      (self.name, self.ends, self.rules) = (name, ends, rules)
    }
  }
  package var joined: [String: Joined] = [:]
  /// The rows of each edge between the ends of join rows.
  private var rows: [EdgeID: Set<Node>] = [:]

  /// Relationships in columns, by `name/from/to`. An edge that no rule removed is there again once
  /// its destination is.
  package var columns: Set<String> = []

  /// Relationships in the rows of their sources, by `name/from/to`. What stays after a sweep may refer
  /// to nothing there, whatever its rules.
  package var inRows: Set<String> = []

  /// Why nodes that a sweep had to leave would have gone (`ReferenceSweeps.swift`).
  var heldBack: [HeldReason: Set<EdgeID>] = [:]
  /// References in rows that had lost one end when an application deleted the other one.
  var ended: Set<EdgeID> = []
  /// When the application deleted nodes since the last sweep, and made them anew.
  var (deletedAt, arrivedAt): ([Node: Int], [Node: Int]) = ([:], [:])
  var clock = 0
  /// Whether it is an application that writes, and a sweep that follows.
  var isSweeping = false

  /// Edges in properties and columns whose destination is not there. Once it is, they are edges.
  private(set) var loose: [EdgeID: Rules] = [:]
  /// Nodes that are not there, and to which there will be edges once they are.
  package var awaited: Set<Node> { Set(loose.keys.map(\.destination)) }

  private(set) var nodesBefore: Set<Node> = []
  private var nodesPut: Set<Node> = []
  private var edgesBefore: Set<EdgeID> = []
  var removed: [EdgeID: (rules: Rules, removal: Removal)] = [:]
  /// A patch of this node found nothing to patch.
  private var unpatched: Node?

  package init() {}

  package mutating func apply(_ changes: [Change]) -> Result {
    let before = self
    var result = Result()
    begin()
    for change in changes + [.flush] {
      if case .flush = change {
        if let denied = flush(&result) {
          self = before
          return Result(deleted: [], denied: denied)
        }
      } else {
        apply(change)
        if let unpatched {
          self = before
          return Result(denied: [unpatched])
        }
      }
    }
    return result
  }

  mutating func begin() {
    nodesBefore = Set(nodes.keys)
    nodesPut = []
    edgesBefore = Set(edges.keys)
    removed = [:]
    (ended, deletedAt, arrivedAt) = ([], [:], [:])
  }

  mutating func apply(_ change: Change) {
    endWait(change)
    switch change {
    case .put(let node, _, let value, let declared, _, _):
      noteArrival(of: node)
      nodes[node] = value?.text ?? ""
      nodesPut.insert(node)
      tie(to: node)
      if let declared { declare(declared, of: node) }
      followRows()
      beginAgain()
    case .delete(let node, _):
      if nodes.removeValue(forKey: node) != nil { endLosses(of: node) }
      followRows()
    case .deleteAll(let collection): nodes = nodes.filter { $0.key.collection != collection }
    case .link(let name, let from, .node(let to), let rules, _):
      add(EdgeID(name: name, source: from, destination: to, origin: .manual), rules!)
    case .unlink(let name, let from, .node(let to), let removal):
      remove(EdgeID(name: name, source: from, destination: to, origin: .manual), removal)
    case .patch(let node, let set, _, _, _): patch(node, set)
    default: fatalError("not generated")
    }
  }

  private mutating func patch(_ node: Node, _ set: [Member]) {
    if nodes[node] == nil { return unpatched = node }
    for member in set {
      let (name, to) = (String(member.name.prefix(1)), String(member.name.suffix(1)))
      let rules = propertyRules["\(name)/\(node.collection)/\(to)"]
      let edges = member.value.json.array!.map {
        DeclaredEdge(name: name, destination: .node(Node(to, .text($0.string!))), rules: rules)
      }
      declare(edges, of: node) { $0.name == name && $0.destination.collection == to }
    }
  }

  private mutating func tie(to node: Node) {
    for (id, rules) in loose where id.destination == node && nodes[id.source] != nil {
      add(id, rules)
      loose[id] = nil
    }
  }

  /// The declared edges of a node, or those of them that are meant, become these.
  private mutating func declare(
    _ declared: [DeclaredEdge], of node: Node, where isMeant: (EdgeID) -> Bool = { _ in true }
  ) {
    loose = loose.filter { $0.key.source != node || !isMeant($0.key) }
    var kept: Set<EdgeID> = []
    for edge in declared {
      guard case .node(let to) = edge.destination else { continue }
      let id = EdgeID(name: edge.name, source: node, destination: to, origin: .declared)
      add(id, edge.rules!)
      kept.insert(id)
    }
    for id in edges.keys where id.source == node && id.origin == .declared && !kept.contains(id) {
      if isMeant(id) && rows[id] == nil { remove(id, .sourceDeleted) }
    }
  }

  // MARK: - Join rows

  private mutating func followRows() {
    let before = Set(rows.keys)
    rows = [:]
    for node in nodes.keys {
      guard let join = joined[node.collection] else { continue }
      let ends = join.ends.compactMap { name in
        edges.keys.first { $0.source == node && $0.name == name }?.destination
      }
      if ends.count < 2 { continue }
      let id = EdgeID(name: join.name, source: ends[0], destination: ends[1], origin: .declared)
      rows[id, default: []].insert(node)
      if edges[id] == nil { add(id, join.rules) }
    }
    for id in before where rows[id] == nil {
      // An edge that goes with a node is lost also if the transaction has added it.
      edgesBefore.insert(id)
      remove(id, .sourceDeleted)
    }
  }

  private func hasLostRows(_ edge: EdgeID, _ gone: Set<Node>) -> Bool {
    rows[edge]?.isSubset(of: gone) ?? false
  }

  private mutating func add(_ id: EdgeID, _ rules: Rules) {
    edges[id] = rules
    removed[id] = nil
    ended.remove(id)
  }

  private mutating func remove(_ id: EdgeID, _ removal: Removal) {
    guard let rules = edges.removeValue(forKey: id) else { return }
    if alternatives(of: id) != nil && !nodesBefore.contains(id.destination) { return }
    if !isLoss(id, removal) { return }
    if isSweeping || edgesBefore.contains(id) { removed[id] = (rules, removal) }
  }

  // MARK: - References without a type

  /// The edges of the same reference; nil for others.
  package func alternatives(of edge: EdgeID) -> [EdgeID]? {
    alternatives["\(edge.name)/\(edge.source.collection)"]?.map { collection in
      var other = edge
      other.destination = Node(collection, edge.destination.key)
      return other
    }
  }

  /// Those whose destination is there.
  package var existingEdges: [EdgeID: Rules] {
    edges.filter { edge, _ in
      (alternatives(of: edge) == nil || nodes[edge.destination] != nil)
        && joined[edge.source.collection]?.ends.contains(edge.name) != true
    }
  }

  /// A reference is an edge to each node of its key that was there. If there was none, it is an edge
  /// to nothing in the first collection.
  private func isEdge(_ edge: EdgeID) -> Bool {
    guard let all = alternatives(of: edge) else { return true }
    func wasThere(_ edge: EdgeID) -> Bool {
      let node = edge.destination
      return nodes[node] != nil || nodesBefore.contains(node) || nodesPut.contains(node)
    }
    return wasThere(edge) || edge == all.first && !all.contains(where: wasThere)
  }

  /// Whether a reference leads to nothing that stays.
  func isLost(_ edge: EdgeID, _ gone: Set<Node>) -> Bool {
    (alternatives(of: edge) ?? [edge]).map(\.destination).allSatisfy {
      nodes[$0] == nil || gone.contains($0)
    }
  }

  // MARK: - Flush

  /// The denied nodes, if there are any.
  private mutating func flush(_ result: inout Result) -> Set<Node>? {
    let gone = closure()
    let denied = denied(gone)
    if !denied.isEmpty { return denied }
    result.deleted.formUnion(gone.filter { nodes[$0] != nil || nodesBefore.contains($0) })
    end(gone)
    return nil
  }

  /// Carries out what was found, and begins anew.
  mutating func end(_ gone: Set<Node>) {
    notices += told(gone)
    nodes = nodes.filter { !gone.contains($0.key) }
    heldBack = heldBack.filter { nodes[$0.key.node] != nil }
    if isSweeping || !columns.isEmpty || !propertyRules.isEmpty { loosen(gone) }
    edges = edges.filter { edge, _ in
      !gone.contains(edge.source) && !isLost(edge, gone) && !hasLostRows(edge, gone)
    }
    rows = rows.filter { edges[$0.key] != nil }.mapValues { $0.subtracting(gone) }
    begin()
  }

  private mutating func loosen(_ gone: Set<Node>) {
    let left = edges.filter {
      $0.key.origin == .declared && gone.contains($0.key.destination) && !$0.value.contains(64)
        && (isSweeping
          ? inRows.contains($0.key.path) : columns.isEmpty || columns.contains($0.key.path))
    }
    loose.merge(left) { $1 }
    loose = loose.filter { !gone.contains($0.key.source) }
  }

  /// `kept` stays, and what would follow from it alone.
  func closure(without kept: Set<Node> = []) -> Set<Node> {
    var gone = nodesBefore
    for edge in edges.keys where isEdge(edge) { gone.formUnion([edge.source, edge.destination]) }
    gone = gone.filter { nodes[$0] == nil }
    while true {
      let count = gone.count
      eachLoss(gone) { edge, rules, losesSource in
        gone.formUnion(follower(edge, rules, losesSource, gone).subtracting(kept))
      }
      if gone.count == count { return gone }
    }
  }

  /// Every edge that lost exactly one end: whether it is the source.
  func eachLoss(_ gone: Set<Node>, _ body: (EdgeID, Rules, Bool) -> Void) {
    for (edge, rules) in edges where isEdge(edge) {
      let source = gone.contains(edge.source)
      if source == gone.contains(edge.destination) {
        if !source && hasLostRows(edge, gone) { body(edge, rules, true) }
        continue
      }
      if source || isLost(edge, gone) { body(edge, rules, source) }
    }
    for (edge, (rules, removal)) in removed {
      if removal == .sourceDeleted && !gone.contains(edge.destination) { body(edge, rules, true) }
      if removal == .destinationDeleted && !gone.contains(edge.source) { body(edge, rules, false) }
    }
    if !isSweeping { return }
    for reason in heldBack.keys where !gone.contains(reason.node) && stands(reason) {
      body(reason.edge, reason.rule, reason.losesSource)
    }
  }

  func follower(
    _ edge: EdgeID, _ rules: Rules, _ losesSource: Bool, _ gone: Set<Node>
  ) -> Set<Node> {
    if losesSource {
      if rules.contains(.deleteDestinationIfSourceDeleted) { return [edge.destination] }
      let remains = remaining(gone).contains {
        $0.name == edge.name && $0.destination == edge.destination
      }
      return rules.contains(.deleteDestinationIfAllSourcesDeleted) && !remains
        ? [edge.destination] : []
    }
    if rules.contains(.deleteSourceIfDestinationDeleted) { return [edge.source] }
    let remains = remaining(gone).contains { $0.name == edge.name && $0.source == edge.source }
    return rules.contains(.deleteSourceIfAllDestinationsDeleted) && !remains ? [edge.source] : []
  }

  private func remaining(_ gone: Set<Node>) -> some Sequence<EdgeID> {
    edges.keys.lazy.filter {
      !gone.contains($0.source) && !gone.contains($0.destination) && isEdge($0)
        && !hasLostRows($0, gone)
    }
  }

  func denied(_ gone: Set<Node>) -> Set<Node> {
    var denied: Set<Node> = []
    for (edge, rules) in edges where isEdge(edge) {
      if rules.contains(.denyDestinationDeletion) && !gone.contains(edge.source)
        && isLost(edge, gone)
      {
        denied.insert(edge.destination)
      }
      if rules.contains(.denySourceDeletion) && !gone.contains(edge.destination) {
        denied.insert(edge.source)
      }
    }
    return denied.filter {
      gone.contains($0) && (nodes[$0] != nil || nodesBefore.contains($0))
    }
  }

  private func told(_ gone: Set<Node>) -> [Told] {
    var told: [Told] = []
    eachLoss(gone) { edge, rules, losesSource in
      if losesSource && rules.contains(.notifyIfSourceDeleted) {
        told.append(Told(receiver: edge.destination, edge: edge, reason: "sourceDeleted"))
      }
      if !losesSource && rules.contains(.notifyIfDestinationDeleted) {
        told.append(Told(receiver: edge.source, edge: edge, reason: "destinationDeleted"))
      }
    }
    return told
  }
}
