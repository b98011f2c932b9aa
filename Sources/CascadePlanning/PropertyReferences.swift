package import CascadeModel

/// The relationships whose edges managed objects hold in their values.
package struct PropertyReferences {
  private let places: [String: [PropertyReference]]
  private let model: StoreModel

  package init(_ model: StoreModel) {
    self.model = model
    let all = model.relationships.compactMap { PropertyReference($0, in: model) }
    places = Dictionary(grouping: all) { model.collection(of: $0.from) }
  }

  package var collections: [String] { places.keys.sorted() }

  /// Whether objects of any type in the collection may hold edges.
  package func hasReferences(_ collection: String) -> Bool { places[collection] != nil }

  /// The places that an object of this type has. Of two that name the same edge, the last gives its
  /// rules.
  package func of(_ collection: String, type: String?) -> [PropertyReference] {
    guard let places = places[collection] else { return [] }
    let names = model.names(of: collection, type: type)
    return places.filter { names.contains($0.from) }
  }

  /// A fingerprint of everything that decides which edges the values give; 0 where they give none.
  package var fingerprint: Int64 {
    if places.isEmpty { return 0 }
    let description = collections.map { collection -> JSON in
      [
        .string(collection), .array(typeNames(in: collection)),
        .array(places[collection, default: []].map { $0.description(in: model) }),
      ]
    }
    return Fingerprint(JSON.array(description).text).signed
  }

  private func typeNames(in collection: String) -> [JSON] {
    guard case .managed(let types) = model.collections[collection] else { return [] }
    return types.sorted { $0.key < $1.key }.map { [.string($0.key), .string($0.value)] }
  }
}
