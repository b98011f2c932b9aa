internal import Model
internal import SQLite

/// What had a reason to go, and had to stay: the reason is kept (`Spared.swift`). Nobody writes down
/// that something does not deny any more, so who looks through whole tables looks at these, too.
extension Connection {
  /// It may be held by what stays because of a lease; or by what another kind of sweep will delete.
  func remember(denied nodes: [Int64], by followed: Rules) throws(SQLiteError) {
    let denied: Int64 = try hasLeases ? 1 : followed == .all ? 4 : 2
    for node in nodes {
      try run(
        """
        INSERT OR IGNORE INTO temp.spared(id, via, name, rule, collection, denied)
        SELECT id, via, name, rule, collection, ? FROM temp.gone WHERE id = ? AND rule <> 0
        """, .integer(denied), .integer(node))
    }
  }

  var hasDenied: Bool {
    get throws(SQLiteError) {
      try integer("SELECT 1 FROM cascade_spared WHERE denied > 1 LIMIT 1") != nil
    }
  }
}

extension Writer {
  /// By another model it may be none.
  func forgetOtherRules() throws {
    let rules = model.relationships.map {
      "\($0.from) \($0.name) \($0.place) \($0.to.collections) \($0.rules.rawValue)"
    }
    let fingerprint = Fingerprint(rules.sorted().joined(separator: "\n")).signed
    if try db.meta("rules") == fingerprint { return }
    try group {
      try db.run("DELETE FROM cascade_spared WHERE denied > 1")
      try db.setMeta("rules", fingerprint)
    }
  }
}
