package import CascadeModel
package import CascadeSQLite
internal import CascadeEngine
internal import SQLiteBinding

extension Row {
  /// The end of an edge whose key is in this column.
  package func destination(_ column: Int32, in collection: String, _ model: StoreModel)
    -> Destination
  {
    if let root = Destination.root(of: collection) {
      return .file(root: root, path: text(column))
    }
    return .node(Node(collection, key(column, in: collection, model)))
  }
}
