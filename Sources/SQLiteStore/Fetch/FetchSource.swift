internal import CascadeStore
internal import CascadeModel
internal import CascadeSQLite
internal import SQLiteBinding

/// The node that has the property. It answers `$source.NAME`.
struct FetchSource {
  private let members: [(name: String, value: Value)]
  /// A row has a fixed set of columns; an object may have any member.
  private let isRow: Bool
  /// Values that every node has, used if no member has the name.
  private let own: [String: Value]

  enum Answer {
    case found(Value)
    case unknown(columns: [String])
  }

  func value(of name: String) -> Answer {
    if let member = members.first(where: { isRow ? $0.name.folded == name.folded : $0.name == name }
    ) {
      return .found(member.value)
    }
    if let value = own[name] { return .found(value) }
    return isRow ? .unknown(columns: members.map(\.name)) : .found(.null)
  }

  /// Nil when the node does not exist.
  static func of(_ node: Node, _ reader: Reader) throws -> FetchSource? {
    if case .mapped(let table, let key, _) = reader.model.collections[node.collection] {
      return try reader.db.row(of: table, key, node.key).map(FetchSource.init(row:))
    }
    let stored = try reader.node(node)
    return stored.exists ? FetchSource(object: stored) : nil
  }

  private init(row: MappedRow) {
    members = row.members
    own = ["key": row.key.count == 1 ? row.key[0] : .text(Key(row.key).json.text), "type": .null]
    isRow = true
  }

  private init(object: StoredNode) {
    members = (object.value?.members() ?? []).map { ($0.name, Value(json: $0.value)) }
    own = ["key": .text(object.node.key.managedText), "type": .text(object.type)]
    isRow = false
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
