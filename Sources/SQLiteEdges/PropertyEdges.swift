package import CascadeModel
internal import CascadeSQLite
internal import CascadeStore
package import CascadeEngine
internal import SQLiteBinding
package import SQLiteTables

/// Edges that the value of a managed object holds. Only Cascade writes such values, so
/// their edges are stored with the others, and follow the value.
extension Writer {
  /// A put describes the whole object: its property edges become those of the value.
  package func updatePropertyEdges(
    _ node: Node, _ id: Int64, type: String?, value: JSONText?, isNew: Bool
  ) throws {
    if !facts.references.hasReferences(node.collection) { return }
    if !isNew { try deleteDanglingReferences(of: id) }
    let old = isNew ? [:] : try propertyEdges(of: id)
    try updatePropertyEdges(
      node, id, facts.references.of(node.collection, type: type), in: value?.members() ?? [],
      insteadOf: old)
  }

  /// A patch affects only the members that it names. References in other members are not resolved
  /// again: one that was left dangling has no edge, and must not get one, which would lose its end
  /// and run its rules a second time.
  package func updatePropertyEdges(
    _ node: Node, _ id: Int64, patched members: [Member], _ names: [String],
    as removal: Removal = .sourceDeleted
  ) throws {
    if !facts.references.hasReferences(node.collection) { return }
    let type = try db.first("SELECT type FROM cascade_node WHERE id = ?", .integer(id)) {
      $0.optionalText(0)
    }
    let places = facts.references.of(node.collection, type: type ?? nil)
    if !places.contains(where: { $0.isDecided(by: names) }) { return }
    try resolveReferences(of: id)
    try updatePropertyEdges(
      node, id, places, in: members, patched: names, wasLoose: deleteDanglingReferences(of: id),
      insteadOf: propertyEdges(of: id), as: removal)
  }

  private func updatePropertyEdges(
    _ node: Node, _ id: Int64, _ places: [PropertyReference], in members: [Member],
    patched names: [String]? = nil, wasLoose: Bool = false, insteadOf old: [EdgeKey: Rules],
    as removal: Removal = .sourceDeleted
  ) throws {
    var dropped = old
    for place in places {
      if names.map(place.isDecided) ?? true {
        let destinations = try place.destinations(in: members) { misfit in
          throw Rejection(.invalid, "\(node): \(misfit.message)", node: node)
        }
        for destination in destinations {
          let edge = try edge(of: place, from: id, to: endId(destination))
          if dropped.removeValue(forKey: edge) != place.rules { try add(edge, rules: place.rules) }
        }
      } else {
        if !dropped.isEmpty {
          for edge in try edges(of: place, from: id, in: members) { dropped[edge] = nil }
        }
        if wasLoose { try storeDanglingReferences(place, of: id, in: members, but: old) }
      }
    }
    for edge in dropped.keys { _ = try remove(edge, as: removal) }
  }

  /// The edges of the references that the value of an object has now, as far as what they name has
  /// an identity.
  package func edgesOfValue(of id: Int64) throws -> Set<EdgeKey> {
    guard let object = try object(id) else { return [] }
    let places = facts.references.of(object.collection, type: object.type)
    return try Set(places.flatMap { try edges(of: $0, from: id, in: object.members ?? []) })
  }

  private func edges(
    of place: PropertyReference, from id: Int64, in members: [Member]
  ) throws -> [EdgeKey] {
    try place.destinations(in: members).compactMap { destination in
      try existingId(destination).map { try edge(of: place, from: id, to: $0) }
    }
  }

  package func edge(of place: PropertyReference, from source: Int64, to destination: Int64) throws
    -> EdgeKey
  {
    let name = try nameId(place.name)
    return EdgeKey(source: source, name: name, destination: destination, origin: place.origin)
  }

  func propertyEdges(of id: Int64) throws -> [EdgeKey: Rules] {
    try edges(of: id, from: .firstOfValues, to: .polymorphic)
  }
}
