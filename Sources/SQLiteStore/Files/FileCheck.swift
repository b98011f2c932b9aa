internal import CascadeModel
internal import CascadeSQLite
internal import CascadeSystem
package import CascadeStore
internal import CascadePlanning
internal import SQLiteBinding
internal import SQLiteJournal
internal import SQLiteSweeps

/// Compares the files on the disk with those that edges name. Both lists are in temporary tables,
/// so memory is bounded. The disk is read before the snapshot begins, so an edge that is added
/// together with its file is seen.
extension Reader {
  package static let mostUnreferenced = 1_000

  package func unreferencedFiles(_ surroundings: StorePaths) throws -> UnreferencedFiles {
    try db.snapshot {
      let roots = FileRoots(model, surroundings)
      var found = UnreferencedFiles()
      found.unreadable = try list(roots)
      try listNamedFiles(roots)
      try leaveOutKnown(roots)
      found.count = try unnamedCount()
      found.files = try unnamed(roots, limit: Reader.mostUnreferenced)
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
      let roots = FileRoots(model, surroundings)
      var findings = Findings()
      for problem in roots.problems {
        findings.add(Finding(kind: problem.kind.rawValue, message: problem.message), limit)
      }
      for path in try list(roots) {
        findings.add(Finding(kind: "fileRoot", message: "\(path) cannot be read"), limit)
      }
      try listNamedFiles(roots)
      try addNamesWithoutFile(roots, &findings, limit)
      try addFilesWithoutName(roots, &findings, limit)
      return findings
    }
  }

  // MARK: - The two lists

  private func list(_ roots: FileRoots) throws -> [String] {
    var unreadable: [String] = []
    for (number, root) in roots.all.enumerated() {
      var walk = FileWalk(root)
      do {
        try walk.run { path in
          try db.run(
            "INSERT OR IGNORE INTO temp.files_on_disk VALUES(?, ?)", .integer(Int64(number)),
            .text(path))
        }
      } catch let error as SystemError {
        unreadable.append("\(error)")
      }
      unreadable += walk.unreadable.map { "\(root.path)/\($0)" }
    }
    return unreadable
  }

  private func listNamedFiles(_ roots: FileRoots) throws {
    let binding = try binding()
    for (number, root) in roots.all.enumerated() {
      let collection = Destination.fileCollection + root.name
      try db.run(
        """
        INSERT OR IGNORE INTO temp.files_with_edges
        SELECT ?, CAST(n.key AS TEXT), sc.name, s.key, m.name
        FROM cascade_collection AS c CROSS JOIN cascade_node AS n ON n.collection = c.id
        CROSS JOIN cascade_edge AS e ON e.destination = n.id
        JOIN cascade_name AS m ON m.id = e.name
        LEFT JOIN cascade_node AS s ON s.id = e.source
        LEFT JOIN cascade_collection AS sc ON sc.id = s.collection
        WHERE c.name = ?
        """, .integer(Int64(number)), .text(collection))
      for relation in binding.edgeRelations where relation.destination.collection == collection {
        try db.run(
          generated: """
            INSERT OR IGNORE INTO temp.files_with_edges
            SELECT ?1, \(relation.destinationKey), ?2, \(relation.source.key("s")), ?3
            \(relation.all)
            """, [.integer(Int64(number)), .text(relation.source.collection), .text(relation.name)])
      }
    }
  }

  // MARK: - Files without an edge

  /// Leaves out files that are on their way into the trash, or will be with the next `sweep files`.
  private func leaveOutKnown(_ roots: FileRoots) throws {
    try leaveOutJournal(roots)
    try leaveOut("path", of: "cascade_released_file", roots)
    try leaveOut("key", of: "cascade_node", roots)
  }

  private func leaveOut(_ path: String, of table: String, _ roots: FileRoots) throws {
    for (number, root) in roots.all.enumerated() {
      try db.run(
        generated: """
          DELETE FROM temp.files_on_disk WHERE root = ?1 AND path IN (
            SELECT r.\(path) FROM main.cascade_collection AS c
            CROSS JOIN main.\(table) AS r ON r.collection = c.id WHERE c.name = ?2)
          """, [.integer(Int64(number)), .text(Destination.fileCollection + root.name)])
    }
  }

  private func leaveOutJournal(_ roots: FileRoots) throws {
    for lost in try binding().filesInJournal(db.watches(), db) {
      let number = roots.all.firstIndex {
        Destination.fileCollection + $0.name == lost.root.collection
      }
      guard let number else { continue }
      try db.run(
        generated: """
          DELETE FROM temp.files_on_disk WHERE root = ?1 AND path IN (SELECT \(lost.path) \(lost.rows))
          """, [.integer(Int64(number))])
    }
  }

  private func unnamedCount() throws -> Int {
    let count = try db.integer(
      """
      SELECT count(*) FROM temp.files_on_disk AS d WHERE NOT EXISTS (
        SELECT 1 FROM temp.files_with_edges AS n WHERE n.root = d.root AND n.path = d.path)
      """)
    return Int(count ?? 0)
  }

  private func unnamed(_ roots: FileRoots, limit: Int) throws -> [Destination] {
    let names = roots.all.map(\.name)
    return try db.all(
      """
      SELECT d.root, d.path FROM temp.files_on_disk AS d WHERE NOT EXISTS (
        SELECT 1 FROM temp.files_with_edges AS n WHERE n.root = d.root AND n.path = d.path)
      ORDER BY d.root, d.path LIMIT ?
      """, .integer(Int64(limit))
    ) { .file(root: names[Int($0.integer(0))], path: $0.text(1)) }
  }

  private func addFilesWithoutName(
    _ roots: FileRoots, _ findings: inout Findings, _ limit: Int
  ) throws {
    try leaveOut("path", of: "cascade_released_file", roots)
    let room = max(limit - findings.list.count, 0)
    findings.list += try unnamed(roots, limit: room).map { file in
      Finding(
        kind: "fileWithoutEdge", message: "no edge references \(file.fileText)", file: file)
    }
    findings.total += try unnamedCount()
  }

  // MARK: - Edges without a file

  /// The disk is asked again: a file may have been added since it was read.
  private func addNamesWithoutFile(
    _ roots: FileRoots, _ findings: inout Findings, _ limit: Int
  ) throws {
    let all = roots.all
    try db.each(
      """
      SELECT n.root, n.path, n.name, n.collection, n.key FROM temp.files_with_edges AS n WHERE NOT EXISTS (
        SELECT 1 FROM temp.files_on_disk AS d WHERE d.root = n.root AND d.path = n.path)
      ORDER BY n.root, n.path
      """
    ) { row in
      let root = all[Int(row.integer(0))]
      let path = row.text(1)
      guard let reason = root.absence(of: path) else { return }
      let file = Destination.file(root: root.name, path: path)
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
