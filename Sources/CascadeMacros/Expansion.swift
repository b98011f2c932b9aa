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

  /// What is between the outer parentheses.
  private static func arguments(of attribute: String) -> String {
    guard let start = attribute.firstIndex(of: "("), let end = attribute.lastIndex(of: ")") else {
      return ""
    }
    return String(attribute[attribute.index(after: start)..<end])
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
      \(type.access)static var relationships: [any CascadeKit.Declared] { [\(declared)] }
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

  private static let declarations = ["Relationship<", "FileReference", "Fetched<"]

  private var declared: String {
    let properties = type.properties.filter { property in
      let text = property.type.isEmpty ? property.initializer ?? "" : property.type
      return property.isStatic && !property.isComputed
        && Expansion.declarations.contains { text.hasPrefix($0) && !text.hasSuffix(".inverse") }
    }
    return properties.map { "\(name).\($0.name)" }.joined(separator: ", ")
  }
}
