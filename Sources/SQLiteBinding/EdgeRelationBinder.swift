internal import CascadeModel
internal import CascadeSQLite
internal import CascadeEngine

/// Finds the columns that a relationship of the model refers to.
struct EdgeRelationBinder {
  let model: StoreModel
  let relationship: Relationship
  let path: String
  let collections: [String: NodeTable]

  /// One relation for each target; none if Cascade stores the edges itself.
  func relations(
    _ catalog: borrowing Catalog, _ db: borrowing Connection, _ numbers: some Numbering
  ) throws -> [EdgeRelation] {
    let from = model.collection(of: relationship.from)
    guard case .mapped = model.collections[from], relationship.edgeStorage != .stored else {
      return []
    }
    let source = try nodes(from, numbers)
    guard let table = source.table else { return [] }
    let nameId = try numbers.nameId(relationship.name)
    let targets = try targets(numbers)
    let isEither = relationship.to.isEither && targets.count > 1
    return try targets.map { target in
      EdgeRelation(
        name: relationship.name, nameId: nameId, rules: relationship.rules,
        kind: kind(target.table), source: source, destination: target.table,
        alternatives: isEither ? targets.map(\.table) : [],
        form: try form(table, type: target.type, catalog, db), relationship: relationship)
    }
  }

  private func targets(
    _ numbers: some Numbering
  ) throws -> [(type: String, table: NodeTable)] {
    switch relationship.to {
    case .collection(let name): return [("", try nodes(name, numbers))]
    case .types(let map):
      return try map.sorted { $0.key < $1.key }.map { ($0.key, try nodes($0.value, numbers)) }
    case .either(let names):
      // Types of one collection are the same table.
      return try names.map(model.collection(of:)).unique.map { ("", try nodes($0, numbers)) }
    case .files(let root):
      let name = Destination.fileCollection + root
      let id = try numbers.collectionId(name)
      return [("", NodeTable(id: id, collection: name, kind: .files))]
    }
  }

  private func nodes(_ name: String, _ numbers: some Numbering) throws -> NodeTable {
    let name = model.collection(of: name)
    if let table = collections[name] { return table }
    if case .mapped = model.collections[name] {
      throw Catalog.Unusable("collection \"\(name)\" cannot be used", isContained: true)
    }
    return NodeTable(id: try numbers.collectionId(name), collection: name, kind: .managed)
  }

  private func form(
    _ table: Table, type: String, _ catalog: borrowing Catalog, _ db: borrowing Connection
  ) throws -> EdgeRelation.Form {
    switch relationship.edgeStorage {
    case .stored: throw Catalog.Unusable("stored edges are in no column")
    case .column(let columns): return .column(try referring(columns, table))
    case .polymorphic(let columns, let typeColumn):
      return .column(
        try referring(columns, table),
        type: PolymorphicType(column: try referring(typeColumn, table), word: type))
    case .join(let join, let source, let destination):
      let join = try catalog.table(join, in: db).get()
      return .join(
        join, source: try source.map { try join.required($0).name },
        destination: try destination.map { try join.required($0).name })
    case .property(let property):
      let steps = property.split(separator: ".", omittingEmptySubsequences: false)
      let column = try referring(String(steps[0]), table)
      if steps.dropFirst().contains(where: { $0.contains("\"") }) {
        throw Catalog.Unusable(
          "\"\(property)\": SQLite cannot read a member with a quotation mark in its name")
      }
      return .json(column: column, path: steps.dropFirst().reduce("$") { $0 + ".\"\($1)\"" })
    }
  }

  private func referring(_ names: [String], _ table: Table) throws(Catalog.Unusable) -> [String] {
    try refuseToShare(names)
    return try names.map { (name) throws(Catalog.Unusable) in try referring(name, table) }
  }

  private func referring(_ name: String, _ table: Table) throws(Catalog.Unusable) -> String {
    let column = try table.required(name)
    if relationship.rules.contains(.nullifySourceIfDestinationDeleted) {
      try refuseToNullify(column, table)
    }
    return column.name
  }

  private func refuseToNullify(_ column: Table.Column, _ table: Table) throws(Catalog.Unusable) {
    if column.isGenerated {
      throw Catalog.Unusable(
        "column \"\(column.name)\" of \"\(table.name)\" is generated and cannot be set to null")
    }
    let source = collections[model.collection(of: relationship.from)]
    if source?.hasInKey(column.name) != true { return }
    throw Catalog.Unusable(
      "column \"\(column.name)\" is in the key of \"\(relationship.from)\": setting it to null "
        + "would remove its row from the collection")
  }

  /// Rule 64 sets all columns of a reference to null, and so may not share one with another
  /// reference of the row.
  private func refuseToShare(_ columns: [String]) throws(Catalog.Unusable) {
    let own = Set(columns.map(\.folded))
    guard own.count > 1, relationship.rules.contains(.nullifySourceIfDestinationDeleted) else {
      return
    }
    for other in model.relationships where other.from == relationship.from {
      let its = Set(other.edgeStorage.columns.map(\.folded))
      guard its != own, let shared = columns.first(where: { its.contains($0.folded) }) else {
        continue
      }
      throw Catalog.Unusable(
        "column \"\(shared)\" is also in the reference \"\(other.name)\", which setting it to null "
          + "would remove")
    }
  }

  private func kind(_ target: NodeTable) -> EdgeKind {
    if target.kind == .files { return .file }
    switch relationship.edgeStorage {
    case .stored: return .stored
    case .column: return .column
    case .join: return .join
    case .property: return .property
    case .polymorphic: return .polymorphic
    }
  }
}
