package import CascadeModel
package import CascadeStore

/// A constraint of the model, and the stored nodes that it is about.
package struct Demand: Sendable {
  package let collection: String
  /// Only the objects of this type; nil: the whole collection.
  package let type: String?
  package let constraint: Constraint
  /// The stored collections of `constraint.others`. The files of each root count as a collection.
  package let others: [Other]

  package struct Other: Sendable {
    package let collection: String
    package var type: String?

    package init(collection: String, type: String? = nil) {
      self.collection = collection
      self.type = type
    }
  }

  package static func all(in model: StoreModel) -> [Demand] {
    let relationships = model.relationships
    let ends = relationships.flatMap { [$0.from] + $0.to.collections }
    let collections = Set(ends.map { model.collection(of: $0) }).sorted()
    return collections.flatMap { collection in
      let general = model.constraints(from: collection)
      return general.map { Demand($0, collection, nil, model) }
        + model.types(in: collection).flatMap { type in
          model.constraints(from: collection, type: type)
            .filter { !general.contains($0) }.map { Demand($0, collection, type, model) }
        }
    }
  }

  private init(
    _ constraint: Constraint, _ collection: String, _ type: String?, _ model: StoreModel
  ) {
    self.constraint = constraint
    self.collection = collection
    self.type = type
    let files = model.files.keys.sorted().map { Other(collection: Destination.fileCollection + $0) }
    others = constraint.others.isEmpty ? files : constraint.others.map(model.other)
  }

  package var dependsOnTypes: Bool { type != nil || others.contains { $0.type != nil } }
}

extension Demand {
  /// That a node, which the message calls `title`, violates the constraint with so many nodes at the
  /// other end. If it is about uniqueness, the node is the one that several have.
  package func violation(
    by node: Node?, _ title: String, count: Int, isUnique: Bool
  ) -> Reason {
    let name = constraint.name
    if isUnique {
      return Reason(
        .notUnique,
        "\(count) of \"\(collection)\" have \(title) as their \"\(name)\", which is unique",
        node: node)
    }
    switch constraint.violation(count: count) {
    case .tooFew:
      return Reason(
        .tooFew, "\(title) has \(count) \"\(name)\", at least \(constraint.min) are required",
        node: node)
    case .tooMany:
      return Reason(
        .tooMany, "\(title) has \(count) \"\(name)\", at most \(constraint.max ?? 0) are allowed",
        node: node)
    case .missingMandatory, .notUnique, .denied, nil:
      return Reason(
        .missingMandatory, "\(title) has no \"\(name)\", which is not optional", node: node)
    }
  }
}

extension StoreModel {
  fileprivate func other(_ name: String) -> Demand.Other {
    let collection = collection(of: name)
    guard case .managed(let types) = collections[collection] else {
      return Demand.Other(collection: collection)
    }
    return Demand.Other(
      collection: collection, type: types.first { $0.value == name && name != collection }?.key)
  }

  fileprivate func types(in collection: String) -> [String] {
    guard case .managed(let types) = collections[collection] else { return [] }
    return types.keys.sorted()
  }
}
