internal import CascadeModel

/// A file that lost its last edge, and is still in its place as far as is known.
package struct ReleasedFile {
  package let id: Int64
  package let batch: Int64
  /// When it was released, in milliseconds since 1970.
  package let at: Int64
  package let collection: Int64
  package let root: String
  package let path: String
  /// Whether the path is valid UTF-8. Otherwise it names another file, or none.
  package let isPathValid: Bool

  package init(
    id: Int64, batch: Int64, at: Int64, collection: Int64, root: String, path: String,
    isPathValid: Bool
  ) {
    self.id = id
    self.batch = batch
    self.at = at
    self.collection = collection
    self.root = root
    self.path = path
    self.isPathValid = isPathValid
  }

  package var asked: FileQuery { FileQuery(id: id, collection: collection, path: path) }
}

/// A file for which it is asked whether an edge names it.
package struct FileQuery {
  package let id: Int64
  package let collection: Int64
  package let path: String

  package init(id: Int64, collection: Int64, path: String) {
    self.id = id
    self.collection = collection
    self.path = path
  }
}
