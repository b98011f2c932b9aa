/// What the rest of the program asks of a model.
extension StoreModel {
  /// The declared rules of edges with this name between these ends; nil when the model declares no
  /// such relationship. It is called for each edge of a change file, so it allocates nothing.
  package func rules(for name: String, from: String, to destination: Destination) -> Rules? {
    var best: (rank: Int, rules: Rules)?
    for relationship in relationships
    where relationship.name == name && refersTo(relationship.from, for: from)
      && leads(relationship, to: destination)
    {
      let rank = rank(relationship, from: from)
      if best.map({ rank > $0.rank }) ?? true { best = (rank, relationship.rules) }
    }
    return best?.rules
  }

  /// Which of several relationships is preferred. One of the collection comes before one of a type
  /// in it. A relationship with stored edges comes before others, because this is asked for stored
  /// edges.
  private func rank(_ relationship: Relationship, from: String) -> Int {
    (relationship.from == from ? 2 : 0) + (relationship.edgeStorage == .stored ? 1 : 0)
  }

  package func relationship(named name: String, from: String) -> Relationship? {
    relationships(named: name, from: from).first
  }

  /// The relationships of exactly this collection or type. If there are none, those of any type
  /// within the collection, because a caller may not know its node's type.
  package func relationships(named name: String, from: String) -> [Relationship] {
    let named = relationships.filter { $0.name == name }
    let exact = named.filter { $0.from == from }
    return exact.isEmpty ? named.filter { refersTo($0.from, for: from) } : exact
  }

  /// Whether an edge of the relationship may lead there.
  package func leads(_ relationship: Relationship, to destination: Destination) -> Bool {
    switch (relationship.to, destination) {
    case (.collection(let name), .node(let node)): refersTo(name, for: node.collection)
    case (.types(let map), .node(let node)):
      map.values.contains { refersTo($0, for: node.collection) }
    case (.either(let names), .node(let node)):
      names.contains { refersTo($0, for: node.collection) }
    case (.files(let root), .file(let its, _)): root == its
    case (.files, .node), (.collection, .file), (.types, .file), (.either, .file): false
    }
  }

  /// Whether a name in a relationship means this collection or a type within it.
  private func refersTo(_ name: String, for collection: String) -> Bool {
    name == collection || typeNames[name] == collection
  }

  /// Whether a change may name this collection. Naming one that is not there creates it. A model that lists
  /// one without a table, and does not say whether it is strict, is meant to list all: a misspelt name would
  /// create another.
  package func allows(collection: String) -> Bool {
    if collections[collection] != nil { return true }
    guard let strict else { return !listsManaged || namedBesides.contains(collection) }
    return !strict
  }

  private var listsManaged: Bool { collections.keys.contains(where: isManaged) }

  /// Collections that relationships, roots and fetched properties name.
  private var namedBesides: [String] {
    roots + relationships.flatMap { [$0.from] + $0.to.collections }
      + fetched.values.flatMap { $0.values.filter { $0.store == nil }.map(\.from) }
  }

  package var collectionNames: [String] { Set(collections.keys).union(namedBesides).sorted() }

  /// Whether several relationships have the same name and source, with edges in several places.
  package var hasRelationshipsOfSameName: Bool {
    Set(relationships.map { [$0.name, $0.from] }).count < relationships.count
  }

  /// Whether only tables of the application hold the edges of this collection, and all of them lead
  /// to nodes. Then no edge is taken for something else while the collection cannot be read.
  package func isRelatedByTablesOnly(_ collection: String) -> Bool {
    relationships.allSatisfy { relationship in
      let from = self.collection(of: relationship.from)
      let ends = [from] + relationship.to.collections.map(self.collection(of:))
      if !ends.contains(collection) { return true }
      if case .files = relationship.to { return false }
      guard case .mapped = collections[from] else { return false }
      return relationship.edgeStorage != .stored
    }
  }

  /// Whether some collection is a table of the application.
  package var hasTables: Bool {
    collections.values.contains { if case .mapped = $0 { true } else { false } }
  }

  /// The names by which relationships may refer to a node.
  package func names(of collection: String, type: String?) -> Set<String> {
    guard let type, case .managed(let types) = collections[collection], let name = types[type]
    else { return [collection] }
    return [collection, name]
  }

  /// The collection that a name in a relationship stands for.
  package func collection(of name: String) -> String { typeNames[name] ?? name }

  /// Whether a collection or type holds objects in Cascade's own table.
  package func isManaged(_ name: String) -> Bool {
    if case .mapped = collections[collection(of: name)] { false } else { true }
  }

  /// Why no node in the collection can have this key; nil if a node can.
  package func keyProblem(_ node: Node) -> String? {
    guard case .mapped(_, let columns, _) = collections[node.collection] else {
      if node.key.managedText != nil { return nil }
      return "the key of a managed node must be text, but \(node) has a composite key"
    }
    var parts = 1
    if case .composite(let keys) = node.key { parts = columns.count > 1 ? keys.count : 0 }
    if parts == columns.count { return nil }
    return "the key of \"\(node.collection)\" is (\(columns.joined(separator: ", "))), which "
      + "\(node) does not fit"
  }

  /// Whether a relationship can lead to the collection. A table to which none leads is not meant
  /// by the unreachable sweep: nothing could ever reach its rows.
  package func isReachableByModel(_ name: String) -> Bool {
    relationships.contains { relationship in
      relationship.to.collections.contains { collection(of: $0) == name }
        || collection(of: relationship.from) == name
          && !relationship.rules.isDisjoint(with: .ofLostDestination)
    }
  }

  /// Whether rows of a collection are kept that applications delete.
  package func keepsDeleted(_ collection: String) -> Bool {
    guard case .mapped = collections[collection], trash > .zero else { return false }
    return keptDeleted[collection] ?? keepsAllDeleted
  }

  package var keepsAnyDeleted: Bool { collections.keys.contains(where: keepsDeleted) }

  /// What lets rows of a collection go by their age, or some time after they were marked.
  package var ages: [(collection: String, expiry: Expiry)] {
    let all =
      expiries.map { (collection: $0.key, expiry: $0.value) }
      + softDeletions.compactMap { mark in
        mark.value.expiry.map { (collection: mark.key, expiry: $0) }
      }
    return all.sorted {
      ($0.collection, $0.expiry.isOfMarks ? 1 : 0) < ($1.collection, $1.expiry.isOfMarks ? 1 : 0)
    }
  }

  /// The schedule of a kind. If the model has `sweeps`, only the kinds named there run
  /// automatically, and what the age of rows demands.
  package func schedule(of kind: SweepKind) -> Schedule {
    if let schedule = sweeps?[kind] { return schedule }
    if kind == .expired { return ages.isEmpty ? .never : .hourly }
    if sweeps != nil { return .never }
    switch kind {
    case .cascade, .refcount: return .immediate
    case .dangling, .unreachable, .files, .trash: return .daily
    case .all, .unreferenced, .expired: return .never
    }
  }

  /// The schedule of a kind, as the model writes it.
  package func scheduleText(of kind: SweepKind) -> String {
    if let text = sweepTexts[kind] { return text }
    switch schedule(of: kind) {
    case .immediate: return "immediate"
    case .hourly: return "@hourly"
    case .cron: return "@daily"
    case .every, .never: return "never"
    }
  }
}
