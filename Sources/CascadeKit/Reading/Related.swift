internal import CascadeModel

// Along relationships, in both directions.
extension Snapshot {
  /// What a reference leads to. Throws ``ReadError/dangling(node:relationship:)`` if it leads to
  /// nothing.
  public func get<S: Model, D: Model>(
    _ relationship: RelationshipFrom<S, D>, of source: S
  ) throws(ReadError) -> D {
    if let found = try get(relationship.reference(of: source)) { return found }
    throw .dangling(node: "\(NodeName(source.id))", relationship: relationship.name)
  }

  /// What a reference leads to; nil if it is nil, or leads to nothing.
  public func get<S: Model, D: Model>(
    _ relationship: RelationshipFrom<S, D?>, of source: S
  ) throws(ReadError) -> D? {
    guard let id = relationship.reference(of: source) else { return nil }
    return try get(id)
  }

  /// What a list of references leads to, in its order. Without a list, in the order of the keys.
  /// References that lead to nothing are left out.
  public func get<S: Model, D: Model>(
    _ relationship: RelationshipFrom<S, [D]>, of source: S
  ) throws(ReadError) -> [D] { try all(relationship.query(of: source)) }

  /// How many nodes a list of references leads to. Nothing is loaded.
  public func count<S: Model, D: Model>(
    _ relationship: RelationshipFrom<S, [D]>, of source: S
  ) throws(ReadError) -> Int { try count(relationship.query(of: source)) }

  /// What refers to a value, in the order of the keys.
  public func get<N: Model, O: Model>(
    _ inverse: Inverse<N, O>, of node: N
  ) throws(ReadError) -> [O] { try get(inverse, of: node.id) }

  /// What refers to a value, in the order of the keys.
  public func get<N: Model, O: Model>(
    _ inverse: Inverse<N, O>, of id: ID<N>
  ) throws(ReadError) -> [O] { try all(inverse.query(of: id).ordered(by: O.sqlKey)) }

  /// How many values refer to one. Nothing is loaded.
  public func count<N: Model, O: Model>(
    _ inverse: Inverse<N, O>, of node: N
  ) throws(ReadError) -> Int { try count(inverse, of: node.id) }

  /// How many values refer to one. Nothing is loaded.
  public func count<N: Model, O: Model>(
    _ inverse: Inverse<N, O>, of id: ID<N>
  ) throws(ReadError) -> Int { try count(inverse.query(of: id)) }

  /// What refers to each of many values, by one query. Values that nothing refers to have no entry.
  public func get<N: Model, O: Model>(
    _ inverse: Inverse<N, O>, ofEach nodes: [N]
  ) throws(ReadError) -> [ID<N>: [O]] { try get(inverse, ofEach: nodes.map(\.id)) }

  /// What refers to each of many values, by one query. Values that nothing refers to have no entry.
  @inlinable
  public func get<N: Model, O: Model>(
    _ inverse: Inverse<N, O>, ofEach ids: [ID<N>]
  ) throws(ReadError) -> [ID<N>: [O]] {
    let rows = try rows(inverse.statement(ofEach: ids), of: O.self, from: 1)
    var result: [ID<N>: [O]] = [:]
    // The rows of one node mostly come one after the other.
    var group: (id: ID<N>?, values: [O]) = (nil, [])
    while try rows.next() {
      let id = try rows.leading(N.self)
      if id != group.id {
        if let id = group.id { result[id, default: []] += group.values }
        group = (id, [])
      }
      group.values.append(try O(row: rows.row))
    }
    if let id = group.id { result[id, default: []] += group.values }
    return result
  }
}

// MARK: - From the source

extension RelationshipFrom {
  /// The value of the property. Only a relationship by a property has one.
  fileprivate func reference(of source: Source) -> Target.DestinationReference {
    guard case .property(let path) = storage else {
      preconditionFailure("\(name) is in no property")
    }
    return source[keyPath: path as! KeyPath<Source, Target.DestinationReference>]
  }

  fileprivate func query<D: Model>(of source: Source) -> Query<D> where Target == [D] {
    let key = Source.sqlKey(source.id)
    switch storage {
    case .property: return D.query(inOrderOf: reference(of: source))
    case .join(let join):
      let keys: SQL =
        "SELECT \(name: join.destination) FROM \(name: join.table) WHERE \(name: join.source) = \(value: key)"
      return D.all.adding("\(D.sqlKey) IN (\(keys))").ordered(by: D.sqlKey)
    case .stored:
      let keys: SQL = """
        SELECT destination_key FROM cascade_stored_edge WHERE name = \(value: .text(name)) \
        AND source_collection = \(value: .text(Source.collection.name)) \
        AND source_key = \(value: key) \
        AND destination_collection = \(value: .text(D.collection.name))
        """
      return D.all.adding("\(D.sqlKey) IN (\(keys))").ordered(by: D.sqlKey)
    }
  }
}

extension Model {
  fileprivate static func query(inOrderOf ids: [ID<Self>]) -> Query<Self> {
    let keys = JSON.array(ids.map { sqlKey($0).json }).text
    return Query(join: "json_each(\(value: .text(keys))) AS l")
      .adding("\(sqlKey) = l.value").ordered(by: "l.key")
  }
}

// MARK: - From the destination

extension Inverse {
  fileprivate func query(of id: ID<Node>) -> Query<Origin> {
    let key = Node.sqlKey(id)
    switch storage {
    case .property(let path) where isList(path):
      return Origin.all.adding(
        "EXISTS (SELECT 1 FROM json_each(\(Origin.sql(path))) AS l WHERE l.value = \(value: key))")
    case .property(let path):
      return Origin.all.adding("\(Origin.sql(path)) = \(value: id.sqlValue)")
    case .join(let join):
      let keys: SQL =
        "SELECT \(name: join.source) FROM \(name: join.table) WHERE \(name: join.destination) = \(value: key)"
      return Origin.all.adding("\(Origin.sqlKey) IN (\(keys))")
    case .stored:
      let keys: SQL = """
        SELECT source_key FROM cascade_stored_edge WHERE name = \(value: .text(of)) \
        AND destination_collection = \(value: .text(Node.collection.name)) \
        AND destination_key = \(value: key) \
        AND source_collection = \(value: .text(Origin.collection.name))
        """
      return Origin.all.adding("\(Origin.sqlKey) IN (\(keys))")
    }
  }

  /// Finds what refers to any of the nodes, with the key of that node before the columns.
  @usableFromInline
  func statement(ofEach ids: [ID<Node>]) -> SQLStatement {
    let list: SQL = "(SELECT value FROM json_each(\(value: .text(keys(ids)))))"
    let columns = Origin.sqlColumns()
    switch storage {
    case .property(let path) where isList(path):
      let query = Query<Origin>(join: "json_each(\(Origin.sql(path))) AS l")
      return SQLStatement(query.adding("l.value IN \(list)").select("l.value, \(columns)"))
    case .property(let path):
      let column = Origin.sql(path)
      return SQLStatement(Origin.all.adding("\(column) IN \(list)").select("\(column), \(columns)"))
    case .join(let join):
      let query = Query<Origin>(join: "\(name: join.table) AS j")
        .adding("j.\(name: join.source) = \(Origin.sqlKey)")
        .adding("j.\(name: join.destination) IN \(list)")
      return SQLStatement(query.select("DISTINCT j.\(name: join.destination), \(columns)"))
    case .stored:
      let query = Query<Origin>(join: "cascade_stored_edge AS e")
        .adding("e.name = \(value: .text(of))")
        .adding("e.destination_collection = \(value: .text(Node.collection.name))")
        .adding("e.source_collection = \(value: .text(Origin.collection.name))")
        .adding("e.source_key = \(Origin.sqlKey) AND e.destination_key IN \(list)")
      return SQLStatement(query.select("DISTINCT e.destination_key, \(columns)"))
    }
  }

  private func keys(_ ids: [ID<Node>]) -> String {
    JSON.array(ids.map { Node.sqlKey($0).json }).text
  }

  private func isList(_ path: PartialKeyPath<Origin>) -> Bool {
    type(of: path).valueType is any ListOfReferences.Type
  }
}
