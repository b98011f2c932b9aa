internal import CascadeModel
internal import CascadePostgres
internal import PostgresBinding

/// What of a model does not fit the tables, and has to be stopped.
extension Binder {
  /// A relationship between two collections, which may be stopped.
  struct Stoppable {
    /// Of its relation; nil if it never did fit.
    let number: Int64?
    let name: String
    let source: String
    let destination: String
    let rules: Rules
  }

  /// Runs `body`, and stops what it has bound if it has found a problem, or if one of the collections has
  /// one. What could not be bound is described by `asFor`.
  mutating func stopping(
    _ collections: [String], _ body: (inout Binder) throws -> Void,
    asFor described: (borrowing Binder) throws -> [Stoppable]
  ) throws {
    let (problems, relations) = (binding.problems.count, binding.relations.count)
    try body(&self)
    let ofTables = collections.compactMap { binding.stopped.reasons[$0] }.first
    guard let why = binding.problems.dropFirst(problems).first?.message ?? ofTables else { return }
    let bound = takeRelations(after: relations)
    try forgetNew(bound.map(\.number))
    for relation in bound where isKnown(relation.number) {
      stop(
        Stoppable(
          number: relation.number, name: relation.name, source: relation.source.collection,
          destination: relation.destination.collection, rules: relation.rules),
        relation, why)
    }
    let numbers = bound.map(\.number)
    for one in try described(self) {
      if let number = one.number, numbers.contains(number) { continue }
      stop(one, nil, why)
    }
  }

  /// The same for files below a root.
  mutating func stoppingFiles(
    _ root: String, of collection: String, _ body: (inout Binder) throws -> Void
  ) throws {
    let (problems, files) = (binding.problems.count, binding.files.count)
    try body(&self)
    if binding.problems.count == problems && binding.stopped.reasons[collection] == nil { return }
    let bound = takeFiles(after: files)
    try forgetNew(bound.map(\.number))
    for files in bound where isKnown(files.number) { binding.stopped.files.append(files) }
    binding.stopped.roots.insert(root)
  }

  /// A relation gets its number when it fits for the first time.
  private func forgetNew(_ given: [Int64]) throws {
    let known = knownRelations
    let new = given.map { "\($0)" }.filter { !known.contains($0) }
    if new.isEmpty || !numbers { return }
    try store.db.run(
      "DELETE FROM cascade.relation WHERE number = ANY($1::int[])", [arrayText(new)])
  }

  /// The number of the relation to one destination of a relationship; nil if it has none.
  func number(
    of relationship: Relationship, _ type: String?, _ source: String, _ destination: String
  ) throws -> Int64? {
    let names = [relationship.name, source, destination]
    let part = relationship.part(type, source)
    if relationship.edgeStorage != .stored {
      return try store.number(relation: names + [part], makes: false)
    }
    return try store.remembered(
      """
      SELECT number FROM cascade.relation WHERE (name, source, destination) = ($1, $2, $3)
      AND part LIKE 'stored: %; rules ' || $4
      """, names + ["\(relationship.rules.rawValue)"]
    ).first?[0].flatMap { Int64($0) }
  }

  private func isKnown(_ relation: Int64) -> Bool { knownRelations.contains("\(relation)") }

  private mutating func takeRelations(after count: Int) -> [EdgeRelation] {
    defer { binding.relations.removeSubrange(count...) }
    return Array(binding.relations[count...])
  }

  private mutating func takeFiles(after count: Int) -> [FileRelation] {
    defer { binding.files.removeSubrange(count...) }
    return Array(binding.files[count...])
  }

  private mutating func stop(_ one: Stoppable, _ relation: EdgeRelation?, _ why: String) {
    binding.stopped.relationships.append(
      StoppedRelationship(
        number: one.number, name: one.name, source: one.source, destination: one.destination,
        rules: one.rules, why: why, relation: relation))
  }
}
