package import CascadeModel
internal import CascadeEngine
package import CascadeSQLite
package import CascadeStore
package import SQLiteTables
internal import SQLiteDeletion
internal import SQLiteJournal
internal import SQLiteBinding
internal import SQLiteRules

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

  /// Whether a lease or a denial may have ended that spared a node, so that the node may go now.
  package func hasReleasedCandidate(at now: Int64) throws -> Bool {
    if attachment.isDetached { return false }
    if try heldBack.endings != heldBack.examined && db.waitsForEndOfDenial { return true }
    return try db.hasFreed(at: now)
  }

  private func row(of subject: Lease.Subject) throws -> (collection: Value, key: Value) {
    try model.refuse(unlessLeasable: subject)
    switch subject {
    case .collection(let name): return (.text(name), .null)
    case .node(let node):
      let stored = binding.collections[node.collection]?.stored(node.key)
      return (.text(node.collection), stored ?? .text(node.key.managedText))
    }
  }
}

extension Lease {
  /// From the columns: collection, key, owner, expires, connection.
  package init(row: Row, _ model: StoreModel) {
    self.init(
      collection: row.text(0), key: row.isNull(1) ? nil : row.key(1, in: row.text(0), model),
      owner: row.optionalText(2), expires: row.integer(3), isOfConnection: !row.isNull(4))
  }
}
