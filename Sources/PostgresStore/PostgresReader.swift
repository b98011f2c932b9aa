package import CascadeModel
internal import CascadeEngine
internal import CascadePostgres
package import CascadeStore
internal import PostgresBinding
internal import PostgresSweeps
internal import PostgresTables

/// The reading side of a store. A connection that was lost is made again by the next question.
package final class PostgresReader: StoreReading {
  private let path: String
  package let model: StoreModel
  private let lockTimeout: Duration
  private var connection: StoreConnection?
  var fetched = FetchCache<PropertySearch.Question, String?>()

  package init(_ path: String, _ model: StoreModel, lockTimeout: Duration) throws {
    (self.path, self.model, self.lockTimeout) = (path, model, lockTimeout)
    _ = try connected()
  }

  private func connected() throws -> StoreConnection {
    if let connection { return connection }
    let new = try StoreConnection(path, model, lockTimeout: lockTimeout)
    if try !new.isAttached { throw StoreError.detached }
    connection = new
    return new
  }

  /// Answers a question in one snapshot. Tables may have changed since the last one.
  /// A statement that takes longer than `longest` is cancelled.
  func ask<T>(longest: Duration? = nil, _ body: (StoreConnection) throws -> T) throws -> T {
    do {
      return try askOnce(longest, body)
    } catch let error as PostgresError where error.isConnectionLost {
      connection = nil
      return try askOnce(longest, body)
    }
  }

  /// The same for what has its own transactions.
  func askOutside<T>(_ body: (StoreConnection) throws -> T) throws -> T {
    _ = try ask { _ in }
    return try body(connected())
  }

  private func askOnce<T>(
    _ longest: Duration?, _ body: (StoreConnection) throws -> T
  ) throws -> T {
    let store = try connected()
    return try store.transaction(.repeatableRead, longest: longest, beginningWith: nil) { _ in
      if try !store.isAttached { throw StoreError.detached }
      try store.bindIfChanged()
      return try body(store)
    }
  }

  // MARK: - Nodes

  package func node(_ node: Node) throws -> StoredNode {
    try ask { store in
      let stored = try self.stored(node, store)
      guard let table = store.binding.tables[node.collection], let key = table.key.text(node.key)
      else { return StoredNode(node: stored, exists: false, type: nil, value: nil) }
      let row = try store.db.run(
        """
        SELECT \(table.content("t")) FROM \(table.name) t WHERE \(table.key.equal("t", text: "$1"))
        """, [key]
      ).rows.first
      guard let row else { return StoredNode(node: stored, exists: false, type: nil, value: nil) }
      return StoredNode(
        node: stored, exists: true, type: row[0], value: row[1].map { JSONText(valid: $0) })
    }
  }

  package func nodes(in collection: String, after key: Key?, limit: Int) throws -> [StoredNode] {
    try ask { store in
      guard let table = store.binding.tables[collection] else { return [] }
      let after = key.flatMap(table.key.text)
      let last = table.key.parts(of: "$1").joined(separator: ", ")
      let isAfter = after == nil ? "" : "WHERE (\(table.key.values("t"))) > (\(last))"
      let rows = try store.db.run(
        """
        SELECT \(table.key.text("t")), \(table.content("t")) FROM \(table.name) t \(isAfter)
        ORDER BY \(table.key.values("t")) LIMIT \(limit)
        """, after.map { [$0] } ?? [])
      return rows.rows.map {
        StoredNode(
          node: table.node($0[0]!), exists: true, type: $0[1],
          value: $0[2].map { JSONText(valid: $0) })
      }
    }
  }

  package func withStoredKey(_ node: Node) throws -> Node { try ask { try stored(node, $0) } }

  package func withStoredKey(_ destination: Destination) throws -> Destination {
    guard case .node(let node) = destination else { return destination }
    return .node(try withStoredKey(node))
  }

  private func stored(_ node: Node, _ store: StoreConnection) throws -> Node {
    guard let table = store.binding.tables[node.collection], let key = table.key.text(node.key)
    else { return node }
    return table.node(key)
  }

  // MARK: - Edges

  package func edges(
    _ query: EdgeQuery, after cursor: EdgeCursor?, limit: Int
  ) throws -> EdgePage {
    try ask { try EdgeListing(store: $0, query: query).page(after: cursor, limit: limit) }
  }

  package func count(_ query: EdgeQuery) throws -> Int {
    try ask { try EdgeListing(store: $0, query: query).count() }
  }

  // MARK: - Consequences

  package func plan(deleting nodes: [Node], at now: Int64?) throws -> Plan {
    try ask { store in
      var closure = try Closure(store, journal: nil)
      for node in nodes {
        let table = try store.table(node.collection)
        if let key = table.key.text(node.key) { try closure.begin(with: table, keys: [key]) }
      }
      try closure.complete()
      return try closure.plan(limit: Receipt.mostListed, includingFirst: true)
    }
  }

  package func planSweep(_ kinds: [SweepKind], at now: Int64?) throws -> Plan {
    try ask { store in
      if kinds == [.unreferenced] {
        var closure = try Closure(store, journal: nil)
        for nodes in try store.unreferencedNodes() {
          try closure.begin(with: nodes)
        }
        try closure.complete()
        return try closure.plan(limit: Receipt.mostListed, includingFirst: true)
      }
      return try store.following(kinds) {
        let readsJournal = kinds != [.unreachable]
        var closure = try Closure(
          store, journal: readsJournal ? .ofSweep(store, kinds, .unplanned) : nil)
        closure.collectsUnreachable = kinds.sweepsUnreachable(from: store.model)
        let missing = try kinds.scansTables ? DanglingReferences(store).find() : []
        try closure.begin(with: missing.filter { !$0.isHeld })
        try closure.complete()
        var plan = try closure.plan(limit: Receipt.mostListed, includingFirst: false)
        if missing.contains(where: \.isHeld) { plan.isOverLimit = true }
        return plan
      }
    }
  }

  package func plan(ofHeld plan: Int64, kinds: [SweepKind]) throws -> Plan {
    guard let held = try ask({ try CausePlan.read(plan, $0) }) else {
      return try planSweep(kinds, at: nil)
    }
    return try ask { store in
      try store.following(held.kinds) {
        var closure = try Closure(
          store, journal: .ofSweep(store, held.kinds, .ofPlan(held.number)))
        try closure.complete()
        var plan = try closure.plan(limit: Receipt.mostListed, includingFirst: false)
        plan.isOverLimit = true
        return plan
      }
    }
  }

  package func why(_ destination: Destination, at now: Int64?) throws -> Why {
    try ask { store in
      switch destination {
      case .node(let node): try Explanation(store: store).why(node)
      case .file(let root, let path): try Explanation(store: store).why(file: path, in: root)
      }
    }
  }

  // MARK: - Checks

  package func checkSetup() throws -> [SetupFinding] { try ask { try SetupCheck($0).findings() } }

  package func tableCounts() throws -> (own: Int, others: Int) {
    try ask { store in
      let row = try store.db.run(
        """
        SELECT count(*) FILTER (WHERE schemaname = 'cascade'),
          count(*) FILTER (WHERE schemaname <> 'cascade') FROM pg_tables
        WHERE schemaname NOT IN ('pg_catalog', 'information_schema')
        """
      ).rows[0]
      return (Int(row[0]!)!, Int(row[1]!)!)
    }
  }

  /// Only the tables' owner can create indexes.
  package func estimateIndexes() -> [IndexEstimate] { [] }

  package func checkReferences(limit: Int) throws -> Findings {
    try ask { store in try store.readingWholeTables { try ReferenceCheck(store).findings(limit) } }
  }

}
