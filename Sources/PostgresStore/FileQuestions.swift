internal import CascadeModel
internal import CascadeEngine
internal import CascadePostgres
package import CascadeStore
internal import PostgresBinding
internal import PostgresSweeps
internal import PostgresTables

/// Edges to files, by relation and then by the key of their source.
struct FileListing {
  let store: StoreConnection
  let query: EdgeQuery
  /// How many listings come before them.
  let offset: Int

  func page(after cursor: EdgeCursor?, limit: Int) throws -> EdgePage {
    var edges: [Edge] = []
    let files = store.binding.files
    for index in max(0, (cursor?.listing ?? 0) - offset)..<files.count {
      let isFirst = index + offset == cursor?.listing
      let rows = try rows(
        files[index], after: isFirst ? cursor?.position as? [String] : nil,
        limit: limit - edges.count)
      edges += rows.map { files[index].edge($0[0]!, $0[1]!, isDeclared: $0[2] == "t") }
      if edges.count == limit, let last = rows.last {
        let position = last.compactMap(\.self)
        return EdgePage(edges: edges, next: EdgeCursor(listing: index + offset, position: position))
      }
    }
    return EdgePage(edges: edges, next: nil)
  }

  func count() throws -> Int {
    try store.binding.files.reduce(0) { sum, relation in
      guard let filter = filter(relation, after: nil) else { return sum }
      return try sum
        + Int(store.db.run("SELECT count(*) \(filter.sql)", filter.values).integer ?? 0)
    }
  }

  private func rows(_ relation: FileRelation, after: [String]?, limit: Int) throws -> [[String?]] {
    guard let filter = filter(relation, after: after) else { return [] }
    return try store.db.run(
      """
      SELECT \(relation.source.key.text("s")), \(relation.path), \(relation.isDeclared) \(filter.sql)
      ORDER BY \(order(relation)) LIMIT \(limit)
      """, filter.values
    ).rows
  }

  private func order(_ relation: FileRelation) -> String {
    ([relation.source.key.values("s")] + relation.order).joined(separator: ", ")
  }

  /// Nil if the relation has no such edges.
  private func filter(
    _ relation: FileRelation, after: [String]?
  ) -> (sql: String, values: [String?])? {
    if let name = query.name, name != relation.name { return nil }
    let (source, path) = (relation.source, relation.path)
    var conditions = ["\(path) IS NOT NULL"]
    var values: [String?] = []
    if let from = query.from {
      guard from.collection == source.collection, let key = source.key.text(from.key) else {
        return nil
      }
      values.append(key)
      conditions.append(source.key.equal("s", text: "$\(values.count)"))
    }
    if let to = query.to {
      guard case .file(relation.root, let wanted) = to else { return nil }
      values.append(wanted)
      conditions.append(relation.mayName(anyOf: "SELECT $\(values.count)::text"))
      conditions.append("\(path) = $\(values.count)")
    }
    if let after {
      values.append(after[0])
      var last = source.key.parts(of: "$\(values.count)")
      for (place, _) in relation.order.enumerated() {
        values.append(after[1 + place])
        last.append("$\(values.count)\(place == 1 ? "::boolean" : "")")
      }
      conditions.append("(\(order(relation))) > (\(last.joined(separator: ", ")))")
    }
    return ("FROM \(relation.edges) WHERE \(conditions.joined(separator: " AND "))", values)
  }
}

extension Explanation {
  /// A file is there as long as an edge names it.
  func why(file path: String, in root: String) throws -> Why {
    let listing = EdgeListing(store: store, query: EdgeQuery(to: .file(root: root, path: path)))
    let holders = try listing.page(after: nil, limit: Explanation.mostHolders).edges
    if !holders.isEmpty { return try .alive(holders: holders, total: listing.count(), leases: []) }
    let batch = try store.db.run(
      "SELECT max(batch) FROM cascade.file WHERE root = $1 AND path = $2", [root, path]
    ).integer
    return try batch.flatMap { try deletion(in: $0) }.map(Why.deleted) ?? .unknown
  }
}

/// Compares the files on the disk with those that edges name.
struct FileCheck {
  private let store: StoreConnection
  private let roots: FileRoots

  init(_ store: StoreConnection, _ paths: StorePaths) throws {
    self.store = store
    var roots = FileRoots(store.model, StorePaths(store: paths.spool, spool: paths.spool))
    roots.leaveOutForeign(try store.rootOwner, claims: false)
    self.roots = roots
    try store.begin([.onDisk])
  }

  private static let part = 1_000

  /// Reads the disk. Returns what could not be read.
  private func read() throws -> [String] {
    var unreadable: [String] = []
    for root in roots.all where !store.binding.stopped.roots.contains(root.name) {
      var walk = FileWalk(root)
      var paths: [String] = []
      try walk.run { path in
        paths.append(path)
        if paths.count == FileCheck.part {
          try add(paths, root.name)
          paths = []
        }
      }
      try add(paths, root.name)
      unreadable += walk.unreadable.map { "\(root.path)/\($0)" }
    }
    return unreadable
  }

  private func add(_ paths: [String], _ root: String) throws {
    try store.db.run(
      "INSERT INTO \(store.scratch.into(.onDisk)) SELECT $1, unnest($2::text[])",
      [root, arrayText(paths)])
  }

  private var isUnnamed: String {
    let names = store.binding.files.map { relation in
      """
      (d.root = \(literal(relation.root)) AND d.path IN (
        SELECT \(relation.path) FROM \(relation.edges)
        WHERE \(relation.path) IS NOT NULL))
      """
    }
    let known = "SELECT FROM cascade.file f WHERE f.root = d.root AND f.path = d.path"
    return "NOT (\((["EXISTS (\(known))"] + names).joined(separator: " OR ")))"
  }

  private func unnamed(limit: Int) throws -> (files: [Destination], count: Int) {
    let from = "FROM \(store.scratch[.onDisk]) d WHERE \(isUnnamed)"
    let rows = try store.db.run("SELECT d.root, d.path \(from) ORDER BY 1, 2 LIMIT \(limit)").rows
    let count = try store.db.run("SELECT count(*) \(from)").integer ?? 0
    return (rows.map { .file(root: $0[0]!, path: $0[1]!) }, Int(count))
  }

  func unreferenced() throws -> UnreferencedFiles {
    var found = UnreferencedFiles()
    found.unreadable = try read()
    (found.files, found.count) = try unnamed(limit: 1_000)
    return found
  }

  func findings(_ limit: Int) throws -> Findings {
    var findings = Findings()
    for problem in roots.problems {
      findings.add(Finding(kind: problem.kind.rawValue, message: problem.message), limit)
    }
    for path in try read() {
      findings.add(Finding(kind: "fileRoot", message: "\(path) cannot be read"), limit)
    }
    for relation in store.binding.files { try addMissing(relation, &findings, limit) }
    let (files, count) = try unnamed(limit: max(limit - findings.list.count, 0))
    findings.list += files.map {
      Finding(kind: "fileWithoutEdge", message: "no edge references \($0.fileText)", file: $0)
    }
    findings.total += count
    return findings
  }

  private func addMissing(
    _ relation: FileRelation, _ findings: inout Findings, _ limit: Int
  ) throws {
    if roots[relation.root] == nil { return }
    let path = relation.path
    let rows = try store.db.run(
      """
      SELECT \(relation.source.key.text("s")), \(path) FROM \(relation.edges)
      WHERE \(path) IS NOT NULL AND \(path) NOT IN (
        SELECT d.path FROM \(store.scratch[.onDisk]) d WHERE d.root = \(literal(relation.root)))
      ORDER BY 2, 1
      """
    ).rows
    for row in rows {
      let file = Destination.file(root: relation.root, path: row[1]!)
      let node = relation.source.node(row[0]!)
      let whose = "\"\(relation.name)\" of \(node) references it"
      findings.add(
        Finding(
          kind: "edgeWithoutFile", message: "\(file.fileText): it does not exist, but \(whose)",
          node: node, file: file), limit)
    }
  }
}

extension PostgresReader {
  package func checkFiles(_ paths: StorePaths, limit: Int) throws -> Findings {
    try ask { store in
      if store.model.files.isEmpty { return Findings() }
      return try store.readingWholeTables { try FileCheck(store, paths).findings(limit) }
    }
  }

  package func unreferencedFiles(_ paths: StorePaths) throws -> UnreferencedFiles {
    try ask { store in
      if store.model.files.isEmpty { return UnreferencedFiles() }
      return try store.readingWholeTables { try FileCheck(store, paths).unreferenced() }
    }
  }
}
