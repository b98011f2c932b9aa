package import CascadeModel
internal import CascadeSQLite
internal import CascadeSystem

/// A lease of a node or of a whole collection: one row of `cascade_lease`.
package struct Lease: Hashable, Sendable {
  package let collection: String
  /// Nil where the whole collection is leased.
  package let key: Key?
  package let owner: String?
  /// In seconds since 1970.
  package let expires: Int64
  /// Whether it ends with a client's connection.
  package let isOfConnection: Bool

  /// What a lease is for.
  package enum Subject: Hashable, Sendable {
    case node(Node)
    case collection(String)
  }

  package static let standard: Int64 = 900
}

extension Lease {
  /// From the columns: collection, key, owner, expires, connection.
  fileprivate init(row: Row, _ model: StoreModel) {
    collection = row.text(0)
    key = row.isNull(1) ? nil : row.key(1, in: row.text(0), model)
    owner = row.optionalText(2)
    expires = row.integer(3)
    isOfConnection = !row.isNull(4)
  }
}

/// What the daemon does with leases. An application writes the rows itself.
extension Writer {
  /// Takes leases for so many seconds, or renews those of the same owner. Leases of a connection
  /// end with it.
  @discardableResult
  package func lease(
    _ subjects: [Lease.Subject], owner: String, seconds: Int64, connection: Int64? = nil,
    at now: Int64
  ) throws -> [Lease] {
    try group {
      try subjects.compactMap { subject in
        let (collection, key) = try row(of: subject)
        try db.run(
          """
          DELETE FROM cascade_lease
          WHERE collection = ? AND key IS ? AND owner = ? AND connection IS ?
          """, collection, key, .text(owner), .integer(connection))
        return try db.first(
          """
          INSERT INTO cascade_lease(collection, key, owner, expires, connection)
          VALUES(?, ?, ?, ?, ?) RETURNING collection, key, owner, expires, connection
          """, collection, key, .text(owner), .integer(now / 1_000 + seconds),
          .integer(connection)
        ) { Lease(row: $0, model) }
      }
    }
  }

  /// Ends leases of any owner, or only those of `owner` if it is given. Returns how many ended.
  package func release(_ subjects: [Lease.Subject], owner: String? = nil) throws -> Int {
    try group {
      var count = 0
      for subject in subjects {
        let (collection, key) = try row(of: subject)
        try db.run(
          """
          DELETE FROM cascade_lease WHERE collection = ?1
          AND (key IS ?2 OR CAST(key AS TEXT) = CAST(?2 AS TEXT)) AND (?3 IS NULL OR owner = ?3)
          """, collection, key, .text(owner))
        count += db.changes
      }
      return count
    }
  }

  package func releaseConnection(_ connection: Int64) throws {
    try group {
      try db.run("DELETE FROM cascade_lease WHERE connection = ?", .integer(connection))
    }
  }

  /// Ends the leases of all connections. No connection outlives the daemon.
  package func releaseConnections() throws {
    if attachment.isDetached { return }
    if try db.integer("SELECT 1 FROM cascade_lease WHERE connection IS NOT NULL") == nil { return }
    try group { try db.run("DELETE FROM cascade_lease WHERE connection IS NOT NULL") }
  }

  /// Deletes the leases that have ended. Returns when the next one ends, in milliseconds.
  package func deleteExpiredLeases(at now: Int64) throws -> (wereAny: Bool, next: Int64?) {
    if attachment.isDetached { return (false, nil) }
    let limit = Value.integer(now / 1_000)
    let wereAny = try db.integer("SELECT 1 FROM cascade_lease WHERE expires <= ?", limit) != nil
    if wereAny { try group { try db.run("DELETE FROM cascade_lease WHERE expires <= ?", limit) } }
    let next = try db.integer("SELECT CAST(min(expires) AS INTEGER) FROM cascade_lease")
    // The clock may be within the last second of a lease that ends with a fraction.
    return (wereAny, next.map { max($0 * 1_000, now + 1_000) })
  }

  /// Whether a lease has ended that spared a node, so that the node may go now.
  package func hasReleasedCandidate(at now: Int64) throws -> Bool {
    attachment.isDetached ? false : try db.hasFreed(at: now)
  }

  private func row(of subject: Lease.Subject) throws -> (collection: Value, key: Value) {
    switch subject {
    case .collection(let name): return (.text(name), .null)
    case .node(let node):
      if let misfit = model.keyProblem(node) { throw Rejection(.invalid, misfit, node: node) }
      let stored = binding.collections[node.collection].map { $0.stored(node.key) }
      return (.text(node.collection), (stored ?? nil) ?? .text(node.key.managedText))
    }
  }
}

extension Reader {
  /// The leases in force now, the first to end first.
  package func leases(at now: Int64? = nil, limit: Int = 1_000) throws -> [Lease] {
    try db.all(
      """
      SELECT collection, key, owner, CAST(expires AS INTEGER), connection FROM cascade_lease
      WHERE expires > ? ORDER BY expires, id LIMIT ?
      """, .integer((now ?? SystemClock.wall()) / 1_000), .integer(Int64(limit))
    ) { Lease(row: $0, model) }
  }

  /// The leases of an existing node, and those of its collection.
  func leases(of node: Node, at now: Int64?) throws -> [Lease] {
    let now = (now ?? SystemClock.wall()) / 1_000
    guard let table = try binding().collections[node.collection],
      let values = table.columnValues(node.key)
    else {
      return try db.all(
        """
        SELECT collection, key, owner, CAST(expires AS INTEGER), connection FROM cascade_lease
        WHERE collection = ? AND expires > ? AND (key IS NULL OR CAST(key AS TEXT) = ?)
        ORDER BY expires, id
        """, .text(node.collection), .integer(now), .text(node.key.managedText)
      ) { Lease(row: $0, model) }
    }
    return try db.all(
      generated: """
        SELECT l.collection, l.key, l.owner, CAST(l.expires AS INTEGER), l.connection
        FROM \(table.rows) AS n CROSS JOIN main.cascade_lease AS l
          ON l.collection = \(literal(node.collection))
          AND (l.key IS NULL
            OR \(table.leasedKeys("l").map { table.hasKey("n", $0) }.joined(separator: " OR ")))
        WHERE \(table.isKeyed("n")) AND l.expires > \(now)
        ORDER BY l.expires, l.id
        """, values
    ) { Lease(row: $0, model) }
  }
}
