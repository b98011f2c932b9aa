import CascadeModel
import CascadeStore

/// What marks mean, in sets.
struct MarkedWorld {
  struct Row: Hashable, CustomStringConvertible {
    let table: String
    let id: Int
    init(_ table: String, _ id: Int) { (self.table, self.id) = (table, id) }
    var description: String { "\(table) \(id)" }
  }

  struct Reference {
    let column: String
    let name: String
    let to: String
    let rules: Rules
  }

  struct Table {
    enum Mark { case column, condition }
    let name: String
    /// Nil if its rows cannot be marked.
    let mark: Mark?
    let references: [Reference]

    var isMarked: String? { mark.map { $0 == .column ? "gone IS NOT NULL" : "hidden <> 0" } }
    func set(_ isMarked: Bool) -> String {
      mark == .condition ? "hidden = \(isMarked ? 1 : 0)" : "gone = \(isMarked ? "7" : "NULL")"
    }
  }

  static let tables = [
    Table(
      name: "person", mark: .column,
      references: [
        Reference(
          column: "boss", name: "boss", to: "person", rules: .deleteSourceIfDestinationDeleted)
      ]),
    Table(
      name: "topic", mark: .column,
      references: [
        Reference(
          column: "owner", name: "owner", to: "person", rules: .deleteSourceIfAllDestinationsDeleted
        )
      ]),
    Table(
      name: "post", mark: .condition,
      references: [
        Reference(
          column: "author", name: "author", to: "person", rules: .deleteSourceIfDestinationDeleted),
        Reference(
          column: "topic", name: "about", to: "topic", rules: .deleteDestinationIfAllSourcesDeleted),
      ]),
    Table(
      name: "note", mark: .column,
      references: [
        Reference(
          column: "post", name: "post", to: "post", rules: .deleteDestinationIfSourceDeleted)
      ]),
    // Its rows keep topics, and cannot be marked.
    Table(
      name: "fan", mark: nil,
      references: [
        Reference(
          column: "topic", name: "about", to: "topic", rules: .deleteDestinationIfAllSourcesDeleted)
      ]),
    Table(
      name: "guard", mark: nil,
      references: [
        Reference(column: "post", name: "guarded", to: "post", rules: .denyDestinationDeletion)
      ]),
  ]

  static func table(_ name: String) -> Table { tables.first { $0.name == name }! }

  var rows: [Row: [Int?]] = [:]
  var marked: Set<Row> = []
  /// What was marked or unmarked since that was last followed.
  var events: Set<Row> = []
  /// Rows that an application has marked, as far as they were followed, with their batches.
  private var first: [Row: Int64?] = [:]
  private struct Reason: Hashable {
    let row: Row
    let via: Row
    let name: String
    let counts: Bool
  }
  /// With the batches that found them.
  private var reasons: [Reason: Int64?] = [:]

  private struct Edge: Hashable {
    let name: String
    let rules: Rules
    let source: Row
    let destination: Row
  }

  private var edges: [Edge] {
    rows.flatMap { row, ends in
      zip(MarkedWorld.table(row.table).references, ends).compactMap { reference, end in
        guard let end, case let to = Row(reference.to, end), rows[to] != nil else { return nil }
        return Edge(name: reference.name, rules: reference.rules, source: row, destination: to)
      }
    }
  }

  // MARK: - What is denied

  /// Those of the rows that something keeps.
  func denied(_ rows: Set<Row>) -> Set<Row> {
    Set(
      edges.filter {
        $0.rules.contains(.denyDestinationDeletion) && rows.contains($0.destination)
          && !marked.contains($0.source)
      }.map(\.destination))
  }

  // MARK: - What follows

  /// Returns the rows with which the batch began.
  mutating func follow(batch: Int64?) -> Set<Row> {
    bringBack(events.filter { !marked.contains($0) })
    let begins = events.filter(marked.contains)
    events = []
    for row in begins {
      forgetReasons(of: row)
      first[row] = .some(batch)
    }
    var kept: Set<Row> = []
    while true {
      let found = following(begins, without: kept)
      let denied = self.denied(found)
      if denied.isEmpty {
        note(begins, found, batch)
        return begins
      }
      kept.formUnion(denied)
    }
  }

  private func canBeMarked(_ row: Row) -> Bool {
    MarkedWorld.table(row.table).mark != nil && !marked.contains(row)
  }

  private func following(_ begins: Set<Row>, without kept: Set<Row>) -> Set<Row> {
    var all = begins
    while true {
      let more = next(all).filter { canBeMarked($0) && !kept.contains($0) && !all.contains($0) }
      if more.isEmpty { return all.subtracting(begins) }
      all.formUnion(more)
    }
  }

  private func next(_ all: Set<Row>) -> Set<Row> {
    let (edges, gone) = (self.edges, all.union(marked))
    var next: Set<Row> = []
    for edge in edges {
      let lostDestination = all.contains(edge.destination)
      if edge.rules.contains(.deleteSourceIfDestinationDeleted), lostDestination {
        next.insert(edge.source)
      }
      if edge.rules.contains(.deleteDestinationIfSourceDeleted), all.contains(edge.source) {
        next.insert(edge.destination)
      }
      if edge.rules.contains(.deleteSourceIfAllDestinationsDeleted), lostDestination,
        edges.allSatisfy({
          $0.name != edge.name || $0.source != edge.source || gone.contains($0.destination)
        })
      {
        next.insert(edge.source)
      }
      if edge.rules.contains(.deleteDestinationIfAllSourcesDeleted), all.contains(edge.source),
        edges.allSatisfy({
          $0.name != edge.name || $0.destination != edge.destination || gone.contains($0.source)
        })
      {
        next.insert(edge.destination)
      }
    }
    return next
  }

  private mutating func note(_ begins: Set<Row>, _ found: Set<Row>, _ batch: Int64?) {
    let all = begins.union(found)
    marked.formUnion(found)
    let follow = found.union(reasons.keys.map(\.row)).filter { first[$0] == nil }
    let edges = self.edges
    for edge in edges {
      let pairs = [
        (edge.source, edge.destination, Rules.ofLostDestination),
        (edge.destination, edge.source, Rules.ofLostSource),
      ]
      for (row, via, rules) in pairs
      where !edge.rules.isDisjoint(with: rules) && follow.contains(row) && row != via {
        let counts = !edge.rules.isDisjoint(with: .counting)
        let mates = counts ? edges.filter { isMate($0, edge, of: row) } : []
        let others = mates.map { $0.source == row ? $0.destination : $0.source }
        if counts {
          if !others.contains(where: all.contains) || !others.allSatisfy(marked.contains) {
            continue
          }
        } else if !all.contains(via) {
          continue
        }
        let reason = Reason(row: row, via: via, name: edge.name, counts: counts)
        if reasons[reason] == nil { reasons[reason] = .some(found.contains(row) ? batch : nil) }
      }
    }
  }

  private func isMate(_ other: Edge, _ edge: Edge, of row: Row) -> Bool {
    other.name == edge.name
      && (edge.source == row ? other.source == row : other.destination == row)
  }

  // MARK: - What comes back

  mutating func undo(_ batch: Int64, _ begins: Set<Row>) {
    let still = begins.filter { first[$0] == .some(batch) }
    let own = Set(reasons.filter { $0.value == batch }.map(\.key.row))
    let back = still.isEmpty ? own : still
    marked.subtract(back)
    bringBack(back)
  }

  private mutating func bringBack(_ rows: Set<Row>) {
    for row in rows {
      forgetReasons(of: row)
      first[row] = nil
    }
    var back = rows
    while true {
      let more = reasons.keys.filter {
        back.contains($0.via) && first[$0.row] == nil && !events.contains($0.row)
      }.map(\.row)
      if Set(more).isSubset(of: back) { break }
      back.formUnion(more)
    }
    while let kept = back.first(where: { row in
      !rows.contains(row) && reasons.keys.contains { $0.row == row && holds($0, without: back) }
    }) {
      back.remove(kept)
    }
    marked.subtract(back)
    for row in back { forgetReasons(of: row) }
    let broken = reasons.keys.filter { back.contains($0.via) }
    for reason in broken {
      for other in reasons.keys
      where other == reason || reason.counts && other.row == reason.row && other.name == reason.name
      {
        reasons[other] = nil
      }
    }
  }

  private func holds(_ reason: Reason, without back: Set<Row>) -> Bool {
    if !reason.counts { return !back.contains(reason.via) }
    return reasons.keys.allSatisfy {
      $0.row != reason.row || $0.name != reason.name || !$0.counts || !back.contains($0.via)
    }
  }

  private mutating func forgetReasons(of row: Row) {
    for reason in reasons.keys where reason.row == row { reasons[reason] = nil }
  }

  // MARK: - As a store

  static func store(_ engine: any EngineUnderTest) throws -> any StoreUnderTest {
    let collections = tables.map { table in
      let soft: String
      switch table.mark {
      case .column: soft = ", softDelete: { column: 'gone' }"
      case .condition: soft = ", softDelete: { when: 'hidden <> 0', set: { hidden: 1 } }"
      case nil: soft = ""
      }
      return "\(table.name)s: { table: '\(table.name)', key: 'id'\(soft) }"
    }
    let relationships = tables.flatMap { table in
      table.references.map {
        """
        { name: '\($0.name)', from: '\(table.name)s', to: '\($0.to)s', column: '\($0.column)',
          rules: ['\($0.rules.names[0])'] }
        """
      }
    }
    let schema = tables.map { table in
      let columns = table.references.map { "\($0.column) INTEGER" }
      let mark = table.mark.map { $0 == .column ? ["gone INTEGER"] : ["hidden INTEGER DEFAULT 0"] }
      let indexes = table.references.map {
        "CREATE INDEX \(table.name)_\($0.column) ON \(table.name)(\($0.column));"
      }
      let all = ["id INTEGER PRIMARY KEY"] + columns + (mark ?? [])
      return "CREATE TABLE \(table.name)(\(all.joined(separator: ", "))); \(indexes.joined())"
    }
    return try engine.makeStore(
      model: StoreModel(
        """
        { limits: { hold: { deletes: 1000 } }, collections: { \(collections.joined(separator: ", ")) },
          relationships: [\(relationships.joined(separator: ", "))] }
        """), schema: schema.joined(separator: "\n"))
  }
}
