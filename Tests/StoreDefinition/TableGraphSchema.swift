internal import CascadeModel

/// The model of a random graph, and the tables for it.
extension PlacedGraph {
  package var model: String { model(trash: "1d") }

  package func model(trash: String) -> String {
    let collections = PlacedGraph.collections.map {
      isMapped($0)
        ? "\($0): { table: 't \($0)', key: \(list(columns("id", to: $0))) }" : "\($0): {}"
    }
    return """
      { collections: { \(collections.joined(separator: ", ")) },
        relationships: [\(relations.map(describe).joined(separator: ", "))],
        trash: '\(trash)' }
      """
  }

  private func describe(_ relation: Relation) -> String {
    let rules = relation.rules.names.map { "'\($0)'" }.joined(separator: ", ")
    let place =
      switch relation.place {
      case .stored, .linked: "toMany: true"
      case .column where relation.isTyped:
        "column: \(list(columns(of: relation))), typeColumn: '\(relation.typeColumn)'"
      case .column: "column: \(list(columns(of: relation)))"
      case .join:
        "join: { table: '\(relation.table)', source: \(list(columns("s", to: relation.from))), "
          + "destination: \(list(columns("d", to: relation.to))) }"
      case .json: "property: 'doc.\(relation.name)', toMany: \(!relation.isScalar)"
      case .property: "property: '\(relation.name)', toMany: \(!relation.isScalar)"
      }
    let to =
      relation.isTyped
      ? "{ of_a: 'a', of_b: 'b' }"
      : relation.isEither ? list(either(relation)) : "'\(relation.to)'"
    let none = relation.none.map { "none: [\($0.json.text)]," } ?? ""
    return """
      { name: '\(relation.name)', from: '\(relation.from)', to: \(to), \(place), \(none)
        rules: [\(rules)] }
      """
  }

  /// The collections of a reference without a type, in the order of the model.
  private func either(_ relation: Relation) -> [String] {
    relation.collections(of: node(relation.to, 0))
  }

  /// The same of all such relations, as the reference is told.
  package var alternatives: [String: [String]] {
    let known = relations.filter(\.isEither).map { ("\($0.name)/\($0.from)", either($0)) }
    return Dictionary(known) { $1 }
  }

  package func columns(of relation: Relation) -> [String] {
    columns(relation.name, to: relation.to)
  }

  private func list(_ columns: [String]) -> String {
    columns.count == 1
      ? "'\(columns[0])'" : "[\(columns.map { "'\($0)'" }.joined(separator: ", "))]"
  }

  package var schema: String {
    var statements = PlacedGraph.collections.filter(isMapped).map { collection in
      let columns = relations(of: collection).filter { $0.place == .column }.map(definition)
      let key = tables.key(keys[collection]!!)
      let variant = relations(of: collection).reduce(0) { $0 + $1.variant }
      return "CREATE TABLE \"t \(collection)\"(\(key.columns)\(columns.joined()), "
        + "doc \(tables.typeOfDocuments(variant)))\(key.options)"
    }
    for collection in PlacedGraph.collections where isPair(collection) {
      statements.append("CREATE UNIQUE INDEX pairs_\(collection) ON \"t \(collection)\"(id_of, id)")
    }
    for relation in relations where relation.place == .join {
      let ends = columns("s", to: relation.from) + columns("d", to: relation.to)
      let types =
        tables.typesOfSources(keys[relation.from]!!)
        + tables.types(relation, to: keys[relation.to]!)
      let definitions = zip(ends, types).map { "\($0) \($1), " }
      statements.append(
        "CREATE TABLE \(relation.table)(\(definitions.joined()) "
          + "PRIMARY KEY(\(ends.joined(separator: ", "))))")
    }
    // Half of them: where there is an index, rows are looked up another way.
    for relation in relations where relation.place == .column && relation.name == "x" {
      statements.append(
        "CREATE INDEX by_\(relation.table) ON "
          + "\"t \(relation.from)\"(\(columns(of: relation).reversed().joined(separator: ", ")))")
    }
    return statements.joined(separator: ";\n")
  }

  private func definition(_ relation: Relation) -> String {
    let types = tables.types(relation, to: keys[relation.to]!)
    let columns = zip(columns(of: relation), types).map {
      ", \"\($0)\" \($1) \(relation.none == nil ? "" : "NOT NULL")"
    }
    let type = relation.isTyped ? ", \(relation.typeColumn) \(tables.typeOfTypes)" : ""
    return columns.joined() + type
  }

  /// Some applications hear of all that goes or changes; this changes nothing that is compared.
  package func schema(_ seed: UInt64) -> String {
    PlacedGraph.isHeard(seed) ? "\(schema);\n\(triggers)" : schema
  }

  package static func isHeard(_ seed: UInt64) -> Bool { seed % 5 < 2 }

  private var triggers: String {
    tables.hearing(
      PlacedGraph.collections.filter(isMapped).map { "t \($0)" }
        + relations.filter { $0.place == .join }.map(\.table))
  }
}
