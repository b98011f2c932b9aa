internal import CascadeModel
internal import CascadeSQLite
internal import SQLiteBinding

/// Finds what columns refer to that no foreign key declares.
struct Detective {
  let database: Database
  let tables: [SampledTable]
  let names: TableNames
  let typeTables: [TypeTable]

  init(_ database: Database, _ tables: [SampledTable]) throws {
    self.database = database
    self.tables = tables
    names = TableNames(tables.map(\.named))
    typeTables = try Detective.typeTables(tables, names, database)
  }

  /// The most probable table for a column; several where they fit alike; none if nothing speaks for
  /// any.
  func candidates(for column: Table.Column, of table: SampledTable) throws -> [Candidate] {
    if table.table.isItsOwnKey(column) { return [] }
    return try candidates(
      for: column.name, of: table, affinity: column.affinity, sample: table.values(of: column.name),
      isKey: table.singleKeys.contains { $0.name == column.name })
  }

  /// Tables whose names are looked at together with their values.
  private static let mostTables = 6

  func candidates(
    for column: String, of table: SampledTable, affinity: Table.Affinity, sample: [Value],
    isKey: Bool
  ) throws -> [Candidate] {
    let name = names.column(column, of: table.name)
    // A row that has the key of another row, as its own, has the other's name, too.
    let isPrimary = table.table.primaryKey == [column]
    let least = isPrimary ? 2.8 : isKey ? 2.3 : 0
    let byName = tables.flatMap { parent in
      parent.singleKeys.compactMap { key -> (SampledTable, Table.Column, NameEvidence)? in
        if isKey && parent.name == table.name { return nil }
        let found = evidence(name, column, of: table, for: parent, key)
        return found.strength > least ? (parent, key, found) : nil
      }
    }
    .sorted { $1.2 < $0.2 }.prefix(Detective.mostTables)
    var found: [Candidate] = []
    for (parent, key, evidence) in byName where fits(affinity, sample, parent, key) {
      found.append(
        Candidate(
          parent: parent, key: key, name: evidence,
          values: try database.evidence(sample, in: parent, key: key),
          isSameType: affinity == key.affinity && !name.isPlural,
          isPlain: !evidence.hasKey
            && (name.isPlural || ColumnName.plainKeys.contains(name.words.joined)),
          isOfThePast: names.isOfThePast(table.name)))
    }
    if !isKey, !found.contains(where: \.isConvincing) {
      found += try candidatesByValue(sample)
    }
    return found.filter(\.isPossible).bestAndRivals
  }

  private func evidence(
    _ name: ColumnName, _ text: String, of table: SampledTable, for parent: SampledTable,
    _ key: Table.Column
  ) -> NameEvidence {
    var found = names.evidence(name, of: table.name, for: parent.name)
    let isPrimary = parent.table.primaryKey == [key.name]
    // Another unique column than the primary key is meant only where its name is said.
    if !isPrimary, !name.words.ends(with: names.column(key.name, of: parent.name).words) {
      found = .none
    }
    let words = Words(of: key.name)
    let isNamed =
      [text, name.words.joined].contains { $0.folded == key.name.folded }
      || words.list.count > 1 && name.words == words
    if isNamed, parent.name != table.name,
      !ColumnName.plainKeys.contains(key.name.lowercased()), found.strength < 2.9,
      isOwnName(key.name, of: parent)
    {
      return NameEvidence(
        strength: NameEvidence.exactWithKey, reason: "has the name of the key", hasKey: true)
    }
    // `name` of `model_tags` is the key `name` of `models`.
    let isKeyOfItsSubject =
      isPrimary && text.folded == key.name.folded && names.isNamed(table.name, after: parent.name)
    return isKeyOfItsSubject
      ? max(
        found,
        NameEvidence(
          strength: 2.2, reason: "has the name of the key, and its table the table's", hasKey: true)
      )
      : found
  }

  /// Whether the key is named after its table, or no other table has it: a key that is a reference
  /// itself is not what others mean.
  private func isOwnName(_ key: String, of parent: SampledTable) -> Bool {
    let column = ColumnName(key)
    let own = names.evidence(column, of: parent.name, for: parent.name).strength
    if own >= NameEvidence.outright { return true }
    return !tables.contains { other in
      other.name != parent.name
        && (other.singleKeys.contains { $0.name.folded == key.folded }
          || names.evidence(column, of: parent.name, for: other.name).strength
            >= NameEvidence.outright)
    }
  }

  /// "The same kind of values": as stored, or as declared where there are none.
  func fits(
    _ affinity: Table.Affinity, _ sample: [Value], _ parent: SampledTable, _ key: Table.Column
  ) -> Bool {
    let keys = parent.values(of: key.name)
    let values = sample.filter { !$0.looksLikeNone }
    if !values.isEmpty && !keys.isEmpty {
      return values.areMostlyText == keys.areMostlyText
        || affinity == .text && key.affinity == .text
    }
    if affinity == .blob || key.affinity == .blob { return true }
    return (affinity == .text) == (key.affinity == .text)
      || affinity == .numeric || key.affinity == .numeric
  }

  /// Long texts and large numbers that are all there are no accident, whatever the name.
  private func candidatesByValue(_ sample: [Value]) throws -> [Candidate] {
    let values = Array(sample.filter { !$0.looksLikeNone }.prefix(300))
    guard values.areRandom || Set(values).count >= 3 && values.areDistinctive else { return [] }
    var found: [Candidate] = []
    for parent in tables where parent.rows > 0 {
      for key in parent.singleKeys where parent.isIdentity(key) {
        guard parent.values(of: key.name).areDistinctive else { continue }
        let evidence = try database.evidence(Array(values.prefix(20)), in: parent, key: key)
        if evidence.share < 0.9 { continue }
        found.append(
          Candidate(
            parent: parent, key: key, name: .none,
            values: try database.evidence(sample, in: parent, key: key), isSameType: false))
      }
    }
    // Where several tables share their keys, the largest is the one that the others extend.
    return found.max { $0.parent.rows < $1.parent.rows }.map { [$0] } ?? []
  }
}

extension SampledTable {
  /// Whether the key is one by its name, too: a unique title is none.
  func isIdentity(_ key: Table.Column) -> Bool {
    if table.primaryKey == [key.name] { return true }
    return ColumnName.keys.contains(Words(of: key.name).list.last ?? "")
  }
}

extension [Value] {
  fileprivate var areMostlyText: Bool { count(where: \.isText) * 2 > count }

  /// Whether hardly two things would have the same value by accident.
  var areDistinctive: Bool {
    count { $0.length >= 8 || ($0.integer ?? 0) > 1_000_000_000 } * 10 >= count * 9 && !isEmpty
  }
}

extension Table {
  /// Whether the column is the key of its own table by a name that says nothing else.
  func isItsOwnKey(_ column: Column) -> Bool {
    if column.isGenerated { return true }
    let isAlone = uniqueKeys.contains { $0.columns == [column.name] }
    return isAlone && ColumnName.plainKeys.contains(column.name.lowercased())
  }
}
