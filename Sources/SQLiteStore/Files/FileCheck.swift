internal import CascadeModel
internal import CascadeSQLite
internal import CascadeSystem
package import CascadeStore
internal import CascadeEngine
internal import SQLiteBinding
internal import SQLiteJournal
internal import SQLiteSweeps
internal import SQLiteTables

/// Compares the files on the disk with those that edges name. Both lists are in temporary tables,
/// so memory is bounded; a root is known there by the collection that stands for its files. The disk
/// is read before the snapshot begins, so an edge that is added together with its file is seen.
extension Reader {
  package static let mostUnreferenced = 1_000

  package func unreferencedFiles(_ surroundings: StorePaths) throws -> UnreferencedFiles {
    try db.snapshot {
      var found = UnreferencedFiles()
      found.unreadable = try list(FileRoots(model, surroundings))
      // Files that are on their way into the trash, or will be with the next `sweep files`.
      try leaveOutJournal()
      try leaveOut("path", of: "cascade_released_file")
      try leaveOut("key", of: "cascade_node")
      (found.files, found.count) = try unnamed(limit: Reader.mostUnreferenced)
      return found
    }
  }

  /// Finds edges without files, and files without edges. In each case `limit` bounds the list and
  /// not the count.
  package func checkFiles(
    _ surroundings: StorePaths, limit: Int = Receipt.mostListed
  ) throws -> Findings {
    if model.files.isEmpty { return Findings() }
    return try db.snapshot {
      var roots = FileRoots(model, surroundings)
      let id = try db.meta(.storeId).map { "\($0)" } ?? ""
      roots.leaveOutForeign(RootOwner(id: id, place: surroundings.realPath), claims: false)
      var findings = Findings()
      for problem in roots.problems {
        findings.add(Finding(kind: problem.kind.rawValue, message: problem.message), limit)
      }
      for path in try list(roots) {
        findings.add(Finding(kind: "fileRoot", message: "\(path) cannot be read"), limit)
      }
      try addNamesWithoutFile(roots, &findings, limit)
      try addFilesWithoutName(&findings, limit)
      return findings
    }
  }

  // MARK: - The two lists

  /// Returns what could not be read.
  private func list(_ roots: FileRoots) throws -> [String] {
    var unreadable: [String] = []
    for root in roots.all {
      let collection = Value.text(Destination.fileCollection + root.name)
      var walk = FileWalk(root)
      do {
        try walk.run { path in
          try db.run(
            "INSERT OR IGNORE INTO temp.files_on_disk VALUES(?, ?)", collection, .text(path))
        }
      } catch let error as SystemError {
        unreadable.append("\(error)")
      }
      unreadable += walk.unreadable.map { "\(root.path)/\($0)" }
    }
    try listNamedFiles()
    return unreadable
  }

  private func listNamedFiles() throws {
    try db.run(
      """
      INSERT OR IGNORE INTO temp.files_with_edges
      SELECT c.name, CAST(n.key AS TEXT), sc.name, s.key, m.name
      FROM cascade_collection AS c CROSS JOIN cascade_node AS n ON n.collection = c.id
      CROSS JOIN cascade_edge AS e ON e.destination = n.id
      JOIN cascade_name AS m ON m.id = e.name
      LEFT JOIN cascade_node AS s ON s.id = e.source
      LEFT JOIN cascade_collection AS sc ON sc.id = s.collection
      WHERE c.name GLOB 'cascade_file/*'
      """)
    for relation in try binding().edgeRelations where relation.leadsToFiles {
      let ends = [relation.destination, relation.source].map { Value.text($0.collection) }
      try db.run(
        generated: """
          INSERT OR IGNORE INTO temp.files_with_edges
          SELECT ?1, \(relation.destinationKey), ?2, \(relation.source.key("s")), ?3
          \(relation.all)
          """, ends + [.text(relation.name)])
    }
  }

  // MARK: - Files without an edge

  private func leaveOut(_ path: String, of table: String) throws {
    try db.run(
      generated: """
        DELETE FROM temp.files_on_disk WHERE (root, path) IN (
          SELECT c.name, r.\(path) FROM main.cascade_collection AS c
          CROSS JOIN main.\(table) AS r ON r.collection = c.id WHERE c.name GLOB 'cascade_file/*')
        """)
  }

  private func leaveOutJournal() throws {
    for lost in try binding().filesInJournal(db.watches(), db) {
      try db.run(
        generated: """
          DELETE FROM temp.files_on_disk WHERE root = ?1 AND path IN (SELECT \(lost.path) \(lost.rows))
          """, [.text(lost.root.collection)])
    }
  }

  private func unnamed(limit: Int) throws -> (list: [Destination], count: Int) {
    let files = """
      FROM temp.files_on_disk AS d WHERE NOT EXISTS (
        SELECT 1 FROM temp.files_with_edges AS n WHERE n.root = d.root AND n.path = d.path)
      """
    let list = try db.all(
      generated: "SELECT d.root, d.path \(files) ORDER BY d.root, d.path LIMIT \(limit)"
    ) { Destination(Node($0.text(0), .text($0.text(1)))) }
    return (list, Int(try db.integer(generated: "SELECT count(*) \(files)") ?? 0))
  }

  private func addFilesWithoutName(_ findings: inout Findings, _ limit: Int) throws {
    try leaveOut("path", of: "cascade_released_file")
    let (files, count) = try unnamed(limit: max(limit - findings.list.count, 0))
    findings.list += files.map { file in
      Finding(
        kind: "fileWithoutEdge", message: "no edge references \(file.fileText)", file: file)
    }
    findings.total += count
  }

  // MARK: - Edges without a file

  /// The disk is asked again: a file may have been added since it was read.
  private func addNamesWithoutFile(
    _ roots: FileRoots, _ findings: inout Findings, _ limit: Int
  ) throws {
    try db.each(
      """
      SELECT n.root, n.path, n.name, n.collection, n.key FROM temp.files_with_edges AS n WHERE NOT EXISTS (
        SELECT 1 FROM temp.files_on_disk AS d WHERE d.root = n.root AND d.path = n.path)
      ORDER BY n.root, n.path
      """
    ) { row in
      let path = row.text(1)
      guard let root = Destination.root(of: row.text(0)),
        let reason = roots[root]?.absence(of: path)
      else { return }
      let file = Destination.file(root: root, path: path)
      let source = row.isNull(3) ? nil : row.node(3, model)
      let whose =
        source.map { "\"\(row.text(2))\" of \($0) references it" } ?? "an edge references it"
      findings.add(
        Finding(
          kind: "edgeWithoutFile", message: "\(file.fileText): \(reason), but \(whose)",
          node: source, file: file), limit)
    }
  }
}

extension FileRoot {
  /// Why a path names no file; nil if there is a file.
  fileprivate func absence(of path: String) -> String? {
    if let objection = objection(to: path) { return objection }
    do {
      return try file(path) == nil ? "it does not exist" : nil
    } catch let error as UnmovableFile {
      return error.reason
    } catch {
      return "\(error)"
    }
  }
}
