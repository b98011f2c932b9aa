internal import CascadeSQLite
internal import CascadeSystem
internal import SQLiteBinding

/// Columns of paths, and the files below a root.
struct PathFinder {
  let database: Database
  /// Without symbolic links and without a slash at its end.
  let root: String

  private static let words: Set<String> = [
    "path", "file", "filename", "filepath", "image", "cover", "artpath", "thumbnail", "photo",
    "picture", "attachment", "poster", "artwork", "media",
  ]

  func relationships(of table: SampledTable) throws -> [InspectedRelationship] {
    try table.table.columns.filter { !$0.isGenerated }.compactMap { column in
      let sample = Array(table.values(of: column.name).filter { $0.length > 0 }.prefix(100))
      let hits = sample.count { exists($0) == true }
      let isNamed = Words(of: column.name).list.contains(where: PathFinder.words.contains)
      guard hits > 0, hits * (isNamed ? 5 : 2) >= sample.count else { return nil }
      return try relationship(
        table, column,
        evidence: "\(hits) of \(sample.count) sampled values are files below the root")
    }
  }

  private func relationship(
    _ table: SampledTable, _ column: Table.Column, evidence: String
  ) throws -> InspectedRelationship {
    var found = InspectedRelationship(
      from: table.name, columns: [column.name], to: root, toColumns: [], found: .path,
      evidence: evidence)
    found.isIndexed = table.table.hasIndex(on: column.name)
    let name = ReferenceSQL.column(column.name)
    found.refers = "\(name) IS NOT NULL AND length(\(name)) > 0"
    let sums = try database.sum(over: RowSource(table.table), 2) { part in
      let values = try database.rows(
        """
        SELECT \(name) FROM main.\(quoted(table.name)) AS c
        WHERE \(part.condition) AND \(found.refers)
        """, part.values)
      return [values.count, values.count { exists($0[0]) == false }]
    }
    (found.rows, found.orphans) = (sums[0], sums[1])
    return found
  }

  /// Nil if the value is no path below the root.
  private func exists(_ value: Value) -> Bool? {
    guard let path = path(value) else { return nil }
    guard let status = try? FileStatus.of(path) else { return false }
    return status.kind == .file
  }

  private func path(_ value: Value) -> String? {
    let text: String
    switch value {
    case .text(let path): text = path
    case .blob(let bytes):
      guard let path = String(validating: bytes, as: UTF8.self) else { return nil }
      text = path
    default: return nil
    }
    if text.contains("\0") || text.isEmpty { return nil }
    if text.hasPrefix("/") { return text.hasPrefix("\(root)/") ? text : nil }
    return "\(root)/\(text)"
  }
}
