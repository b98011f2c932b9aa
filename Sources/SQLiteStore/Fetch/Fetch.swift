package import CascadeModel
internal import CascadeSQLite

/// The result of a fetched property (DESIGN 11).
package struct Fetched: Sendable {
  /// In the property's order.
  package let nodes: [StoredNode]
  /// Whether the nodes were found earlier, and no commit has changed that store since.
  package let isCached: Bool
}

/// Why a fetched property has no value.
package enum FetchError: Error, CustomStringConvertible {
  case noSuchNode(Node)
  case noSuchProperty(String)
  /// What the model says cannot be evaluated in this store. Another attempt would end the same way.
  case unusable(String)
  /// A later attempt may succeed.
  case unavailable(String)

  package var description: String {
    switch self {
    case .noSuchNode(let node): "there is no node \(node)"
    case .noSuchProperty(let text), .unusable(let text), .unavailable(let text): text
    }
  }
}

extension Reader {
  /// The nodes that a fetched property of this node leads to. They are searched now, or taken from
  /// a search since the last commit. `refresh` always searches. A search that exceeds its time is
  /// aborted.
  package func fetch(
    _ name: String, of node: Node, refresh: Bool = false, timeLimit: Duration = .seconds(5)
  ) throws -> Fetched {
    let search = try PropertySearch(name, of: node.collection, in: model, timeLimit: timeLimit)
    do {
      return try fetch(search, of: node, refresh)
    } catch let error as SQLiteError {
      throw FetchError(error, in: search)
    }
  }

  private func fetch(_ search: PropertySearch, of node: Node, _ refresh: Bool) throws -> Fetched {
    if let path = search.property.store {
      let question = try question(search, node)
      return try fetching.store(at: path).answer(question, of: search, refresh)
    }
    return try db.snapshot {
      let question = try question(search, node)
      return try fetching.own.answer(question, refresh, in: db) {
        try search.find(question, at: search.placeInOwnStore, in: db)
      }
    }
  }

  private func question(_ search: PropertySearch, _ node: Node) throws -> PropertySearch.Question {
    guard let source = try FetchSource.of(node, self) else { throw FetchError.noSuchNode(node) }
    return try search.question(from: source)
  }
}

extension FetchError {
  fileprivate init(_ error: SQLiteError, in search: PropertySearch) {
    let place = search.property.store.map { " in \($0)" } ?? ""
    if error.isInterrupted {
      self = .unavailable("\(search.title) took longer than \(search.timeLimit)\(place)")
    } else if error.isAboutTheStatement {
      self = .unusable("\(search.title) cannot be evaluated\(place): \(error.message)")
    } else {
      self = .unavailable("\(search.title) has no value now\(place): \(error.message)")
    }
  }
}
