package import CascadeStore
package import CascadeModel
internal import CascadePlanning
internal import CascadeSQLite

extension Reader {
  /// The nodes that a fetched property of this node leads to. They are searched now, or taken from
  /// a search since the last commit. `refresh` always searches. A search that exceeds its time is
  /// aborted.
  package func fetch(
    _ name: String, of node: Node, refresh: Bool = false, timeLimit: Duration = .seconds(5)
  ) throws -> Fetched {
    let search = PropertySearch(
      try FetchedSearch(name, of: node.collection, in: model, timeLimit: timeLimit))
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
      self = search.target.tooLong(in: place)
    } else if error.isAboutTheStatement {
      self = search.target.wrong(error.message, in: place)
    } else {
      self = .unavailable("\(search.target.title) has no value now\(place): \(error.message)")
    }
  }
}
