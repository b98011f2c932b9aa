internal import CascadeModel
internal import CascadeEngine
internal import CascadePostgres
internal import PostgresBinding

/// Relationships keep their numbers, whatever the model, the tables and the columns call them. Runs
/// behind `FollowedCollections`, so their ends have the names of the model.
///
/// Stored edges have no place in the application's tables: where their relationship has another name, the
/// model says so.
struct FollowedRelations {
  private let store: StoreConnection
  private var db: Session { _read { yield store.db } }
  private var model: StoreModel { store.model }

  init(_ store: StoreConnection) { self.store = store }

  // MARK: - Names

  func follow() throws {
    let (numbers, known) = try known()
    let wanted = try wanted()
    let pairs = RememberedPart.pairs(of: wanted, with: known)
    var renamed: [(number: String, name: String, part: String)] = []
    for (part, place) in zip(wanted, pairs) {
      guard let place, !part.isNamed(like: known[place]) else { continue }
      renamed.append((numbers[place], part.name, part.placeNames!))
    }
    let kept = Set(pairs.compactMap(\.self))
    for index in known.indices where !kept.contains(index) {
      let isTaken = zip(wanted, pairs).contains {
        $1 != nil && $0.context == known[index].context && $0.isNamed(like: known[index])
      }
      if isTaken {
        renamed.append((numbers[index], known[index].name, "was \(numbers[index])"))
      }
    }
    for one in renamed { try rename(one.number, one.name, "renamed \(one.number)") }
    for one in renamed { try rename(one.number, one.name, one.part) }
    try followStored()
    for relationship in model.relationships {
      try store.closeRename(relationship.title, relationship.formerTitle)
    }
  }

  private func rename(_ number: String, _ name: String, _ part: String) throws {
    try db.run(
      "UPDATE cascade.relation SET name = $2, part = $3 WHERE number = $1::int",
      [number, name, part])
  }

  private func known() throws -> (numbers: [String], parts: [RememberedPart]) {
    let rows = try db.run(
      """
      SELECT number, name, source, destination, part, place, \(StoreConnection.isGone("place"))
      FROM cascade.relation WHERE part NOT LIKE 'stored: %' ORDER BY number
      """
    ).rows
    let parts = rows.map {
      RememberedPart(
        name: $0[1]!, context: [$0[2]!, $0[3]!], place: $0[5], placeNames: $0[4],
        isPlaceGone: $0[6] == "t")
    }
    return (rows.map { $0[0]! }, parts)
  }

  /// Of stored edges, with whatever rules.
  private func followStored() throws {
    for relationship in model.relationships where relationship.edgeStorage == .stored {
      guard let was = try openRename(of: relationship) else { continue }
      let source = model.collection(of: relationship.from)
      for destination in destinations(of: relationship) {
        try db.run(
          """
          UPDATE cascade.relation r SET name = $1
          WHERE r.name = $2 AND r.source = $3 AND r.destination = $4 AND r.part LIKE 'stored: %'
          AND NOT EXISTS (SELECT FROM cascade.relation o WHERE o.name = $1
            AND (o.source, o.destination, o.part) = (r.source, r.destination, r.part))
          """, [relationship.name, was, source, destination])
      }
    }
  }

  private func destinations(of relationship: Relationship) -> [String] {
    if case .files(let root) = relationship.to { return [FileRows.collection + root] }
    return relationship.to.targets(in: model).map(\.collection)
  }

  // MARK: - What the model wants

  private func wanted() throws -> [RememberedPart] {
    try model.relationships.flatMap { relationship in
      if relationship.edgeStorage == .stored { return [RememberedPart]() }
      if case .files(let root) = relationship.to {
        return [
          try part(
            relationship, [relationship.from, FileRows.collection + root],
            relationship.edgeStorage.part)
        ]
      }
      let source = model.collection(of: relationship.from)
      return try relationship.to.targets(in: model).flatMap { type, destination in
        let names = relationship.part(type, source)
        let edges = try part(relationship, [source, destination], names)
        return try [edges] + ties(of: relationship, source, destination)
      }
    }
  }

  private func part(
    _ relationship: Relationship, _ context: [String], _ names: String
  ) throws -> RememberedPart {
    let place = try place(of: relationship).map { place in
      // What tells apart edges in the same columns is behind the names of these.
      place + names.dropFirst(relationship.edgeStorage.part.count)
    }
    return RememberedPart(
      name: relationship.name, context: context, place: place, placeNames: names,
      was: try openRename(of: relationship))
  }

  private func openRename(of relationship: Relationship) throws -> String? {
    let isOpen = try store.openRename(relationship.title, relationship.formerTitle) != nil
    return isOpen ? relationship.was : nil
  }

  private func place(of relationship: Relationship) throws -> String? {
    if case .join(let table, let source, let destination) = relationship.edgeStorage {
      return try store.place(of: source + destination, in: table)
    }
    guard
      case .mapped(let table, _, _) = model.collections[model.collection(of: relationship.from)]
    else { return "0 \(relationship.edgeStorage.part)" }
    switch relationship.edgeStorage {
    case .column(let columns): return try store.place(of: columns, in: table)
    case .polymorphic(let columns, let type):
      return try store.place(of: columns + [type], in: table)
    case .property(let path):
      let names = ListColumn.names(of: path)
      return try store.place(of: [names[0]], in: table).map {
        ([$0] + names.dropFirst()).joined(separator: ".")
      }
    case .join, .stored: return nil
    }
  }

  /// The ties of join rows that are nodes (`Ties.swift`).
  private func ties(
    of relationship: Relationship, _ source: String, _ destination: String
  ) throws -> [RememberedPart] {
    guard case .join(let table, let from, let to) = relationship.edgeStorage,
      let nodes = try collection(of: table)
    else { return [] }
    return try [(source, from), (destination, to)].map { end, columns in
      RememberedPart(
        name: relationship.name, context: [nodes, end],
        place: try store.place(of: columns, in: table).map { "\($0) tie" },
        placeNames: EdgeRelation.partOfTie(columns.map(quoted)),
        was: try openRename(of: relationship))
    }
  }

  private func collection(of table: String) throws -> String? {
    let name = try store.qualifiedName(table)
    return try model.collections.sorted { $0.key < $1.key }.first { _, collection in
      guard case .mapped(let other, _, _) = collection else { return false }
      return try name != nil && store.qualifiedName(other) == name
    }?.key
  }

  // MARK: - Places

  /// Writes down where the edges are of those that fit.
  func record() throws {
    let stopped = Set(store.binding.stopped.relations.map { "\($0)" })
    for part in try wanted() {
      guard let place = part.place else { continue }
      try db.run(
        """
        UPDATE cascade.relation SET place = $5
        WHERE (name, source, destination, part) = ($1, $2, $3, $4) AND place IS DISTINCT FROM $5
        AND NOT number = ANY($6::int[])
        """,
        [part.name] + part.context + [part.placeNames, place, arrayText(stopped.sorted())])
    }
  }
}

extension RememberedPart {
  fileprivate func isNamed(like other: RememberedPart) -> Bool {
    name == other.name && placeNames == other.placeNames
  }
}

extension Relationship {
  /// How it is called among all renames.
  fileprivate var title: String { "\(from).\(name)" }
  fileprivate var formerTitle: String? { was.map { "\(from).\($0)" } }
}
