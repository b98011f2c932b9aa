internal import CascadeStore
internal import CascadeModel
internal import CascadePlanning
internal import CascadeSQLite
internal import SQLiteBinding

extension Reader {
  /// What `$source.NAME` asks; nil when the node does not exist.
  func source(_ node: Node) throws -> FetchSource<Value>? {
    if case .mapped(let table, let key, _) = model.collections[node.collection] {
      return try db.row(of: table, key, node.key).map { row in
        let key: Value = row.key.count == 1 ? row.key[0] : .text(Key(row.key).json.text)
        return FetchSource(row.members, own: ["key": key, "type": .null], isRow: true)
      }
    }
    let stored = try self.node(node)
    if !stored.exists { return nil }
    let members = (stored.value?.members() ?? []).map {
      (name: $0.name, value: Value(json: $0.value))
    }
    return FetchSource(
      members, own: ["key": .text(stored.node.key.managedText), "type": .text(stored.type)],
      isRow: false)
  }
}

extension Value {
  /// A list or an object becomes its JSON text.
  fileprivate init(json text: JSONText) {
    switch try? JSON.parse(text.text) {
    case .bool(let value): self = .integer(value ? 1 : 0)
    case .integer(let value): self = .integer(value)
    case .number(let value): self = .real(value)
    case .string(let value): self = .text(value)
    case .array, .object, .raw: self = .text(text.text)
    case .null, nil: self = .null
    }
  }
}

extension Connection {
  /// Keys are compared as their columns compare.
  fileprivate func row(of table: String, _ columns: [String], _ key: Key) throws -> MappedRow? {
    let parts = key.parts
    guard parts.count == columns.count else { return nil }
    var values: [Value] = []
    let conditions = zip(columns, parts).map { column, part in
      let first = values.count + 1
      values += part.candidates
      let places = (first...values.count).map { "?\($0)" }.joined(separator: ", ")
      return "t.\(quoted(column)) IN (\(places))"
    }
    let selected = columns.map { "t.\(quoted($0))" }.joined(separator: ", ")
    return try all(
      generated: """
        SELECT \(selected), t.* FROM main.\(quoted(table)) AS t
        WHERE \(conditions.joined(separator: " AND ")) LIMIT 1
        """, values
    ) { MappedRow($0, keyCount: columns.count) }.first
  }
}

extension Key {
  fileprivate var parts: [Key] {
    if case .composite(let parts) = self { parts } else { [self] }
  }

  /// The values that a key may be in a column: a blob is written as `x'0A'`.
  fileprivate var candidates: [Value] {
    switch self {
    case .integer(let number): [.integer(number)]
    case .text(let text): [.text(text)] + ([UInt8](sqlBlob: text).map { [.blob($0)] } ?? [])
    case .composite: []
    }
  }
}
