package import CascadeModel

extension StoreModel {
  /// Why no change may name this collection; nil if one may.
  package func problem(ofChanged name: String) -> String? {
    if let whole = typeNames[name] {
      return "\"\(name)\" is a type of \"\(whole)\": name that collection, and the type in `put`"
    }
    if allows(collection: name) { return nil }
    let hint = nearest(name, in: collections.keys.sorted()).map { ", did you mean \"\($0)\"?" }
    return "the model has no collection \"\(name)\" and is strict\(hint ?? "")"
  }
}
