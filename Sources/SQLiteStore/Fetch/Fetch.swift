package import CascadeModel
internal import CascadeSQLite
package import CascadeStore
internal import CascadeEngine

extension Reader {
  /// The nodes that a fetched property of this node leads to. They are searched now, or taken from
  /// a search since the last commit. `refresh` always searches. A search that exceeds its time is
  /// aborted.
  package func fetch(
    _ name: String, of node: Node, refresh: Bool = false, timeLimit: Duration = .seconds(5)
  ) throws -> Fetched {
    let search = try FetchedSearch(name, of: node.collection, in: model, timeLimit: timeLimit)
    do {
      return try fetch(search, of: node, refresh)
    } catch let error as SQLiteError {
      throw FetchError(error, in: search)
    }
  }

  private func fetch(_ search: FetchedSearch, of node: Node, _ refresh: Bool) throws -> Fetched {
    if let path = search.property.store {
      let question = try question(search, node)
      return try fetching.store(at: path).answer(question, of: search, refresh)
    }
    return try db.snapshot {
      let question = try question(search, node)
      return try fetching.own.answer(question, refresh, version: db.dataVersion()) {
        try search.find(question, at: search.placeInOwnStore, in: db)
      }
    }
  }

  private func question(_ search: FetchedSearch, _ node: Node) throws -> FetchQuestion<Value> {
    guard let source = try source(node) else { throw FetchError.noSuchNode(node) }
    return try search.question(from: source, null: .null) { Value($0) }
  }
}

extension FetchError {
  fileprivate init(_ error: SQLiteError, in search: FetchedSearch) {
    let place = search.property.store.map { " in \($0)" } ?? ""
    if error.isInterrupted {
      self = search.tooLong(in: place)
    } else if error.isAboutTheStatement {
      self = search.wrong(error.message, in: place)
    } else {
      self = .unavailable("\(search.title) has no value now\(place): \(error.message)")
    }
  }
}

/// What a reader keeps for fetched properties: results, and connections to other stores.
final class FetchCaches {
  var own = FetchCacheOfFile()
  /// Ordered by use, the most recent last.
  private var others: [OtherStore] = []

  private static let mostStores = 4

  /// A connection stays open between questions, unless another file is at its path now.
  func store(at path: String) throws -> OtherStore {
    let known = others.first { $0.path == path && !$0.db.hasMoved }
    let store = try known ?? OtherStore(path)
    others.removeAll { $0.path == path }
    others.append(store)
    if others.count > FetchCaches.mostStores { others.removeFirst() }
    return store
  }
}

/// Another store, which is only read.
final class OtherStore {
  let path: String
  let db: Connection
  private var cache = FetchCacheOfFile()

  init(_ path: String) throws(SQLiteError) {
    db = try Connection(path: path, access: .readOnly)
    db.setBusyTimeout(milliseconds: 5_000)
    try db.execute("PRAGMA cache_size = -2048")
    self.path = path
  }

  func answer(
    _ question: FetchQuestion<Value>, of search: FetchedSearch, _ refresh: Bool
  ) throws -> Fetched {
    try db.snapshot {
      try cache.answer(question, refresh, version: db.dataVersion()) {
        try search.find(question, at: search.place(inOtherStore: db), in: db)
      }
    }
  }
}

/// SQLite's number of the version changes with every commit of another connection, and this one never
/// writes.
typealias FetchCacheOfFile = FetchCache<FetchQuestion<Value>, Int64>

extension Connection {
  func dataVersion() throws -> Int64 { try integer("PRAGMA data_version") ?? 0 }
}

extension FetchedSearch {
  func find(
    _ question: FetchQuestion<Value>, at place: Location, in db: borrowing Connection
  ) throws -> SearchResult {
    let query = try query(at: place, question.values)
    var found = SearchResult()
    try db.each(guarded: query.text, query.values, limit: timeLimit) { row in
      switch place {
      case .table(_, let key): found.add(MappedRow(row, keyCount: key.count).node(in: searched))
      case .managed: found.add(StoredNode(Node(searched, .text(row.text(0))), row))
      }
      if found.isTooMuch { throw findsTooMuch }
    }
    return found
  }
}
