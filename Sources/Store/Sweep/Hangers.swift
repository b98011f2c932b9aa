internal import CascadeModel
internal import CascadeSQLite

/// The dependents of a node: rows and edges that refer to it and can be released in parts.
enum Hanger {
  /// Rows that lose a reference.
  case references(Place, Table)
  /// Rows of a join table, found by one of their ends.
  case joins(Place, Table, Table.End, other: Table.End)
  /// Stored edges, and what the values of their sources say about them.
  case edges(LosingEdges.End, weight: Int64)

  struct Rows {
    /// Selects what identifies each row.
    let sql: String
    /// How many ordinary rows are released in the time that one of these takes.
    let weight: Int64
  }

  /// One query for each form of number that the nodes have.
  func rows(_ slice: Slice, _ numbers: Numbers, _ names: SliceNames = .first) -> [Rows] {
    let queries =
      switch self {
      case .references(let place, let table):
        place.losingRows(of: table, numbers.forms(of: place.destination), numbers, names)
      case .joins(_, let table, let end, let other):
        table.joinRows(end, other: other, slice, numbers, names)
      case .edges(let end, _): [LosingEdges(end: end, slice: slice).identities(names)]
      }
    return queries.map { Rows(sql: $0, weight: weight) }
  }

  /// The rows that are written for a slice. A list is written once, however many of its members go.
  func written(_ slice: Slice, _ numbers: Numbers) -> [Rows] {
    let rows = rows(slice, numbers)
    guard case .references(let place, _) = self, place.isWrittenOnce else { return rows }
    return rows.map { Rows(sql: "SELECT DISTINCT * FROM (\($0.sql))", weight: $0.weight) }
  }

  /// An upper bound: also has the rows that are deleted themselves.
  func mostWritten(_ numbers: Numbers) -> [Rows] {
    guard case .references(let place, let table) = self else { return rows(.all, numbers) }
    let row = place.isWrittenOnce ? "DISTINCT \(table.identityColumns("s"))" : "1"
    return numbers.forms(of: place.destination).map {
      let all = place.ofDestinations(in: numbers.gone, $0, numbers)
      return Rows(sql: "SELECT \(row) \(all) AND \(SliceNames.first.condition)", weight: weight)
    }
  }

  /// Objects whose values lose a reference.
  static let objects = Rows(
    sql: """
      SELECT DISTINCT e.source FROM temp.gone AS g
      CROSS JOIN main.cascade_edge AS e ON e.destination = g.id
      WHERE \(SliceNames.first.condition) AND e.origin >= 2 AND e.rules & 64
      """, weight: dear)

  private var weight: Int64 {
    switch self {
    case .references(let place, _), .joins(let place, _, _, _):
      place.isInLists || place.tells ? Hanger.dear : 1
    case .edges(_, let weight): weight
    }
  }

  /// Writing a notice takes so many times longer, and so does writing an object or a list.
  fileprivate static let dear: Int64 = 16
}

/// Some of a node's dependents: those that the query finds first.
struct HangerPart {
  let hanger: Hanger
  private let index: Int
  let slice: Slice
  let most: Int64

  init(_ hanger: Hanger, _ index: Int, _ slice: Slice, most: Int64) {
    (self.hanger, self.index, self.slice, self.most) = (hanger, index, slice, most)
  }

  var bound: [Value] { slice.bound + [.integer(most)] }

  func rows(_ numbers: Numbers, _ names: SliceNames) -> String {
    "SELECT * FROM (\(hanger.rows(slice, numbers, names)[index].sql) LIMIT \(names.most))"
  }
}

extension Writer {
  /// Writes notices, keeps the trash and removes. Returns how many dependents there were.
  func letGo(_ part: HangerPart) throws -> Int {
    let count =
      switch part.hanger {
      case .references(let place, let table): try letGoReferences(of: place, table, part)
      case .joins(let place, let table, let end, _): try letGoJoins(of: place, table, end, part)
      case .edges(let end, _):
        try letGo(LosingEdges(end: end, slice: part.slice, most: part.most))
      }
    current.edgesRemoved += count
    return count
  }

  private func letGoReferences(
    of place: Place, _ table: Table, _ part: HangerPart
  ) throws -> Int {
    let rows = part.rows(current.numbers, .first)
    if place.tells {
      try findOthers(of: place, losing: .destination) {
        try db.stage(
          place.source, place.source.found("s", current.numbers), of: place, rule: 2,
          "\(place.source.rows) AS s WHERE \(table.identity("s"))", part, current.numbers)
      }
      try tell()
    }
    if model.trash > .zero {
      let kept = part.rows(current.numbers, .inTrashNumbered)
      try keepReferences(of: place, [kept], part.slice, [.integer(part.most)])
    }
    let count = try db.nullify(place, of: table, in: rows, part.bound, current.numbers)
    if place.isInLists { try db.forgetListed(place, part.slice, most: count) }
    return count
  }

  private func letGoJoins(
    of place: Place, _ table: Table, _ end: Table.End, _ part: HangerPart
  ) throws -> Int {
    if place.tells {
      try findOthers(of: place, table, end, part)
      try tell()
    }
    if model.trash > .zero {
      let kept = part.rows(current.numbers, .inTrashNumbered)
      try keepSideRows(of: table, [kept], part.slice, [.integer(part.most)])
    }
    return try db.deleteJoins(of: table, in: part.rows(current.numbers, .first), part.bound)
  }

  private func findOthers(
    of place: Place, _ table: Table, _ end: Table.End, _ part: HangerPart
  ) throws {
    guard case .join(_, let source, let destination) = place.form else { return }
    let (joins, row) = ("main.\(quoted(table.name)) AS j", "WHERE \(table.identity("j"))")
    if end == (source, place.source) {
      try findOthers(of: place, losing: .source) {
        try db.stage(
          place.destination, place.destinationColumns(of: place.reference, current.numbers),
          of: place, rule: 1, "\(joins) \(place.destinationRow) \(row)", part, current.numbers)
      }
    }
    if end == (destination, place.destination) {
      try findOthers(of: place, losing: .destination) {
        let sources =
          "CROSS JOIN \(place.source.rows) AS s ON "
          + place.source.hasKey("s", "j.\(quoted(source))")
        try db.stage(
          place.source, place.source.found("s", current.numbers), of: place, rule: 2,
          "\(joins) \(sources) \(row)", part, current.numbers)
      }
    }
  }

  private func letGo(_ edges: LosingEdges) throws -> Int {
    if !rulesInUse.isDisjoint(with: .notifying) {
      try findEnds(edges)
      try tell()
    }
    if model.trash > .zero {
      try keep(edges)
      try keepOwnIdentities(edges.slice)
    }
    try keepLoose(edges)
    if edges.end == .destination { try nullifyReferences(edges) }
    try journal(edges)
    try db.run(
      generated: "DELETE FROM main.cascade_edge AS e WHERE \(edges.condition(.first))",
      edges.bound)
    return db.changes
  }

  var hangers: [Hanger] {
    binding.places.flatMap { $0.hangers(binding, current) } + storedHangers
  }

  /// Stored edges never wait for the next plan. Only rows of the application do.
  private var storedHangers: [Hanger] {
    if current.numbers.stored.isEmpty { return [] }
    let isDear = !counters.rulesSeen.isDisjoint(with: .notifying)
    return LosingEdges.End.allCases.map { .edges($0, weight: isDear ? Hanger.dear : 1) }
  }
}

extension Connection {
  /// Stages the other ends of a part, found by its rows. All of them lose the only node of the
  /// slice.
  fileprivate func stage(
    _ table: NodeTable, _ columns: String, of place: Place, rule: Int64, _ rows: String,
    _ part: HangerPart, _ numbers: Numbers
  ) throws(SQLiteError) {
    try run(
      generated: """
        INSERT INTO temp.found(id, key, row, collection, via, name, rule, asks)
        SELECT \(columns), \(table.id),
          (SELECT g.id FROM temp.gone AS g WHERE \(SliceNames.inFound.condition)),
          \(place.nameId), ?1, 1
        FROM \(rows) IN (\(part.rows(numbers, .inFound)))
        """, [.integer(rule)] + part.bound)
  }
}

extension Place {
  fileprivate var tells: Bool { !rules.isDisjoint(with: .notifying) }

  /// Whether a row that loses several members at once is written once. No notice is due for each of
  /// them.
  fileprivate var isWrittenOnce: Bool { isInLists && !tells }

  /// None where the other kind of sweep has to follow the loss, or where a trigger or constraint of
  /// the application may refuse it.
  func hangers(_ binding: Binding, _ current: TransactionState) -> [Hanger] {
    let others = current.followed == .all ? [] : rules.subtracting(current.followed)
    let isNews = !others.isDisjoint(with: [.cascading, .counting])
    if binding.hasTriggers || isNews { return [] }
    switch form {
    case .join:
      guard let (table, ends) = binding.sideRows(of: self) else { return [] }
      return ends.filter { table.hasIndex(on: $0.end.column) }
        .map { .joins(self, table, $0.end, other: $0.other) }
    case .foreignKey: return []
    case .column, .typed, .json:
      guard rules.contains(.nullifySourceIfDestinationDeleted), let table = source.table,
        isFound(in: table, current.numbers), table.allowsNull(nulledNames)
      else { return [] }
      return [.references(self, table)]
    }
  }

  /// Whether the rows that refer to a node are found without scanning the table.
  private func isFound(in table: Table, _ numbers: Numbers) -> Bool {
    switch form {
    case .column(let column), .typed(let column, _, _): table.hasIndex(on: column)
    case .json: numbers.hasLists
    case .join, .foreignKey: false
    }
  }

  var nulledNames: [String] {
    switch form {
    case .typed(let column, let typeColumn, _): [column, typeColumn]
    case .column(let column): [column]
    case .json, .join, .foreignKey: []
    }
  }
}

extension Table {
  /// Whether these columns may become NULL, whatever else the row contains.
  func allowsNull(_ names: [String]) -> Bool {
    !hasChecks && !columns.contains(where: \.isGenerated)
      && !uniqueKeys.contains(where: \.hasExpressions)
      && !names.contains { name in
        column(name)?.isRequired != false
          || primaryKey.contains { $0.folded == name.folded }
      }
  }
}
