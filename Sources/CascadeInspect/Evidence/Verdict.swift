internal import CascadeModel
internal import CascadeSQLite
internal import SQLiteBinding

/// A table and a key that a column may refer to, with the evidence.
struct Candidate {
  let parent: SampledTable
  let key: Table.Column
  let name: NameEvidence
  let values: ValueEvidence
  /// Whether the column is declared like the key, and its name is no plural: all that can be said
  /// where there are no values.
  let isSameType: Bool

  /// How they compare where a column may refer to several tables.
  var score: Double {
    let values = values.isTelling ? 1.0 : values.isGood ? 0.4 : values.count == 0 ? 0 : -0.6
    return name.strength + values + (isLikely ? 10 : 0)
  }

  /// Name, kind of values and presence count together. Small integers are there by accident, so
  /// that only a name speaks for them.
  var isLikely: Bool {
    switch name.strength {
    case 2.9...:
      values.count == 0 || values.hits > 0 || parent.rows == 0
    case 2.4...:
      values.count == 0
        ? name.hasKey || isSameType
        : values.isTelling || values.chance <= -6
          || values.share >= 0.5 && !values.isNarrow
    case 1.9...:
      values.count == 0 ? name.hasKey : values.isTelling || values.isGood && !values.isNarrow
    case 1.65...: values.isTelling || name.hasKey && values.isGood && !values.isNarrow
    case 0.9...: values.isTelling
    default:
      values.isRandom
        ? values.share == 1 : values.share >= 0.95 && values.hits >= 3 && values.chance <= -9
    }
  }

  /// Worth a line with a question mark.
  var isPossible: Bool {
    isLikely || name.strength >= 1.9 && (values.count == 0 || values.share >= 0.3)
  }

  var text: String {
    let name = name.strength > 0 ? name.reason : "another name"
    return "\(name); \(kind); \(values.text)"
  }

  private var kind: String {
    switch key.affinity {
    case .integer: "integers"
    case .text: "text"
    case .blob: "values without a type"
    case .real, .numeric: "numbers"
    }
  }
}

/// Finds what columns refer to that no foreign key declares.
struct Detective {
  let database: Database
  let tables: [SampledTable]
  let names: TableNames

  /// The most probable table for a column; nil if nothing speaks for any.
  func candidate(for column: Table.Column, of table: SampledTable) throws -> Candidate? {
    if table.table.isItsOwnKey(column) { return nil }
    return try candidate(
      for: ColumnName(column.name), named: column.name, of: table,
      affinity: column.affinity, sample: table.values(of: column.name),
      isKey: table.singleKeys.contains { $0.name == column.name })
  }

  func candidate(
    for name: ColumnName, named text: String, of table: SampledTable, affinity: Table.Affinity,
    sample: [Value], isKey: Bool
  ) throws -> Candidate? {
    // A row that has the key of another row, as its own, has the other's name, too.
    let isPrimary = table.table.primaryKey == [text]
    let least = isPrimary ? 2.8 : isKey ? 2.4 : 0
    let byName = tables.flatMap { parent in
      parent.singleKeys.compactMap { key -> (SampledTable, Table.Column, NameEvidence)? in
        if isKey && parent.name == table.name { return nil }
        let found = evidence(name, text, of: table, for: parent, key)
        return found.strength > least ? (parent, key, found) : nil
      }
    }
    .sorted { $1.2 < $0.2 }.prefix(6)
    let isPlural = name.words != name.words.singular
    var found: [Candidate] = []
    for (parent, key, name) in byName where fits(affinity, sample, parent, key) {
      let values = try database.evidence(sample, in: parent, key: key)
      found.append(
        Candidate(
          parent: parent, key: key, name: name, values: values,
          isSameType: affinity == key.affinity && !isPlural))
    }
    if !isKey, !found.contains(where: \.isLikely) {
      found += try candidatesByValue(name, sample, table)
    }
    return found.filter(\.isPossible).max { $0.score < $1.score }
  }

  private func evidence(
    _ name: ColumnName, _ text: String, of table: SampledTable, for parent: SampledTable,
    _ key: Table.Column
  ) -> NameEvidence {
    var found = names.evidence(name, of: table.name, for: parent.name)
    let isPrimary = parent.table.primaryKey == [key.name]
    // Another unique column than the primary key is meant only where its name is said.
    if !isPrimary, !name.words.ends(with: Words(of: key.name)) { found = .none }
    let isNamed = key.name.folded == text.folded && parent.name != table.name
    if isNamed, !ColumnName.plainKeys.contains(key.name.lowercased()), found.strength < 2.9,
      isOwnName(key.name, of: parent)
    {
      return NameEvidence(strength: 3, reason: "has the name of the key", hasKey: true)
    }
    return found
  }

  /// Whether the key is named after its table, or no other table has it: a key that is a reference
  /// itself is not what others mean.
  private func isOwnName(_ key: String, of parent: SampledTable) -> Bool {
    let column = ColumnName(key)
    let own = names.evidence(column, of: parent.name, for: parent.name).strength
    if own >= 2.4 { return true }
    return !tables.contains { other in
      other.name != parent.name
        && (other.singleKeys.contains { $0.name.folded == key.folded }
          || names.evidence(column, of: parent.name, for: other.name).strength >= 2.4)
    }
  }

  /// "The same kind of values": as stored, or as declared where there are none.
  private func fits(
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
  private func candidatesByValue(
    _ name: ColumnName, _ sample: [Value], _ table: SampledTable
  ) throws -> [Candidate] {
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
