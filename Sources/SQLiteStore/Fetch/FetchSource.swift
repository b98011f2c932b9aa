internal import CascadeStore
internal import CascadeModel
internal import CascadeEngine
internal import CascadeSQLite
internal import SQLiteBinding

extension Reader {
  /// What `$source.NAME` asks; nil when the node does not exist. A list or an object in a member is
  /// its JSON text.
  func source(_ node: Node) throws -> FetchSource<Value>? {
    if case .mapped = model.collections[node.collection] {
      return try mappedRow(node).map { row in
        let key: Value = row.key.count == 1 ? row.key[0] : .text(Key(row.key).json.text)
        return FetchSource(row.members, own: ["key": key, "type": .null], isRow: true)
      }
    }
    let stored = try self.node(node)
    if !stored.exists { return nil }
    let members = (stored.value?.members() ?? []).map {
      (name: $0.name, value: $0.value.value(as: .text))
    }
    return FetchSource(
      members, own: ["key": .text(stored.node.key.managedText), "type": .text(stored.type)],
      isRow: false)
  }
}
