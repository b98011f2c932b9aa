/// What the store asks its model.
extension StoreModel {
  /// The declared rules of edges with this name between these ends; nil when the model declares
  /// no such relationship.
  package func rules(for name: String, from: String, to destination: Destination) -> Rules? {
    let declared = relationships(named: name, from: from).filter { leads($0, to: destination) }
    // A name may have edges in several places; rules are asked for where edges are stored.
    return (declared.first { $0.place == .stored } ?? declared.first)?.rules
  }

  package func relationship(named name: String, from: String) -> Relationship? {
    relationships(named: name, from: from).first
  }

  /// Of this very collection or type; failing that, of any type within the collection, because
  /// not every question knows its node's type.
  package func relationships(named name: String, from: String) -> [Relationship] {
    let named = relationships.filter { $0.name == name }
    let exact = named.filter { $0.from == from }
    return exact.isEmpty ? named.filter { collection(of: $0.from) == from } : exact
  }

  private func leads(_ relationship: Relationship, to destination: Destination) -> Bool {
    switch destination {
    case .node(let node):
      relationship.to.collections.contains {
        $0 == node.collection || collection(of: $0) == node.collection
      }
    case .file(let root, _): relationship.to == .files(root: root)
    }
  }

  /// Whether a change may name this collection: unless the model is strict, naming it creates it.
  package func allows(collection: String) -> Bool { !strict || collections[collection] != nil }

  /// The names that relationships may know a node by.
  package func names(of collection: String, type: String?) -> Set<String> {
    guard let type, case .managed(let types) = collections[collection], let name = types[type]
    else { return [collection] }
    return [collection, name]
  }

  /// The names of types, and the collections they are in.
  package var typeNames: [String: String] {
    var names: [String: String] = [:]
    for case (let collection, .managed(let types)) in collections {
      for name in types.values { names[name] = collection }
    }
    return names
  }

  /// The collection that a name in a relationship stands for.
  package func collection(of name: String) -> String { typeNames[name] ?? name }

  /// With `sweeps`, only the kinds it names run by themselves (DESIGN 8.2).
  package func schedule(of kind: SweepKind) -> Schedule {
    if let sweeps { return sweeps[kind] ?? .never }
    switch kind {
    case .cascade, .refcount: return .immediate
    case .dangling, .unreachable, .files, .trash: return .daily
    case .all: return .never
    }
  }
}
