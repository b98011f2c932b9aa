internal import CascadePostgres
internal import PostgresBinding

/// Stored edges to files, which go with their source.
extension Waves {
  /// Removes the stored edges to files of nodes that are gone.
  @discardableResult
  mutating func unlinkFiles(
    of table: MappedTable, _ keys: KeyArray, _ limit: Int = .max, goesNext: Bool = false
  ) throws -> Int {
    let went = try binding.storedFiles(of: table).map {
      try removal.unlink($0, keys, limit: limit, goesNext: goesNext)
    }
    count.edges += went.reduce(0, +)
    return went.max() ?? 0
  }
}
