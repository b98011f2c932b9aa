internal import CascadeModel

/// What an edge that is removed counts as.
public enum EdgeRemoval: String, Hashable, Sendable {
  /// As if the source had been deleted.
  case sourceDeleted
  /// As if the destination had been deleted.
  case destinationDeleted
  /// No rule runs.
  case edgeDeleted
}

/// Edges of a relationship to many. They go where the relationship has its edges: a row of a join table
/// is inserted or deleted, an element is added to a list or taken out of it, or an edge is made by hand.
extension Transaction {
  /// Makes these all destinations of a value. Rows of a join table that stay are not written, and a list
  /// gets this order.
  ///
  /// - Parameters:
  ///   - relationship: The relationship.
  ///   - source: The value that the edges begin at.
  ///   - destinations: The values that they lead to. Those that are there twice count once.
  ///   - mayDeleteItself: As for ``put(_:mayDeleteItself:)``.
  public mutating func set<S: Model, D: Model>(
    _ relationship: RelationshipFrom<S, [D]>, of source: ID<S>, to destinations: [ID<D>],
    mayDeleteItself: Bool = false
  ) throws {
    let ends = JSON.array(destinations.map { D.node($0).json })
    let edges = relationship.edge(source) + [JSON.Field("to", ends)]
    add(
      [JSON.Field("relink", .object(edges))], S.node(source), mayDeleteItself: mayDeleteItself)
  }

  /// Adds a destination to those of a value. One that is there stays.
  ///
  /// - Parameters:
  ///   - relationship: The relationship.
  ///   - source: The value that the edge begins at.
  ///   - destination: The value that it leads to.
  ///   - mayDeleteItself: As for ``put(_:mayDeleteItself:)``.
  public mutating func add<S: Model, D: Model>(
    _ relationship: RelationshipFrom<S, [D]>, of source: ID<S>, _ destination: ID<D>,
    mayDeleteItself: Bool = false
  ) throws {
    link(relationship, from: source, to: destination, mayDeleteItself: mayDeleteItself)
  }

  /// Removes a destination from those of a value. If it is none, the receipt counts that.
  ///
  /// - Parameters:
  ///   - relationship: The relationship.
  ///   - source: The value that the edge begins at.
  ///   - destination: The value that it leads to.
  ///   - removal: Which rules run.
  public mutating func remove<S: Model, D: Model>(
    _ relationship: RelationshipFrom<S, [D]>, of source: ID<S>, _ destination: ID<D>,
    as removal: EdgeRemoval = .sourceDeleted
  ) throws {
    unlink(relationship, from: source, to: destination, as: removal)
  }

  /// Adds an edge. The same edge again replaces its rules, if it is made by hand.
  ///
  /// - Parameters:
  ///   - relationship: The relationship, which gives the edge its name.
  ///   - source: The node that the edge begins at.
  ///   - destination: The node that it leads to.
  ///   - rules: The rules of an edge that is made by hand; nil for those of the relationship.
  ///   - mayDeleteItself: As for ``put(_:mayDeleteItself:)``, of the source.
  public mutating func link<S: Model, D: Model>(
    _ relationship: RelationshipFrom<S, [D]>, from source: ID<S>, to destination: ID<D>,
    rules: Rules? = nil, mayDeleteItself: Bool = false
  ) {
    var edge = relationship.edge(source, destination)
    if let rules { edge.append(JSON.Field("rules", rules.json)) }
    add([JSON.Field("link", .object(edge))], S.node(source), mayDeleteItself: mayDeleteItself)
  }

  /// Removes an edge. If there is none, the receipt counts that.
  ///
  /// - Parameters:
  ///   - relationship: The relationship, which gives the edge its name.
  ///   - source: The node that the edge begins at.
  ///   - destination: The node that it leads to.
  ///   - removal: Which rules run.
  public mutating func unlink<S: Model, D: Model>(
    _ relationship: RelationshipFrom<S, [D]>, from source: ID<S>, to destination: ID<D>,
    as removal: EdgeRemoval = .sourceDeleted
  ) {
    let edge = JSON.object(relationship.edge(source, destination))
    add([JSON.Field("unlink", edge), JSON.Field("as", .string(removal.rawValue))])
  }

  /// Runs the rules now, and not only at the end.
  public mutating func flush() { add([JSON.Field("flush", true)]) }
}

extension RelationshipFrom {
  fileprivate func edge(_ source: ID<Source>) -> [JSON.Field] {
    [JSON.Field("name", .string(name)), JSON.Field("from", Source.node(source).json)]
  }

  fileprivate func edge<D: Model>(_ source: ID<Source>, _ destination: ID<D>) -> [JSON.Field]
  where Target == [D] {
    edge(source) + [JSON.Field("to", D.node(destination).json)]
  }
}
