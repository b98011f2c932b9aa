internal import CascadeModel
internal import CascadeSystem

/// What is in the trash of a root, whatever a store knows of it.
extension FileRoot {
  /// The numbers of the batches that have a directory there, in their order.
  package func batchesInTrash() throws -> [Int64] {
    guard let spot = try spot("\(FileRoot.trash)/0") else { return [] }
    return try spot.parent.names().compactMap { Int64($0.description) }.sorted()
  }

  /// The paths that files of a batch had in the root.
  package func filesInTrash(of batch: Int64) throws -> [String] {
    var paths: [String] = []
    guard let spot = try spot("\(FileRoot.trash)/\(batch)/0") else { return [] }
    try FileRoot.collect(spot.parent, "", &paths, depth: 0)
    return paths
  }

  private static let deepest = 200

  private static func collect(
    _ directory: borrowing Directory, _ prefix: String, _ paths: inout [String], depth: Int
  ) throws {
    if depth > deepest { return }
    let stream = try directory.entries()
    while let (name, kind) = try stream.next() {
      let path = prefix + name.description
      switch try kind ?? directory.status(of: name)?.kind {
      case .file: paths.append(path)
      case .directory:
        try collect(directory.directory(name), path + "/", &paths, depth: depth + 1)
      default: break
      }
    }
  }
}
