internal import CascadeModel
internal import CascadeSQLite

/// What a reader keeps for fetched properties: results, and connections to other stores.
final class FetchCaches {
  var own = FetchCache()
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
  private var cache = FetchCache()

  init(_ path: String) throws(SQLiteError) {
    db = try Connection(path: path, access: .readOnly)
    db.setBusyTimeout(milliseconds: 5_000)
    try db.execute("PRAGMA cache_size = -2048")
    self.path = path
  }

  func answer(_ question: PropertySearch.Question, of search: PropertySearch, _ refresh: Bool)
    throws -> Fetched
  {
    try db.snapshot {
      try cache.answer(question, refresh, in: db) {
        try search.find(question, at: search.place(inOtherStore: db), in: db)
      }
    }
  }
}

/// What was found in a store since its last commit.
struct FetchCache {
  private var version: Int64?
  private var found: [PropertySearch.Question: SearchResult] = [:]
  private var weight = 0

  private static let mostAnswers = 1_000
  /// Approximate bytes.
  private static let mostWeight = 8 << 20

  /// Runs within a snapshot of the store, so that the version is that of what `find` sees.
  mutating func answer(
    _ question: PropertySearch.Question, _ refresh: Bool, in db: borrowing Connection,
    find: () throws -> SearchResult
  ) throws -> Fetched {
    try clearIfOutdated(db)
    if !refresh, let known = found[question] { return Fetched(nodes: known.nodes, isCached: true) }
    let new = try find()
    keep(new, for: question)
    return Fetched(nodes: new.nodes, isCached: false)
  }

  /// SQLite's number changes with every commit of another connection, and this connection never
  /// writes.
  private mutating func clearIfOutdated(_ db: borrowing Connection) throws {
    let now = try db.integer("PRAGMA data_version")
    if now != version { self = FetchCache() }
    version = now
  }

  /// A full cache is emptied: what is asked for often is soon found again.
  private mutating func keep(_ new: SearchResult, for question: PropertySearch.Question) {
    weight -= found.removeValue(forKey: question)?.weight ?? 0
    if new.weight > FetchCache.mostWeight { return }
    if weight + new.weight > FetchCache.mostWeight || found.count >= FetchCache.mostAnswers {
      found = [:]
      weight = 0
    }
    found[question] = new
    weight += new.weight
  }
}

/// The nodes that a search found, and how much memory they take.
struct SearchResult {
  private(set) var nodes: [StoredNode] = []
  private(set) var weight = 256

  mutating func add(_ node: StoredNode) {
    nodes.append(node)
    weight +=
      256 + (node.value?.text.utf8.count ?? 0) + (node.node.key.managedText?.utf8.count ?? 0)
  }
}

extension PropertySearch {
  /// Bytes of one answer. A property that finds more needs a limit.
  private static let mostWeight = 32 << 20

  func find(_ question: Question, at place: Location, in db: borrowing Connection) throws
    -> SearchResult
  {
    let query = try SearchQuery(self, at: place, question.values)
    var found = SearchResult()
    try db.each(guarded: query.text, query.values, limit: timeLimit) { row in
      found.add(node(row, place))
      if found.weight > PropertySearch.mostWeight {
        throw FetchError.unusable("\(title) finds too much to keep in memory: give it a \"limit\"")
      }
    }
    return found
  }

  private func node(_ row: Row, _ place: Location) -> StoredNode {
    if case .table(_, let key) = place {
      return MappedRow(row, keyCount: key.count).node(in: searched)
    }
    return StoredNode(
      node: Node(searched, .text(row.text(0))), exists: true, type: row.optionalText(1),
      value: row.optionalText(2).map(JSONText.init(valid:)))
  }
}
