internal import CascadeModel
package import CascadeStore

/// What was found in a store since its last commit. `Version` tells commits apart.
package struct FetchCache<Question: Hashable, Version: Equatable> {
  private var version: Version?
  private var found: [Question: SearchResult] = [:]
  private var weight = 0

  package init() {}

  private var mostAnswers: Int { 1_000 }
  /// Approximate bytes.
  private var mostWeight: Int { 8 << 20 }

  /// Runs within a snapshot of the store, so that the version is that of what `find` sees.
  package mutating func answer(
    _ question: Question, _ refresh: Bool, version now: Version, find: () throws -> SearchResult
  ) throws -> Fetched {
    if now != version { self = FetchCache() }
    version = now
    if !refresh, let known = found[question] { return Fetched(nodes: known.nodes, isCached: true) }
    let new = try find()
    keep(new, for: question)
    return Fetched(nodes: new.nodes, isCached: false)
  }

  /// A full cache is emptied: what is asked for often is soon found again.
  private mutating func keep(_ new: SearchResult, for question: Question) {
    weight -= found.removeValue(forKey: question)?.weight ?? 0
    if new.weight > mostWeight { return }
    if weight + new.weight > mostWeight || found.count >= mostAnswers {
      found = [:]
      weight = 0
    }
    found[question] = new
    weight += new.weight
  }
}

/// The nodes that a search found, and how much memory they take.
package struct SearchResult {
  package private(set) var nodes: [StoredNode] = []
  package private(set) var weight = 256
  /// Bytes of one answer. A property that finds more needs a limit.
  private static let mostWeight = 32 << 20

  package init() {}

  /// Whether there are too many now.
  package var isTooMuch: Bool { weight > SearchResult.mostWeight }

  package mutating func add(_ node: StoredNode) {
    nodes.append(node)
    weight +=
      256 + (node.value?.text.utf8.count ?? 0) + (node.node.key.managedText?.utf8.count ?? 0)
  }
}
