package import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
internal import CascadePlanning

/// Why a file exists, or why it was released: it goes with the last edge that names it.
extension Reader {
  package func why(_ destination: Destination, at now: Int64? = nil) throws -> Why {
    switch destination {
    case .node(let node): try why(node, at: now)
    case .file(let root, let path): try db.snapshot { try why(file: path, in: root) }
    }
  }

  private func why(file path: String, in root: String) throws -> Why {
    let named = EdgeQuery(to: .file(root: root, path: path))
    let page = try edgesNow(named, after: nil, limit: Receipt.mostListed)
    // Counting is another search, through whole tables where there is no index.
    let total = try page.next == nil ? page.edges.count : countNow(named)
    if total > 0 { return .alive(holders: page.edges, total: total, leases: []) }
    let collection = Destination.fileCollection + root
    if let deletion = try deletion(of: Node(collection, .text(path))) { return .deleted(deletion) }
    return try batch(ofFile: path, in: collection).map { .deleted(try deletion(in: $0, from: nil)) }
      ?? .unknown
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
