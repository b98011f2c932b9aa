package import CascadeModel
internal import CascadeStore

/// What an engine does to edges that a change file adds or removes by their name.
///
/// 1. An edge lives where the model says that the edges of its name live: a link inserts the row of a
///    join, sets columns or a property, or adds an element to a list; an unlink does the reverse. What
///    follows is what follows if the row or the object is written so.
/// 2. The rules of such an edge are those of the model.
/// 3. Other edges are in Cascade's own table.
package protocol EdgeWriting {
  var model: StoreModel { get }

  // MARK: What is there

  func exists(_ node: Node) throws -> Bool
  /// The type of an object that is there; nil without one.
  func type(of node: Node) throws -> String?
  /// The same node, with its key as its collection writes it.
  func spelled(_ node: Node) throws -> Node
  /// Whether columns or a join row refer to the end, which is spelled.
  func refers(_ relationship: Relationship, _ from: Node, _ to: Destination) throws -> Bool
  /// The ends of the join rows of a node, spelled.
  func joined(_ relationship: Relationship, _ from: Node) throws -> [Node]
  /// The ends of the manual edges of the name, spelled.
  func stored(_ name: String, _ from: Node) throws -> [Destination]
  /// The member of an object, or the JSON in a column; null if there is none.
  func document(_ name: String, of node: Node) throws -> JSONText
  /// What a patch gives to a column so that it has this JSON.
  func written(_ document: JSONText, to column: String, of node: Node) throws -> JSONText
  /// Whether the column may not be null.
  func isRequired(_ column: String, of node: Node) throws -> Bool

  // MARK: What is written

  mutating func patch(_ node: Node, set: [Member]) throws
  /// The same, so that nothing follows from the removal of an edge to this end.
  mutating func patch(
    _ node: Node, set: [Member], removingAlone relationship: Relationship, _ end: Destination)
    throws
  mutating func insertJoinRow(
    _ relationship: Relationship, _ from: Node, _ to: Node) throws
  mutating func deleteJoinRows(
    _ relationship: Relationship, _ from: Node, _ to: Node, as removal: Removal) throws
  mutating func addStored(
    _ name: String, _ from: Node, _ to: Destination, rules: Rules?) throws
  /// Whether there was such an edge.
  mutating func removeStored(
    _ name: String, _ from: Node, _ to: Destination, as removal: Removal
  ) throws -> Bool
}

extension EdgeWriting {
  package mutating func link(
    _ name: String, from: Node, to: Destination, rules: Rules?
  ) throws {
    switch try place(name, from, [to]) {
    case .stored: try addStored(name, from, to, rules: rules)
    case .placed(let relationship):
      try checkRules(rules, relationship, from)
      try add(relationship, from, spelled(to))
    }
  }

  /// Whether there was such an edge. One that was made by hand before the model placed its name can
  /// still be removed.
  package mutating func unlink(
    _ name: String, from: Node, to: Destination, as removal: Removal
  ) throws -> Bool {
    if case .placed(let relationship) = try place(name, from, [to]),
      try remove(relationship, from, spelled(to), as: removal)
    {
      return true
    }
    return try removeStored(name, from, to, as: removal)
  }

  /// Makes these all edges of the name from the node, manual ones or those in their place.
  package mutating func relink(
    _ name: String, from: Node, to: [Destination], rules: Rules?
  ) throws {
    let place = try place(name, from, to)
    let ends = try to.map { try spelled($0) }.withoutRepetition
    switch place {
    case .stored:
      for end in try stored(name, from) where !ends.contains(end) {
        _ = try removeStored(name, from, end, as: .sourceDeleted)
      }
      for end in ends { try addStored(name, from, end, rules: rules) }
    case .placed(let relationship):
      try checkRules(rules, relationship, from)
      try replace(relationship, from, ends)
    }
  }

  private func spelled(_ end: Destination) throws -> Destination {
    switch end {
    case .node(let node): return .node(try spelled(node))
    case .file(let root, _):
      if let problem = model.problem(ofRoot: root) { throw Rejection(.invalid, problem) }
      return end
    }
  }

  private func checkRules(_ rules: Rules?, _ relationship: Relationship, _ from: Node) throws {
    guard let rules, rules != relationship.rules else { return }
    throw rejection(
      from,
      "the edges \"\(relationship.name)\" live \(relationship.placeText), and have the rules of the "
        + "model: leave out \"rules\"")
  }
}

// MARK: - In their places

extension EdgeWriting {
  private mutating func add(
    _ relationship: Relationship, _ from: Node, _ to: Destination
  ) throws {
    switch relationship.edgeStorage {
    case .join:
      guard let node = to.node, try !refers(relationship, from, to) else { return }
      try insertJoinRow(relationship, from, node)
    case .column, .polymorphic, .property:
      try references(relationship, from).adding(to).map { try patch(from, set: $0) }
    case .stored: preconditionFailure("\(relationship.name) is placed")
    }
  }

  private mutating func remove(
    _ relationship: Relationship, _ from: Node, _ to: Destination, as removal: Removal
  ) throws -> Bool {
    switch relationship.edgeStorage {
    case .join:
      guard let node = to.node, try refers(relationship, from, to) else { return false }
      try deleteJoinRows(relationship, from, node, as: removal)
      return true
    case .column, .polymorphic, .property:
      if try !exists(from) { return false }
      guard let set = try references(relationship, from).removing(to) else { return false }
      try patch(relationship, from, set, removing: to, as: removal)
      return true
    case .stored: preconditionFailure("\(relationship.name) is placed")
    }
  }

  private mutating func replace(
    _ relationship: Relationship, _ from: Node, _ ends: [Destination]
  ) throws {
    guard case .join = relationship.edgeStorage else {
      try references(relationship, from).replacing(by: ends).map { try patch(from, set: $0) }
      return
    }
    let there = try joined(relationship, from)
    for node in there where !ends.contains(.node(node)) {
      try deleteJoinRows(relationship, from, node, as: .sourceDeleted)
    }
    for case .node(let node) in ends where !there.contains(node) {
      try insertJoinRow(relationship, from, node)
    }
  }

  private func references(
    _ relationship: Relationship, _ from: Node
  ) throws -> References<Self> {
    if try exists(from) { return References(self, relationship, from) }
    throw rejection(
      from,
      "\"\(relationship.name)\" lives \(relationship.placeText) of it, and it is not there: put it "
        + "before")
  }

  private mutating func patch(
    _ relationship: Relationship, _ from: Node, _ set: [Member], removing end: Destination,
    as removal: Removal
  ) throws {
    switch removal {
    case .sourceDeleted: try patch(from, set: set)
    case .edgeDeleted: try patch(from, set: set, removingAlone: relationship, end)
    case .destinationDeleted:
      throw rejection(
        from,
        "\"\(relationship.name)\" lives \(relationship.placeText) of it, so no edge is removed as "
          + "\"\(removal.rawValue)\"")
    }
  }
}

extension [Destination] {
  fileprivate var withoutRepetition: [Destination] {
    var seen: Set<Destination> = []
    return filter { seen.insert($0).inserted }
  }
}
