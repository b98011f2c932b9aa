/// What a key that Cascade has stored is worth once the columns of the key have another type.
extension NodeTable {
  /// The key as a row would have it now.
  package func converted(_ value: String) -> String {
    if !isComposite { return asKey(value) }
    let parts = zip(keyParts(value), columnsOfKey).map {
      CompositeKeyPart.written("(\(asKey($0, as: $1)))")
    }
    return "json_array(\(parts.joined(separator: ", ")))"
  }

  /// Whether a row may have exactly this key. A column for integers may keep a text, but an application
  /// that gave it this type does not mean that.
  package func mayBeKey(_ value: String) -> String {
    let isConverted = "\(converted(value)) IS +\(value)"
    guard !isComposite, columnsOfKey[0].affinity == .integer else { return isConverted }
    return "(\(isConverted) AND typeof(\(value)) = 'integer')"
  }
}
