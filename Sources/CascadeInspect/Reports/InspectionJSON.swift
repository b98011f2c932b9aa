package import CascadeModel
internal import CascadeSQLite
internal import SQLiteBinding

extension Inspection {
  package var json: JSON {
    [
      "file": .string(file),
      "tables": .array(
        tables.map {
          [
            "table": .string($0.table), "rows": .integer(Int64($0.rows)),
            "key": .strings($0.key),
          ]
        }),
      "relationships": .array(relationships.map(\.json)),
      "orphans": .integer(Int64(orphans)),
      "unreferenced": .array(
        unreferenced.map { ["table": .string($0.table), "rows": .integer(Int64($0.rows))] }),
    ]
  }
}

extension InspectedRelationship {
  fileprivate var json: JSON {
    var fields: [JSON.Field] = [
      .init("from", .string(from)), .init("columns", .strings(columns)),
      .init("to", .string(to)), .init("toColumns", .strings(toColumns)),
      .init("found", .string(found.rawValue)), .init("likely", .bool(isLikely)),
    ]
    if let join {
      fields.append(
        .init(
          "join",
          [
            "table": .string(join.table), "source": .strings(join.source),
            "destination": .strings(join.destination),
          ]))
    }
    fields.append(.init("evidence", .string(evidence)))
    if let onDelete { fields.append(.init("onDelete", .string(onDelete.rawValue))) }
    fields += [
      .init("rows", .integer(Int64(rows))), .init("orphans", .integer(Int64(orphans))),
      .init("none", .array(none.map(\.json))), .init("indexed", .bool(isIndexed)),
    ]
    return .object(fields)
  }
}

extension JSON {
  fileprivate static func strings(_ texts: [String]) -> JSON { .array(texts.map { .string($0) }) }
}

extension Value {
  /// Bytes are written as SQL does.
  fileprivate var json: JSON {
    switch self {
    case .null: .null
    case .integer(let number): .integer(number)
    case .real(let number): .number(number)
    case .text(let text): .string(text)
    case .blob: .string(sql)
    }
  }
}
