internal import CascadeModel
internal import CascadePostgres
internal import PostgresBinding
internal import PostgresTables

/// Rows and objects whose references a change file writes. The triggers are quiet for it.
///
/// 1. Before a row is written for the first time, the edges that it has are journaled as lost. Those
///    that it has again at the end are not lost.
/// 2. What a row refers to when it is deleted, its deletion journals. A row that is put again then is the
///    same one, and had these edges before: those that it does not have again were removed.
struct WrittenRows {
  private let store: StoreConnection
  private let batch: Int64
  /// By the number of their table.
  private(set) var keys: [Int64: Set<String>] = [:]
  /// The members that patches have named, by table and key, of rows that were only patched.
  private var patched: [Int64: [String: Set<String>]] = [:]
  private var newcomers = Newcomers()
  /// The rows of `cascade.work` with the edges that rows had before. An edge in one of them was removed
  /// before its row was deleted, unless a deletion behind it journals it, too.
  private(set) var before: [Int64] = []
  /// How many edges were removed so that nothing follows.
  private var removedAlone = 0

  private let hasWaiting: Bool
  private let spared: SparedCauses

  init(_ store: StoreConnection, batch: Int64, hasWaiting: Bool, _ spared: SparedCauses) {
    (self.store, self.batch, self.hasWaiting, self.spared) = (store, batch, hasWaiting, spared)
  }

  // MARK: - Before

  /// `names` are the members of a patch.
  mutating func willWrite(
    _ key: String, of table: MappedTable, patching names: [String]? = nil
  ) throws {
    let isFirst = keys[table.number, default: []].insert(key).inserted
    note(names, of: key, in: table, isFirst: isFirst)
    if newcomers.haveDeleted(key, of: table) {
      return try noteReturn(of: key, in: table, isFirst: isFirst)
    }
    if !isFirst { return }
    for relation in store.binding.relations(heldBy: table) {
      before += try store.db.run(
        """
        INSERT INTO cascade.work(what, subject, key, other, batch, done)
        SELECT \(JournalSubject.lost.rawValue), \(relation.number), \(relation.from()),
          \(relation.to()), \(batch), \(!relation.isFollowed(.lost))
        FROM \(relation.edges())
        WHERE \(table.key.equal(relation.holderRow, text: "$1::text")) AND \(relation.isListed)
        RETURNING id
        """, [key]
      ).rows.map { Int64($0[0]!)! }
    }
  }

  private mutating func note(
    _ names: [String]?, of key: String, in table: MappedTable, isFirst: Bool
  ) {
    let earlier = isFirst ? [] : patched[table.number]?[key]
    let all = names.flatMap { names in earlier.map { $0.union(names) } }
    patched[table.number, default: [:]][key] = all
  }

  /// A row that was written before it was deleted has told what it had. An edge that it was given since
  /// then, and does not have again, never was.
  private mutating func noteReturn(
    of key: String, in table: MappedTable, isFirst: Bool
  ) throws {
    let relations = store.binding.relations(from: table).filter { $0.join == nil }
    if relations.isEmpty { return }
    let isOfDeletion = """
      \(isLost(relations.numbers)) AND j.key = $1 AND NOT j.id = ANY($2::bigint[])
      """
    let values = [key, arrayText(before.map(String.init))]
    if isFirst {
      let ids = try store.db.run("SELECT j.id FROM cascade.work j WHERE \(isOfDeletion)", values)
      before += ids.texts.compactMap { Int64($0) }
    } else {
      try store.db.run("DELETE FROM cascade.work j WHERE \(isOfDeletion)", values)
    }
  }

  /// The keys of the sources whose references of this relation the file has written.
  func writtenKeys(_ relation: EdgeRelation) -> Set<String> {
    let table = relation.source.number
    return (keys[table] ?? []).filter { patched[table]?[$0].map(relation.isDecided) ?? true }
  }

  /// A row that was inserted by its other columns: it had no edges before.
  mutating func noteInsertion(_ key: String, of table: MappedTable) {
    keys[table.number, default: []].insert(key)
  }

  /// An edge that a row does not have any more was removed so that nothing follows.
  mutating func forgetLoss(of relation: EdgeRelation, from key: String, to other: String) throws {
    removedAlone += try store.db.run(
      """
      DELETE FROM cascade.work j WHERE \(isLost("\(relation.number)")) AND j.key = $1 AND j.other = $2
      AND NOT \(relation.hasEdge("j.key", "j.other"))
      """, [key, other]
    ).changed
  }

  mutating func noteDeletion(of key: String, from table: MappedTable) {
    newcomers.noteDeletion(of: key, from: table)
  }

  mutating func noteDeletion(ofAllIn table: MappedTable) {
    newcomers.noteDeletion(ofAllIn: table)
  }

  mutating func noteArrival(of key: String, in table: MappedTable) {
    newcomers.noteArrival(of: key, in: table)
  }

  // MARK: - At the end

  /// How many edges the file has added and removed in rows that are there. Journals the ends of
  /// edges that are not there.
  func finish() throws -> (added: Int, removed: Int) {
    var (added, removed) = (0, removedAlone)
    try newcomers.forgetLosses(before: self, store, batch)
    for (number, keys) in keys {
      guard let table = store.binding.table(number) else { continue }
      for relation in store.binding.relations(from: table) where relation.join == nil {
        try journalMissing(relation)
      }
      let keys = arrayText(keys.sorted())
      for relation in store.binding.relations(heldBy: table) {
        added += try countAdded(relation, keys)
        if relation.join == nil { removed += try countRemoved(relation) }
      }
    }
    for relation in store.binding.relations where relation.join?.nodes != nil {
      removed += try countRemovedJoins(relation)
    }
    return (added, removed)
  }

  /// Of a reference that leads to several tables only one edge counts.
  private func countAdded(_ relation: EdgeRelation, _ keys: String) throws -> Int {
    if !relation.countsReferences { return 0 }
    return try Int(
      store.db.run(
        """
        SELECT count(*) FROM \(relation.edges())
        WHERE \(relation.lostWith.key.isAny(relation.holderRow, "$1")) AND \(relation.isEdge())
        AND NOT EXISTS (SELECT FROM cascade.work j WHERE \(isLost(relation.numbers))
          AND j.key = \(relation.from()) AND j.other = \(relation.to()))
        """, [keys]
      ).integer ?? 0)
  }

  private func countRemoved(_ relation: EdgeRelation) throws -> Int {
    try Int(
      store.db.run(
        """
        SELECT count(*) FROM cascade.work j WHERE \(isLost("\(relation.number)"))
        \(isFirst(relation)) AND \(relation.source.has("j.key")) AND NOT \(relation.hasEdge("j.key", "j.other"))
        """
      ).integer ?? 0)
  }

  /// Also those whose rows were deleted.
  private func countRemovedJoins(_ relation: EdgeRelation) throws -> Int {
    try Int(
      store.db.run(
        """
        SELECT count(*) FROM (SELECT DISTINCT j.key, j.other FROM cascade.work j
          WHERE \(isLost("\(relation.number)"))) j WHERE NOT \(relation.hasEdge("j.key", "j.other"))
        """
      ).integer ?? 0)
  }

  private func endWaiting(_ relation: EdgeRelation, _ keys: String) throws {
    let hadBefore = hadBefore(relation, from: "j.key", to: "j.other")
    try HeldEdges(store).dropWritten(relation, keys, unless: hadBefore)
  }

  private func hadBefore(_ relation: EdgeRelation, from key: String, to other: String) -> String {
    """
    EXISTS (SELECT FROM cascade.work i WHERE \(isLost("\(relation.number)", "i"))
      AND i.key = \(key) AND i.other = \(other))
    """
  }

  private func isLost(_ relations: String, _ row: String = "j") -> String {
    """
    \(row).what = \(JournalSubject.lost.rawValue) AND \(row).subject IN (\(relations))
    AND \(row).batch = \(batch)
    """
  }

  /// What to append to the condition for a row `j` of the journal, so that none of an earlier relation
  /// is of the same reference.
  private func isFirst(_ relation: EdgeRelation) -> String {
    let earlier = relation.alternatives.filter(\.isBefore).map { "\($0.number)" }
    if earlier.isEmpty { return "" }
    return """
      AND NOT EXISTS (SELECT FROM cascade.work i
        WHERE \(isLost(earlier.joined(separator: ", "), "i")) AND i.key = j.key AND i.other = j.other)
      """
  }

  /// A patch says nothing of the references in members that it does not name.
  private func journalMissing(_ relation: EdgeRelation) throws {
    let keys = arrayText(writtenKeys(relation).sorted())
    if hasWaiting { try endWaiting(relation, keys) }
    let dangling = relation.dangling(at: .destination)
    let (from, to) = (relation.source.key.text("s"), relation.to())
    let edge = "\(JournalSubject.widowed.rawValue), \(relation.number), \(from), \(to), false"
    // By which references are found that are to be set to null. Others have lost that end before.
    let end =
      "\(JournalSubject.gone.rawValue), \(dangling.table.number), \(dangling.key), NULL, true"
    func journal(_ row: String, where condition: String) throws {
      try store.db.run(
        """
        INSERT INTO cascade.work(what, subject, key, other, told, batch)
        SELECT DISTINCT \(row), \(batch) FROM \(dangling.edges)
        WHERE \(relation.source.key.isAny("s", "$1")) AND \(dangling.condition)
        AND \(relation.standsForNothing) AND \(condition)
        """, [keys])
    }
    let isSpared = spared.spare(dangling, of: relation, at: .destination)
    let isNew =
      hasWaiting && !relation.staysDangling ? relation.isNotHeldBack(lost: to) : "true"
    try journal(edge, where: "NOT \(isSpared) AND \(isNew)")
    if relation.rules.contains(.nullifySourceIfDestinationDeleted) {
      try journal(end, where: "NOT \(isSpared)")
    }
    if !spared.areAny { return }
    // Others that lead there are spared.
    try journal(edge, where: "\(isSpared) AND NOT \(hadBefore(relation, from: from, to: to))")
  }
}

extension [EdgeRelation] {
  fileprivate var numbers: String { map { "\($0.number)" }.joined(separator: ", ") }
}
