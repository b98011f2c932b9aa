internal import CascadeModel
internal import CascadePostgres

/// Whether an object is of one of these types.
package func isOne(of types: [String], _ row: String) -> String {
  types.isEmpty ? "false" : "\(row).type IN (\(types.map(literal).joined(separator: ", ")))"
}

extension StoreModel {
  /// The types of objects that a relationship's name for a collection stands for; nil: all.
  package func objectTypes(called name: String) -> [String]? {
    typeNames[name] == nil ? nil : types(called: name)
  }
}
