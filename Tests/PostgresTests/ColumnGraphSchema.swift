import CascadeModel

/// The application's tables of a random graph.
extension ColumnGraph {
  var schema: String {
    let tables = allCollections.map { collection in
      let key = columns("id", to: collection)
      let all =
        key.map { "\($0) \(keyType($0, of: collection))" }
        + relations.filter { $0.from == collection }.flatMap(definitions)
      return table(
        "t \(collection)", all + ["PRIMARY KEY(\(key.joined(separator: ", ")))"], by: key[0])
    }
    let joins = relations.filter { $0.place == .join }.map { relation in
      let sources = columns("s", to: relation.from), destinations = columns("d", to: relation.to)
      let all =
        sources.map { "\($0) \(keyType($0, of: relation.from))" }
        + destinations.map { "\($0) \(keyType($0, of: relation.to))" }
      let ends = (sources + destinations).joined(separator: ", ")
      let key = relation.column == "c1" ? ["UNIQUE(\(ends))"] : []
      return table(relation.table, all + key, by: sources[0])
    }
    return (tables + joins).joined(separator: ";\n")
  }

  private func table(_ name: String, _ parts: [String], by column: String) -> String {
    let table = "CREATE TABLE \"\(name)\"(\(parts.joined(separator: ", ")))"
    if !isPartitioned { return table }
    return "\(table) PARTITION BY HASH (\(column))"
      + (0..<2).map {
        "; CREATE TABLE \"\(name) \($0)\" PARTITION OF \"\(name)\" "
          + "FOR VALUES WITH (MODULUS 2, REMAINDER \($0))"
      }.joined()
  }

  private func keyType(_ column: String, of collection: String) -> String {
    if column.hasSuffix("_of") { return "numeric(5)" }
    let isNumber =
      keys == .numbers && collection == "b" || !ColumnGraph.collections.contains(collection)
    return isNumber ? "int" : "varchar(9)"
  }

  /// A number may be named by a text.
  private func definitions(_ relation: Relation) -> [String] {
    let isRequired = relation.none != nil ? " NOT NULL" : ""
    switch relation.place {
    case .column:
      return columns(of: relation).map {
        let type =
          relation.column == "c2" && keys == .numbers ? "text" : keyType($0, of: relation.to)
        return "\($0) \(type)\(isRequired)"
      }
    case .typed:
      return ["\(relation.column) text\(isRequired)", "\(relation.column)_type varchar(9)"]
    case .either: return ["\(relation.column) text\(isRequired)"]
    case .array:
      let isNumber = relation.to == "b" && keys == .numbers
      return ["\(relation.column) \(isNumber ? "smallint[]" : "text[]")"]
    case .json, .document, .single: return ["\(relation.column) jsonb"]
    case .text: return ["\(relation.column) \(relation.column == "c1" ? "json" : "text")"]
    case .join, .node: return []
    }
  }
}
