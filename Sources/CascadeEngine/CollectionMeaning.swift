package import CascadeModel

/// What a collection stands for, as a store records it.

extension StoreModel.Collection {
  /// The value of `cascade_collection.place`; nil for objects.
  package var recordedMeaning: String? {
    guard case .mapped(let table, let key, _) = self else { return nil }
    return JSON.array(([table] + key).map { .string($0.folded) }).text
  }
}
