internal import Model
internal import SQLite

extension Row {
  /// An end of an edge whose key is in this column.
  func destination(_ column: Int32, in collection: String, _ model: StoreModel) -> Destination {
    if collection.hasPrefix(Destination.fileCollection) {
      let root = collection.dropFirst(Destination.fileCollection.count)
      return .file(root: String(root), path: text(column))
    }
    return .node(Node(collection, key(column, in: collection, model)))
  }
}
