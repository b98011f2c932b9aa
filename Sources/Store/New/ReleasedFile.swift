internal import CascadeModel
internal import CascadeSQLite

/// A file that lost its last edge, and is still in its place as far as is known.
struct ReleasedFile {
  let id: Int64
  let batch: Int64
  /// When it was released, in milliseconds since 1970.
  let at: Int64
  let collection: Int64
  let root: String
  let path: String
  /// Whether the path is valid UTF-8. Otherwise it names another file, or none.
  let isPathValid: Bool

  var asked: FileQuery { FileQuery(id: id, collection: collection, path: path) }
}

/// A file for which it is asked whether an edge names it.
struct FileQuery {
  let id: Int64
  let collection: Int64
  let path: String
}
