internal import CascadeStore
internal import CascadeModel
internal import CascadeSQLite
internal import SQLiteBinding

/// A row of an application's table. The query selects the columns of its key first, and then all
/// columns.
struct MappedRow {
  let key: [Value]
  let members: [(name: String, value: Value)]

  init(_ row: Row, keyCount: Int) {
    let values = row.columns.map { row.value($0) }
    key = Array(values.prefix(keyCount))
    members = row.columns.dropFirst(keyCount).map { (row.name($0), values[Int($0)]) }
  }

  func node(in collection: String) -> StoredNode {
    let json = JSON.object(members.map { JSON.Field($0.name, $0.value.json) })
    return StoredNode(
      node: Node(collection, Key(key)), exists: true, type: nil, value: JSONText(json))
  }
}

extension Key {
  init(_ values: [Value]) {
    let parts = values.map(Key.init(part:))
    self = parts.count == 1 ? parts[0] : .composite(parts)
  }

  private init(part value: Value) {
    switch value {
    case .integer(let number): self = .integer(number)
    case .text(let text): self = .text(text)
    case .blob(let bytes): self = .text(bytes.sqlBlob)
    case .real(let number): self = .text("\(number)")
    case .null: self = .text("")
    }
  }
}
