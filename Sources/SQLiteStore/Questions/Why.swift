package import CascadeModel
internal import CascadeSQLite
package import CascadeStore
internal import CascadeEngine
internal import SQLiteBinding
internal import SQLiteDeletion
internal import SQLiteTables
internal import SQLiteUndo

extension Reader {
  package func why(_ node: Node, at now: Int64? = nil) throws -> Why {
    try db.snapshot {
      if try keyInTable(of: node) != nil { return try holders(of: node, at: now) }
      return try deletion(of: node).map(Why.deleted) ?? .unknown
    }
  }

}

extension Reader: DeletionTrail {
  package func cause(ofBatch batch: Int64) throws -> Why.LedgerCause? {
    try db.first(
      "SELECT at, id, author, part FROM cascade_ledger WHERE seq = ?", .integer(batch)
    ) { row in
      Why.LedgerCause(
        batch: batch, at: row.integer(0), id: row.text(1), author: row.optionalText(2),
        kind: Submission.Kind(part: row.integer(3)))
    } ?? Why.LedgerCause(batch: batch, at: 0, id: "", author: nil, kind: .file)
  }

  func newest(_ node: Node, upTo batch: Int64) throws -> TrashEntry? {
    try db.newestInTrash(node, binding().collections[node.collection], upTo: batch)
  }

  /// The other end of each step is the node of the next step, if both went in the same batch.
  func stretch(from first: TrashEntry) throws -> DeletionStretch {
    let steps = try db.all(
      generated: """
        WITH RECURSIVE step(depth, id, via, name, rule) AS (
          SELECT 0, id, via, name, rule FROM main.cascade_trash
          WHERE batch = ?2 AND id = ?1 AND part = 0
          UNION ALL
          SELECT step.depth + 1, t.id, t.via, t.name, t.rule
          FROM step JOIN main.cascade_trash AS t
            ON t.batch = ?2 AND t.id = step.via AND t.part = 0
            AND t.id <> step.id
          WHERE step.depth < ?3
        )
        SELECT c.name, \(TrashLayout.key(keys: "l.keys")), m.name, oc.name,
          coalesce(\(TrashLayout.key(keys: "ol.keys", of: "ot")), x.key, o.key), s.rule,
          l.kind <> 'name' AND s.via IS NOT \(TrashLayout.byApplication)
        FROM step AS s
        JOIN main.cascade_trash AS t ON t.batch = ?2 AND t.id = s.id AND t.part = 0
        JOIN main.cascade_trash_layout AS l ON l.batch = ?2 AND l.layout = t.layout
        JOIN main.cascade_collection AS c ON c.id = l.collection
        LEFT JOIN main.cascade_name AS m ON m.id = s.name
        LEFT JOIN main.cascade_trash AS ot ON ot.batch = ?2 AND ot.id = s.via AND ot.part = 0
        LEFT JOIN main.cascade_trash_layout AS ol ON ol.batch = ?2 AND ol.layout = ot.layout
        LEFT JOIN main.cascade_trash_node AS x ON x.batch = ?2 AND x.id = s.via
        LEFT JOIN main.cascade_node AS o ON o.id = s.via
        LEFT JOIN main.cascade_collection AS oc
          ON oc.id = coalesce(ol.collection, x.collection, o.collection)
        ORDER BY s.depth
        """, [.integer(first.id), .integer(first.batch), .integer(Int64(longestDeletionTrail))]
    ) { (step: Plan.Step(row: $0, model), isWhole: $0.integer(6) != 0) }
    return DeletionStretch(
      batch: first.batch, steps: steps.map(\.step), isOwn: steps.last?.isWhole ?? false)
  }
}

// MARK: - Files

extension Reader {
  package func why(_ destination: Destination, at now: Int64? = nil) throws -> Why {
    switch destination {
    case .node(let node): try why(node, at: now)
    case .file(let root, let path): try db.snapshot { try why(file: path, in: root) }
    }
  }

  /// A file goes with the last edge that names it.
  private func why(file path: String, in root: String) throws -> Why {
    let named = EdgeQuery(to: .file(root: root, path: path))
    let page = try edgesNow(named, after: nil, limit: Receipt.mostListed)
    // Counting is another search, through whole tables where there is no index.
    let total = try page.next == nil ? page.edges.count : countNow(named)
    if total > 0 { return .alive(holders: page.edges, total: total, leases: []) }
    let collection = Destination.fileCollection + root
    if let deletion = try deletion(of: Node(collection, .text(path))) { return .deleted(deletion) }
    return try batch(ofFile: path, in: collection).flatMap { try deletion(in: $0) }
      .map(Why.deleted) ?? .unknown
  }

  /// The latest batch in which a sweep of files released the file, for which no rule and no node
  /// was the reason.
  private func batch(ofFile path: String, in collection: String) throws -> Int64? {
    try db.integer(
      """
      SELECT max(f.batch) FROM cascade_collection AS c CROSS JOIN (
        SELECT batch, collection FROM cascade_trash_file WHERE path = ?2
        UNION ALL SELECT batch, collection FROM cascade_released_file WHERE path = ?2
      ) AS f ON f.collection = c.id WHERE c.name = ?1
      """, .text(collection), .text(path))
  }
}
