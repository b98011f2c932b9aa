/// Why something could not be read.
public enum ReadError: Error, Hashable, Sendable, CustomStringConvertible {
  /// SQLite failed: its extended error code, its message, and what was to be done.
  case sqlite(code: Int32, message: String, during: String)
  /// A stored value is not of the type of its property.
  case unexpected(SQLValue, wanted: String)
  /// The same, with the property that was read.
  case unexpectedProperty(String, SQLValue, wanted: String)
  /// A reference leads to nothing: the node that has it, and the name of the relationship.
  case dangling(node: String, relationship: String)
  /// An object has a type that no case of the ``Union`` has, and that is not registered.
  case unknownType(String?, collection: String)
  /// The question cannot be asked of this model.
  case impossible(String)

  /// The reason in words.
  public var description: String {
    switch self {
    case .sqlite(let code, let message, let during): "\(during): \(message) (SQLite \(code))"
    case .unexpected(let value, let wanted): "expected \(wanted), found \(value.kind)"
    case .unexpectedProperty(let name, let value, let wanted):
      "\(name): expected \(wanted), found \(value.kind)"
    case .dangling(let node, let relationship):
      "\(node) refers to nothing by \"\(relationship)\""
    case .unknownType(let type, let collection):
      "an object of \"\(collection)\" has \(type.map { "the unknown type \"\($0)\"" } ?? "no type")"
    case .impossible(let reason): reason
    }
  }

  /// Adds the name of the property, if the error is about a value.
  @usableFromInline
  func reading(_ property: @autoclosure () -> String) -> ReadError {
    guard case .unexpected(let value, let wanted) = self else { return self }
    return .unexpectedProperty(property(), value, wanted: wanted)
  }
}
