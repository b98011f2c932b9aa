package import CascadeModel
package import CascadeStore

/// What a fetched property searches for.
package struct FetchedSearch {
  package let name: String
  /// The collection of the node that has the property.
  package let collection: String
  package let property: FetchedProperty
  package let timeLimit: Duration
  package let model: StoreModel

  package init(
    _ name: String, of collection: String, in model: StoreModel, timeLimit: Duration
  ) throws(FetchError) {
    let known = model.fetched[collection] ?? [:]
    guard let property = known[name] else {
      let problem = unknown("fetched property", name, among: known.keys.sorted())
      throw .noSuchProperty("\(collection): \(problem)")
    }
    (self.name, self.collection, self.property) = (name, collection, property)
    (self.timeLimit, self.model) = (timeLimit, model)
  }

  /// For messages.
  package var title: String { "fetched property \"\(name)\" of \(collection)" }

  /// The collection that is searched. The model may have named a type within it.
  package var searched: String { model.collection(of: property.from) }

  /// The type that is searched; nil: all of the collection.
  package var type: String? {
    guard case .managed(let types) = model.collections[searched] else { return nil }
    return types.first { $0.value == property.from }?.key
  }

  // MARK: - What goes wrong

  package func askingFor(_ column: String, among columns: [String]) -> FetchError {
    .unusable("\(title) asks for $source.\(column): \(unknown("column", column, among: columns))")
  }

  package func tooLong(in place: String = "") -> FetchError {
    .unavailable("\(title) took longer than \(timeLimit)\(place)")
  }

  package func wrong(_ message: String, in place: String = "") -> FetchError {
    .unusable("\(title) cannot be evaluated\(place): \(message)")
  }

  package var findsTooMuch: FetchError {
    .unusable("\(title) finds too much to keep in memory: give it a \"limit\"")
  }
}
