internal import CascadeModel
internal import CascadeEngine
internal import CascadePostgres
package import CascadeStore
internal import PostgresBinding
internal import PostgresSweeps
internal import PostgresTables

/// What the daemon does with leases. An application may write the rows itself.
extension PostgresWriter {
  @discardableResult
  package func lease(
    _ subjects: [Lease.Subject], owner: String, seconds: Int64, connection: Int64?, at now: Int64
  ) throws -> [Lease] {
    try store.transaction {
      try subjects.map { subject in
        let row = try row(of: subject)
        let connection = connection.map { "\($0)" }
        try db.run(
          """
          DELETE FROM cascade.lease WHERE collection = $1 AND key IS NOT DISTINCT FROM $2
          AND owner = $3 AND connection IS NOT DISTINCT FROM $4::bigint
          """, row + [owner, connection])
        let lease = try db.run(
          """
          INSERT INTO cascade.lease(collection, key, owner, connection, expires)
          VALUES($1, $2, $3, $4::bigint, \(LeaseTable.seconds)::bigint + \(seconds))
          RETURNING \(LeaseList.columns)
          """, row + [owner, connection])
        return Lease(lease.rows[0], store)
      }
    }
  }

  package func release(_ subjects: [Lease.Subject], owner: String?) throws -> Int {
    try store.transaction {
      try subjects.reduce(0) { count, subject in
        try count
          + db.run(
            """
            DELETE FROM cascade.lease WHERE collection = $1 AND key IS NOT DISTINCT FROM $2
            AND ($3::text IS NULL OR owner = $3)
            """, row(of: subject) + [owner]
          ).changed
      }
    }
  }

  /// The collection, and the key as Cascade's tables have it.
  private func row(of subject: Lease.Subject) throws -> [String?] {
    try model.refuse(unlessLeasable: subject)
    switch subject {
    case .collection(let name): return [name, nil]
    case .node(let node):
      guard let table = store.binding.tables[node.collection] else {
        throw Rejection(.invalid, "the tables have no \"\(node.collection)\" now", node: node)
      }
      guard let key = table.key.text(node.key) else {
        throw Rejection(
          .invalid, "no row of \"\(node.collection)\" can have the key of \(node)", node: node)
      }
      return [node.collection, key]
    }
  }

  package func releaseConnection(_ connection: Int64) throws {
    if isDetached { return }
    try db.run("DELETE FROM cascade.lease WHERE connection = \(connection)")
  }

  /// Ends the leases of all connections. No connection outlives the daemon.
  package func releaseConnections() throws {
    if isDetached { return }
    try db.run("DELETE FROM cascade.lease WHERE connection IS NOT NULL")
  }

  // MARK: - The end of leases

  /// Returns when the next one ends, by the clock that shows `now`.
  package func deleteExpiredLeases(at now: Int64) throws -> (wereAny: Bool, next: Int64?) {
    if isDetached { return (false, nil) }
    let row = try db.runAgain(reviewQueries.leases).rows[0]
    let wereAny = row[0] != "0"
    if wereAny { try db.run("DELETE FROM cascade.lease WHERE expires <= \(LeaseTable.seconds)") }
    return (wereAny, row[1].flatMap { Int64($0) }.map { now + max(0, $0) })
  }

  package func hasReleasedCandidate(at now: Int64) throws -> Bool {
    if isDetached { return false }
    return try db.runAgain(
      """
      SELECT EXISTS (SELECT FROM cascade.blocked b
        WHERE b.is_leased AND NOT \(BlockedNodes.isLeased))
      """
    ).bool
  }

  /// Also whether a sweep from the roots had to leave what others had locked, and these have ended.
  package func hasReachingLeaseEnded(at now: Int64) throws -> Bool {
    if isDetached || model.roots.isEmpty { return false }
    return try db.runAgain(
      "SELECT \(UnreachedNodes.hasLeaseEnded) OR \(UnreachedNodes.areDue)"
    ).bool
  }

  /// Leases end by the server's clock. If that is set, the leases that were known by then move with
  /// it. `elapsed` is a clock of this machine that is never set.
  package func noteTime(wall: Int64, elapsed: Int64) throws {
    if isDetached { return }
    try noteWallClock(wall, elapsed)
    try reviewQueries.askAhead(store)
    let row = try db.runAgain(reviewQueries.clock).rows[0]
    let (server, lease) = (Int64(row[0]!)!, row[1].flatMap { Int64($0) })
    if let last = lastTime, let known = last.lease {
      let jump = (server - last.server) - (elapsed - last.elapsed)
      if abs(jump) >= LastTime.leastJump {
        try db.run(
          "UPDATE cascade.lease SET expires = expires + \(jump / 1_000) WHERE id <= \(known)")
      }
    }
    lastTime = LastTime(server: server, elapsed: elapsed, lease: lease)
  }

  /// The trash, the ledger and notices end by the clock of this machine.
  private func noteWallClock(_ wall: Int64, _ elapsed: Int64) throws {
    let finding = try clock.compare(wall: wall, elapsed: elapsed) { try store[meta: "clock.last"] }
    if finding == .nothing { return }
    try store.transaction {
      try store.set("clock.last", wall)
      if case .jump(let jump) = finding { try ClockJumps.record(jump, db) }
    }
  }

  /// What the clocks showed, and the newest lease.
  struct LastTime {
    fileprivate let server: Int64
    fileprivate let elapsed: Int64
    fileprivate let lease: Int64?

    /// In milliseconds. A clock that is adjusted slowly does not jump.
    fileprivate static let leastJump: Int64 = 2_000
  }

  package func saveTime(wall: Int64) throws {
    if !isDetached { try store.set("clock.last", wall) }
  }
}

/// The leases in force, the first to end first.
struct LeaseList {
  let store: StoreConnection

  static let columns = "collection, key, owner, expires, connection IS NOT NULL"

  func all(limit: Int) throws -> [Lease] { try list("true", [], limit) }

  func leases(of table: MappedTable, _ key: String) throws -> [Lease] {
    try list("collection = $1 AND (key IS NULL OR key = $2)", [table.collection, key], .max)
  }

  private func list(_ condition: String, _ values: [String?], _ limit: Int) throws -> [Lease] {
    try store.db.run(
      """
      SELECT \(LeaseList.columns) FROM cascade.lease
      WHERE \(condition) AND expires > \(LeaseTable.seconds) ORDER BY expires, id LIMIT \(limit)
      """, values
    ).rows.map { Lease($0, store) }
  }
}

extension Lease {
  fileprivate init(_ row: [String?], _ store: StoreConnection) {
    let collection = row[0]!
    self.init(
      collection: collection,
      key: row[1].map { store.binding.tables[collection]?.key.key($0) ?? .text($0) },
      owner: row[2], expires: Int64(row[3]!)!, isOfConnection: row[4] == "t")
  }
}
