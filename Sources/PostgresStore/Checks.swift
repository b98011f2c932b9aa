internal import CascadeEngine
internal import CascadeModel
internal import CascadePostgres
internal import CascadeStore
internal import PostgresBinding
internal import PostgresChanges
internal import PostgresSweeps
internal import PostgresTables

/// Whether the rules see everything, and whether they are fast.
struct SetupCheck {
  private let store: StoreConnection

  init(_ store: StoreConnection) { self.store = store }

  func findings() throws -> [SetupFinding] {
    let problems = store.binding.problems.map {
      SetupFinding(kind: .binding, table: nil, message: $0.description)
    }
    return try problems + triggerFindings() + OwnerFunctions(store).findings() + expiryFindings()
      + findingsOfDatabase()
  }

  /// Those that do not need the store to be attached.
  func findingsOfDatabase() throws -> [SetupFinding] {
    try IndexSearch(store).findings() + isolationFindings() + standbyFindings() + effectless
  }

  /// What is wrong with the ages of rows.
  private func expiryFindings() throws -> [SetupFinding] {
    let marks = store.binding.markProblems.map {
      SetupFinding(kind: .softDelete, table: nil, message: "\($0)")
    }
    return try marks
      + ExpiryFindings.all(of: store.model) { overdue in
        let rows = try store.overdueRows(overdue)
        _ = try rows.isAny(store)
        return try (rows.countNoTimes(store), rows.areDoubtful(store))
      }
  }

  /// What only SQLite knows is accepted, so that a model may move.
  private var effectless: [SetupFinding] {
    let replacing = store.model.collections.filter {
      if case .mapped(_, _, .ignore) = $0.value { true } else { false }
    }.keys.sorted()
    let keys =
      (store.model.exclusive ? ["exclusive"] : [])
      + (store.model.secureDelete != nil ? ["secureDelete"] : [])
      + replacing.map { "collections.\($0).replace" }
    return keys.map {
      SetupFinding(kind: .binding, table: nil, message: "\"\($0)\" has no effect on PostgreSQL")
    }
  }

  private func triggerFindings() throws -> [SetupFinding] {
    let role = try store.db.run("SELECT session_user").text!
    let there = try store.db.run(
      """
      SELECT 'cascade.' || p.proname FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
      WHERE p.pronamespace = 'cascade'::regnamespace AND t.tgenabled <> 'D'
      """
    ).texts
    return try Triggers(store, role: role).all
      .filter { !there.contains($0.function) }.map { trigger in
        SetupFinding(
          kind: .trigger, table: trigger.table,
          message: "the trigger \(trigger.name) of \(trigger.table) is missing or disabled")
      }
  }

  private func standbyFindings() throws -> [SetupFinding] {
    let query = Standbys(store.server.location).query(upTo: Standbys.nothing)
    if try !Standbys.sight(store.db.run(query).rows[0]).0.isHidden { return [] }
    let grant = try store.db.run("SELECT \(Standbys.grant)").text ?? ""
    return [
      SetupFinding(
        kind: .binding, table: nil,
        message: "the daemon's role cannot see how far the standbys are, so a change file may be "
          + "lost with the server: \(grant)")
    ]
  }

  /// Triggers that deny, and those that hold what is counted, see only what their snapshot has.
  private func isolationFindings() throws -> [SetupFinding] {
    let roles = try store.db.run(
      """
      SELECT DISTINCT coalesce(r.rolname, d.datname) FROM pg_db_role_setting s
      LEFT JOIN pg_roles r ON r.oid = s.setrole LEFT JOIN pg_database d ON d.oid = s.setdatabase,
      unnest(s.setconfig) c
      WHERE c LIKE 'default_transaction_isolation=%' AND c NOT LIKE '%=read committed'
        AND (s.setdatabase = 0 OR d.datname = current_database()) ORDER BY 1
      """
    ).texts
    return roles.map { role in
      SetupFinding(
        kind: .binding, table: nil,
        message: "\(role) has a default isolation above READ COMMITTED, in which the triggers "
          + "cannot see what others committed meanwhile")
    }
  }
}

/// References to nothing, whatever their rules.
struct ReferenceCheck {
  private let store: StoreConnection

  init(_ store: StoreConnection) { self.store = store }

  func findings(_ limit: Int) throws -> Findings {
    var findings = Findings()
    let givenUp = GivenUp(store)
    let hasGivenUp = try givenUp.isAny
    try givenUp.add(to: &findings, limit)
    for relation in store.binding.relations where !relation.isTie {
      for end in relation.join == nil ? [.destination] : EdgeEnd.allCases {
        let dangling = relation.dangling(at: end)
        let from = relation.join?.source.text("e") ?? relation.source.key.text("s")
        let stands = end == .destination ? relation.standsForNothing : "true"
        try add(
          "SELECT \(from), \(relation.to())", dangling.edges,
          "\(dangling.condition) AND \(stands)"
            + (hasGivenUp ? " AND NOT \(GivenUp.has(relation))" : ""),
          to: &findings, limit
        ) { self.dangling(relation, end, $0) }
      }
      try addUnreadable(relation, to: &findings, limit)
    }
    let left = max(0, limit - findings.list.count)
    let violations = try Validation(store: store).violations(.all, limit: left)
    findings.total += violations.total
    findings.list += violations.list.map {
      Finding(kind: $0.code.rawValue, message: $0.message, node: $0.node)
    }
    return findings
  }

  /// Texts in which references are sought, and that are no JSON.
  private func addUnreadable(
    _ relation: EdgeRelation, to findings: inout Findings, _ limit: Int
  ) throws {
    guard let list = relation.list, list.isText else { return }
    try add(
      "SELECT \(relation.source.key.text("s"))", "\(relation.source.name) s",
      "s.\(list.name)::text <> '' AND \(list.document("s")) IS NULL", to: &findings, limit
    ) { row in
      let node = relation.source.node(row[0]!)
      return Finding(
        kind: "dangling", message: "\(node) has no JSON in \(list.name): it refers to nothing",
        node: node)
    }
  }

  private func add(
    _ select: String, _ rows: String, _ condition: String, to findings: inout Findings,
    _ limit: Int, _ finding: ([String?]) -> Finding
  ) throws {
    let from = "FROM \(rows) WHERE \(condition)"
    findings.total += Int(try store.db.run("SELECT count(*) \(from)").integer ?? 0)
    let rows = try store.db.run(
      "\(select) \(from) ORDER BY 1 LIMIT \(max(0, limit - findings.list.count))"
    ).rows
    findings.list += rows.map(finding)
  }

  private func dangling(_ relation: EdgeRelation, _ end: EdgeEnd, _ row: [String?]) -> Finding {
    let edge = relation.edge(row[0] ?? "", row[1] ?? "")
    let isMissing = "which does not exist"
    let destination = relation.destination.node(row[1] ?? "")
    let hint = destination.key.hintOfNone.map { ". \($0)" } ?? ""
    let message =
      end == .destination
      ? "\(edge.source) refers by \"\(relation.name)\" to \(destination), \(isMissing)\(hint)"
      : "\(destination) is referred to by \"\(relation.name)\" from \(edge.source), \(isMissing)"
    return Finding(kind: "dangling", message: message, node: edge.source, edge: edge)
  }
}
