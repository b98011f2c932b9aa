package import CascadeModel
package import CascadeSQLite
package import CascadeStore
package import SQLiteBinding
internal import SQLiteTables

/// The set D: the nodes that must go because of nodes that are gone.
///
/// D is built in `temp.gone`, in the order in which it grows. A level is the set of nodes that the
/// previous level brought in. Each rule examines a whole level with one statement for the stored
/// edges, and one for each relation in the application's tables. So a cascade costs a few
/// statements per level, however many nodes it has. Edges are read in the order of their B-tree.
///
/// 1. While a level is counted, D consists of complete levels up to that one. The counts of rules
///    16 and 32 are exact, because each edge loses its source (or destination) in exactly one
///    level.
/// 2. D only grows, so whatever a level finds stays true.
/// 3. A node of the application's tables that is in D has a number that tells its row, or is in
///    `temp.known`.
package struct Closure {
  /// The rules that some stored edge ever had. The others are not examined.
  package let rulesSeen: Rules
  let binding: Binding
  let numbers: NumberedTables
  /// Ids from here on were given since the last flush: a dead node among them never existed.
  let firstNewId: Int64
  /// The rules to follow. A sweep of one kind leaves some rules to another kind.
  let followed: Rules
  /// Whether the nodes found are deleted in steps, and not in one transaction.
  let goesInSteps: Bool
  /// Set where unreachable nodes go too. Nodes that were reachable only through deleted nodes
  /// are then unreachable as well.
  let reaching: Reachability?
  /// For each rule that counts, the relations whose edges count: because they have the rule
  /// themselves, or another edge of the same name has it.
  let counted: [RuleEffect: [EdgeRelation]]

  package init(
    rulesSeen: Rules, binding: Binding, numbers: NumberedTables, firstNewId: Int64,
    following followed: Rules = .all, inSteps goesInSteps: Bool = false,
    fromRootsOf model: StoreModel? = nil
  ) {
    (self.rulesSeen, self.binding, self.numbers) = (rulesSeen, binding, numbers)
    (self.firstNewId, self.followed, self.goesInSteps) = (firstNewId, followed, goesInSteps)
    reaching = model.map { Reachability(model: $0, binding: binding, numbers: numbers) }
    counted = RuleEffect.all(.deleteLast).reduce(into: [:]) {
      $0[$1] = binding.counted($1, stored: rulesSeen, following: followed)
    }
  }

  var storedRules: Rules { rulesSeen.intersection(followed) }

  /// The rows of `temp.gone` that the last step brought in.
  package struct Level {
    package let slice: Slice
    /// The high end identifies the level. The first level may be empty, and then the second one has
    /// the same low end.
    var number: Int64 { slice.high }
    /// What kinds of nodes the level has, as far as relations have to know.
    var ends: NodeCounts
    /// Whether an application has used keys of deleted nodes again, some of which the level has.
    var hasUsedKeys = false

    /// Whether a rule brought in some of the nodes.
    package var hasRuleEffects: Bool { ends.rows.keys.contains { $0.rule != 0 } }
  }

  /// Completes D from the nodes in `temp.dead` and the edges in `temp.lost_edges`. Returns the
  /// levels, each of which the previous one brought in.
  @discardableResult
  package func complete(_ db: borrowing Connection) throws -> [Level] {
    try addDead(db)
    var level = try level(db, above: 0)
    try leaveJoinRowsToCascade(db, level)
    var levels = [level]
    var marked = 1
    try count(db, level, withRemoved: true)
    while true {
      try addConsequences(db, level)
      // A removed edge has lost the end that its removal counts as losing, and only that end.
      if level.slice.low == 0 {
        for effect in RuleEffect.all(.delete) where followed.contains(effect.rule) {
          try db.run(LossQuery.removed(effect).addingToGone(effect))
        }
      }
      level = try self.level(db, above: level.slice.high)
      if level.slice.isEmpty, let reaching,
        levels.dropFirst(marked).contains(where: \.hasRuleEffects)
      {
        marked = levels.count + 1
        try db.appendNewlyUnreachable(behindGone: reaching)
        level = try self.level(db, above: level.slice.high)
      }
      if level.slice.isEmpty {
        try excludeNamedFiles(db)
        return levels
      }
      levels.append(level)
      try count(db, level, withRemoved: false)
    }
  }

  /// Takes the files out of D that a stored edge of any name still leads to, from a source that
  /// stays. D needs no other correction: nothing follows from a file. References in
  /// the application's rows are checked before the file is moved.
  private func excludeNamedFiles(_ db: borrowing Connection) throws {
    let roots = "SELECT id FROM main.cascade_collection WHERE name GLOB 'cascade_file/*'"
    if try db.integer(generated: roots) == nil { return }
    try db.run(
      generated: """
        DELETE FROM temp.gone WHERE rule = \(Rules.deleteDestinationIfAllSourcesDeleted.bits) AND collection IN (\(roots)) AND EXISTS (
          SELECT 1 FROM main.cascade_edge AS e WHERE e.destination = gone.id
          AND e.source NOT IN (SELECT id FROM temp.gone))
        """, [])
  }

  /// Completes D without the denied nodes, and without what would follow from these alone. Returns
  /// the denials too. A node that stays may deny in its turn, so this is repeated until nothing is
  /// denied.
  ///
  /// `denied` says what a denied node waits for (`Denials.swift`). A caller that only reads has no
  /// use for it.
  package func completeUndenied(
    _ db: borrowing Connection, deniedAs denied: WaitsFor = .restOfSweep
  ) throws -> (levels: [Level], denials: [Reason]) {
    var reasons: [Reason] = []
    try db.stopExcludingBlocked()
    while true {
      let levels = try complete(db)
      let denials = try db.denials(binding, numbers, stored: rulesSeen)
      if denials.isEmpty {
        try rememberKeptByOtherRules(db)
        return (levels, reasons)
      }
      reasons += denials.map(\.reason)
      try db.block(denials.filter { !$0.mayEnd }.map(\.denied))
      try db.block(denials.map(\.denied), waitingFor: denied)
    }
  }

  private func addDead(_ db: borrowing Connection) throws {
    try db.run(
      generated: """
        INSERT INTO temp.gone(id, collection, counts)
        SELECT d.id, coalesce(k.collection, n.collection,
            iif(d.id < 0, \(NodeTable.collection(ofRow: "d.id")), NULL)),
          coalesce(k.present, d.id < ?1)
        FROM temp.dead AS d LEFT JOIN temp.known AS k ON k.id = d.id
        LEFT JOIN cascade_node AS n ON n.id = d.id
        WHERE d.id NOT IN (SELECT id FROM temp.blocked) ORDER BY d.id
        """, [.integer(firstNewId)])
    try db.run(
      """
      INSERT OR IGNORE INTO temp.gone(id, collection)
      SELECT u.id, u.collection
      FROM temp.unreachable_nodes AS u LEFT JOIN temp.holder_order AS l ON l.id = u.id
      WHERE u.id NOT IN (SELECT id FROM temp.blocked) ORDER BY l.seq NULLS LAST, u.id
      """)
  }

  /// In a sweep that follows no cascading rule: puts the join rows that are nodes, and have lost an
  /// end, into `temp.pending_join_rows`. A sweep that cascades finds out what follows from the
  /// loss, and deletes them too.
  private func leaveJoinRowsToCascade(_ db: borrowing Connection, _ level: Level) throws {
    let joins = binding.impliedRelations.filter { $0.kind == .join }
    if joins.isEmpty || !followed.isDisjoint(with: .cascading) { return }
    for relation in joins {
      try db.stageNodes(
        losing: .destination, of: relation, level.ends.forms(of: relation.destination),
        rule: Rules.deleteSourceIfDestinationDeleted.rawValue, in: level.slice, numbers)
    }
    try db.numberFound(
      movingBy: "INSERT OR IGNORE INTO temp.pending_join_rows SELECT id FROM temp.staged")
  }

  private func level(_ db: borrowing Connection, above low: Int64) throws -> Level {
    let high = try db.integer("SELECT max(seq) FROM temp.gone") ?? 0
    let slice = Slice(low: low, high: high)
    if low == high { return Level(slice: slice, ends: NodeCounts()) }
    try db.addKnownRows(binding, numbers, .gone.limited(to: slice))
    if !numbers.tablesInNodes.isEmpty {
      // Some of these nodes never existed.
      try db.run(
        """
        UPDATE temp.gone SET counts = 0
        WHERE seq > ? AND id IN (SELECT id FROM temp.known WHERE NOT present)
        """, .integer(low))
    }
    let isUsed = try low == 0 && db.integer("SELECT 1 FROM temp.used_nodes LIMIT 1") != nil
    return Level(slice: slice, ends: try db.nodeCounts(in: slice), hasUsedKeys: isUsed)
  }

  private func addConsequences(_ db: borrowing Connection, _ level: Level) throws {
    try addNodesWithoutRemainingEdges(db)
    for effect in RuleEffect.all(.delete) where storedRules.contains(effect.rule) {
      try db.run(
        LossQuery.stored(losing: effect.lostEnd, in: level.slice).amongUsedKeys(level.hasUsedKeys)
          .addingToGone(effect))
    }
    for isJoin in level.hasUsedKeys ? [true, false] : [nil] {
      try addNodes(db, level, inJoinTables: isJoin)
    }
  }

  /// Those of relations in join tables, or of all others; nil: of all.
  private func addNodes(
    _ db: borrowing Connection, _ level: Level, inJoinTables isJoin: Bool?
  ) throws {
    for relation in binding.examinedRelations
    where relation.isInJoinTable == isJoin ?? relation.isInJoinTable {
      // SQLite enforces a foreign key at once, whichever kind of sweep this is.
      let rules = relation.isForeignKey ? relation.rules : relation.rules.intersection(followed)
      for effect in RuleEffect.all(.delete) where rules.contains(effect.rule) {
        try addNodes(db, effect, relation, level)
      }
    }
    if isJoin != true { try addThroughOutsideTables(db, level) }
    if binding.isEmpty { return }
    let isLoss = isJoin == true ? LossQuery.isLoss("staged.id", via: "staged.via") : "1"
    // In the order in which the rows of the nodes are stored.
    try db.numberFound(
      movingBy: """
        INSERT OR IGNORE INTO temp.gone(id, via, name, rule, collection)
        SELECT id, via, name, rule, collection FROM temp.staged WHERE \(isLoss) ORDER BY id
        """)
  }

  /// Nodes that all have their numbers by their rows need not be staged, so that no key has to be
  /// looked up. Destinations are found by their keys, in the order of the nodes that go.
  ///
  /// A step of a large sweep changes the fewest pages if its sources are in the order of the index
  /// that finds them, within blocks of 32,768 rows that lie together in the table.
  private func addNodes(
    _ db: borrowing Connection, _ effect: RuleEffect, _ relation: EdgeRelation, _ level: Level
  ) throws {
    let end = effect.lostEnd
    let condition = binding.isLosing(end, relation, numbers)
    let forms = level.ends.forms(of: relation[end])
    if end == .source || !numbers.isEachByRow(in: relation[end.other]) {
      return try db.stageNodes(
        losing: end, of: relation, forms, rule: effect.bit, in: level.slice, numbers,
        where: condition)
    }
    for form in forms {
      // In the order of the nodes' keys, which is the order of the indexes on references to them.
      let gone = EdgeRelation.StartingNodes(
        rows: """
          (SELECT g.id FROM temp.gone AS g CROSS JOIN \(relation[end].node(form, "g.id"))
            WHERE \(level.slice.contains()) ORDER BY \(relation[end].nodeKey(form)) LIMIT -1) AS g
          """, id: "g.id")
      let lost = LossQuery.edges(
        of: relation, losing: end, in: gone, form, numbers, where: condition
      ).amongUsedKeys(level.hasUsedKeys && relation.isInJoinTable)
      try db.run(
        lost.addingToGone(effect, orderedBy: "(\(lost.node))\(goesInSteps ? " >> 15" : "")"))
    }
  }

  private func addThroughOutsideTables(_ db: borrowing Connection, _ level: Level) throws {
    guard let name = binding.foreignKeyPathName else { return }
    let rule = Rules.deleteSourceIfDestinationDeleted.rawValue
    let nodes = ForeignKeyPlanSQL(binding.foreignKeyPlan, numbers).nodes(in: level.slice) {
      "\($0.numberKeyAndRow("r", numbers)), \($0.id), \(name), \(rule)"
    }
    for nodes in nodes {
      try db.run("INSERT INTO temp.staged(id, key, row, collection, name, rule, via) \(nodes)")
    }
  }
}

extension Connection {
  /// Blocks nodes that must stay, and clears D: it has to be found again without them. Whichever
  /// statement would insert them is kept from it by a trigger, which records each reason they have then,
  /// if they are to wait for something (`PendingCandidates.swift`).
  package func block(
    _ nodes: some Sequence<Int64>, waitingFor waits: WaitsFor? = nil
  ) throws(SQLiteError) {
    for node in nodes {
      try run(
        "INSERT OR IGNORE INTO temp.blocked VALUES(?, ?)", .integer(node),
        .integer(waits?.rawValue))
    }
    try run("DELETE FROM temp.new_candidates WHERE id IN (SELECT id FROM temp.blocked)")
    try empty(.ownedBy(.closure))
    try execute(
      """
      CREATE TEMP TRIGGER IF NOT EXISTS exclude_blocked BEFORE INSERT ON gone
      WHEN NEW.rule <> 0 AND NEW.id IN (SELECT id FROM blocked)
      BEGIN
        INSERT OR IGNORE INTO new_candidates(id, via, name, rule, collection, waits_for)
        SELECT NEW.id, NEW.via, NEW.name, NEW.rule, NEW.collection, b.waits_for
        FROM blocked AS b WHERE b.id = NEW.id AND b.waits_for IS NOT NULL;
        SELECT RAISE(IGNORE);
      END
      """)
  }

  /// The trigger goes when nothing was blocked for a while: it takes time for each node.
  func stopExcludingBlocked() throws(SQLiteError) {
    let isAny = try integer(
      "SELECT 1 FROM (SELECT id FROM temp.blocked UNION ALL SELECT id FROM temp.due_candidates)")
    if isAny == nil { try execute("DROP TRIGGER IF EXISTS temp.exclude_blocked") }
  }

  /// Adds the application's rows among the nodes of `driver` to `temp.known`: a stored edge led to
  /// them, so until now only their id in `cascade_node` is known.
  func addKnownRows(
    _ binding: Binding, _ numbers: NumberedTables, _ driver: EdgeRelation.StartingNodes
  ) throws(SQLiteError) {
    for table in binding.collections.values where numbers.tablesInNodes.contains(table.id) {
      try run(
        """
        INSERT OR IGNORE INTO temp.known(id, collection, key, row, present)
        SELECT n.id, n.collection, n.key, \(table.row("d")), \(table.isFound("d"))
        FROM \(driver.rows) CROSS JOIN cascade_node AS n
          ON n.id = \(driver.id) AND n.collection = \(table.id)
        LEFT JOIN \(table.rows) AS d ON \(table.hasKey("d", "n.key"))
        WHERE \(driver.condition ?? "1") AND n.id NOT IN (SELECT id FROM temp.known)
        """)
    }
  }
}
