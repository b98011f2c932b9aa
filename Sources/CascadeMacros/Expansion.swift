/// What `@Model` makes of a structure: the requirements of the protocol, as one would write them by
/// hand.
struct Expansion {
  private let type: Declaration
  /// How code outside of the types around it names the structure.
  private let name: String
  private let arguments: String
  private let stored: [Property]

  init(_ type: Declaration, attribute: String, name: String? = nil) throws(Problem) {
    self.type = type
    self.name = name ?? type.name
    arguments = Expansion.arguments(of: attribute)
    stored = type.properties.filter {
      !$0.isStatic && !$0.isComputed && $0.attributes["Unstored"] == nil
    }
    try checkIdentity()
    try checkConstants()
    try checkUnstored()
  }

  /// What is between the outer parentheses. The comments before the attribute come with it.
  private static func arguments(of attribute: String) -> String {
    let tokens = Tokenizer.tokens(of: attribute)
    guard let start = tokens.first(where: { $0.text == "(" })?.offset,
      let end = tokens.last(where: { $0.text == ")" })?.offset
    else { return "" }
    return String(decoding: Array(attribute.utf8)[(start + 1)..<end], as: UTF8.self)
  }

  private func checkIdentity() throws(Problem) {
    guard let id = stored.first(where: { $0.name == "id" }) else {
      throw Problem(message: "a model needs `let id: ID<\(type.name)>`", offset: 0)
    }
    if !id.isLet {
      throw Problem(
        message: "`id` is the identity of the row: declare it with `let`", offset: id.offset)
    }
  }

  private func checkConstants() throws(Problem) {
    for property in stored where property.isLet && property.initializer != nil {
      throw Problem(
        message: "`\(property.name)` would never be read: declare it with `var` or `static`",
        offset: property.offset)
    }
  }

  private func checkUnstored() throws(Problem) {
    for property in type.properties
    where property.attributes["Unstored"] != nil && property.initializer == nil
      && !property.type.hasSuffix("?") && !property.isComputed
    {
      throw Problem(
        message: "`\(property.name)` is not read from the store: give it a value",
        offset: property.offset)
    }
  }

  // MARK: -

  func text() -> String {
    """
    extension \(name): CascadeKit.Identified {}
    extension \(name): CascadeKit.Model {
      \(type.access)static let collection = CascadeKit.Collection(\(arguments))
      \(type.access)static let columns = CascadeKit.Columns<\(name)>([
    \(lines { "    .init(\"\($1.name)\", \\\(name).\($1.name)\(column($1)))," })
      ])
      \(type.access)static var relationships: [any CascadeKit.Declared] { \(declared) }
      \(type.access)init(row: borrowing CascadeKit.Row) throws(CascadeKit.ReadError) {
    \(lines { "    self.\($1.name) = try row.value(\($0))" })
      }
      \(type.access)func write(to row: inout CascadeKit.RowValues) {
    \(lines { "    row.set(\($0), self.\($1.name))" })
      }
    }
    """
  }

  private func lines(_ line: (Int, Property) -> String) -> String {
    stored.enumerated().map(line).joined(separator: "\n")
  }

  private func column(_ property: Property) -> String {
    guard let arguments = property.attributes["Column"] else { return "" }
    return ", column: \(arguments.dropFirst().dropLast())"
  }

  // MARK: - Relationships

  /// The list of those that are written so that their type is plain, and what the compiler finds among
  /// the other static properties.
  private var declared: String {
    let statics = type.properties.filter(\.isStatic)
    let plain = statics.filter(\.isDeclaration).map { "\(name).\($0.name)" }
    let others = statics.filter { !$0.isDeclaration && mayBeDeclaration($0) }
      .map { " + CascadeKit.Declarations.of(\(name).\($0.name))" }
    return "[\(plain.joined(separator: ", "))]" + others.joined()
  }

  /// What belongs to an actor, or has to be awaited, cannot be looked at.
  private func mayBeDeclaration(_ property: Property) -> Bool {
    !property.hasEffects && !property.isLiteral
      && !property.attributes.keys.contains { $0.hasSuffix("Actor") }
      && !type.attributes.contains { $0.hasSuffix("Actor") }
  }
}

extension Property {
  private static let declarations = [
    "Relationship", "RelationshipFrom", "FileReference", "Fetched", "FetchedFrom",
  ]

  /// Whether its type, or what makes its value, is one of these by its name.
  fileprivate var isDeclaration: Bool {
    let text = type.isEmpty ? initializer ?? "" : type
    if text.hasSuffix(".inverse") || text.hasSuffix("?") { return false }
    let called = text.prefix { $0 != "<" && $0 != "(" }
    let name = called.split(separator: ".").last ?? ""
    return Property.declarations.contains { $0 == name } && called.count < text.count
  }

  fileprivate var isLiteral: Bool {
    guard let first = initializer?.first else { return false }
    return first == "\"" || first == "-" || first.isNumber || first == "["
      || ["true", "false", "nil"].contains(initializer)
  }
}
