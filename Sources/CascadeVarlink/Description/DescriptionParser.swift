/// Reads the part of the interface description language on which all known implementations agree.
/// It accepts no `[][]T`, no `[]?T`, no `[string][]T`, no empty types and no unknown or repeated
/// names.
struct DescriptionParser {
  private var scanner: DescriptionScanner
  private var result: Description
  private var mentioned: [(name: String, line: Int)] = []

  static func parse(_ text: String) throws(DescriptionError) -> Description {
    var parser = DescriptionParser(
      scanner: try DescriptionScanner(text), result: Description(text: text))
    return try parser.parse()
  }

  private mutating func parse() throws(DescriptionError) -> Description {
    try scanner.expect("interface")
    result.name = try name("an interface name", Self.isInterfaceName)
    while !scanner.token.isEmpty { try member() }
    for (name, line) in mentioned where result.types[name] == nil {
      throw DescriptionError(line: line, reason: "no type '\(name)'")
    }
    return result
  }

  private mutating func member() throws(DescriptionError) {
    switch try scanner.take() {
    case "type":
      let name = try newName()
      result.types[name] = try parenthesized(allowEmpty: false)
    case "method":
      let name = try newName()
      let parameters = try fields()
      try scanner.expect("->")
      result.methods[name] = Description.Method(parameters: parameters, reply: try fields())
    case "error":
      let name = try newName()
      result.errors[name] = try fields()
    case let other: throw scanner.failure("expected type, method or error, found '\(other)'")
    }
  }

  private mutating func newName() throws(DescriptionError) -> String {
    let name = try name("a name that begins with a capital", Self.isMemberName)
    if result.types[name] != nil || result.methods[name] != nil || result.errors[name] != nil {
      throw scanner.failure("'\(name)' is declared twice")
    }
    return name
  }

  private mutating func fields() throws(DescriptionError) -> [Description.Field] {
    guard case .structure(let fields) = try parenthesized(allowEmpty: true) else {
      throw scanner.failure("expected fields, found names only")
    }
    return fields
  }

  /// `(name: type, …)` or `(name, …)`. The token after the first name shows which of the two it is.
  private mutating func parenthesized(
    allowEmpty: Bool
  ) throws(DescriptionError) -> Description.Shape {
    try scanner.expect("(")
    if scanner.token == ")", allowEmpty {
      try scanner.expect(")")
      return .structure([])
    }
    let first = try fieldName()
    return scanner.token == ":" ? try structure(first) : try choice(first)
  }

  private mutating func structure(
    _ first: String
  ) throws(DescriptionError) -> Description.Shape {
    try scanner.expect(":")
    var fields = [Description.Field(name: first, shape: try shape())]
    while try scanner.takeIf(",") {
      let name = try fieldName()
      if fields.contains(where: { $0.name == name }) {
        throw scanner.failure("'\(name)' is declared twice")
      }
      try scanner.expect(":")
      fields.append(Description.Field(name: name, shape: try shape()))
    }
    try scanner.expect(")")
    return .structure(fields)
  }

  private mutating func choice(_ first: String) throws(DescriptionError) -> Description.Shape {
    var names = [first]
    while try scanner.takeIf(",") {
      let name = try fieldName()
      if names.contains(name) { throw scanner.failure("'\(name)' is declared twice") }
      names.append(name)
    }
    try scanner.expect(")")
    return .choice(names)
  }

  private mutating func shape() throws(DescriptionError) -> Description.Shape {
    if try scanner.takeIf("?") { return .optional(try container()) }
    return try container()
  }

  private mutating func container() throws(DescriptionError) -> Description.Shape {
    guard try scanner.takeIf("[") else { return try element() }
    let isMap = try scanner.takeIf("string")
    try scanner.expect("]")
    return isMap ? .map(try element()) : .list(try element())
  }

  private mutating func element() throws(DescriptionError) -> Description.Shape {
    if scanner.token == "(" { return try parenthesized(allowEmpty: false) }
    switch scanner.token {
    case "bool", "int", "float", "string", "object", "any":
      return Self.simple[try scanner.take()]!
    default:
      let line = scanner.line
      let name = try name("a type", Self.isMemberName)
      mentioned.append((name, line))
      return .named(name)
    }
  }

  private static let simple: [String: Description.Shape] = [
    "bool": .bool, "int": .int, "float": .float, "string": .string, "object": .object, "any": .any,
  ]

  // MARK: - Names

  private mutating func fieldName() throws(DescriptionError) -> String {
    try name("a field name", Self.isFieldName)
  }

  private mutating func name(
    _ what: String, _ isValid: (String) -> Bool
  ) throws(DescriptionError) -> String {
    guard isValid(scanner.token) else {
      throw scanner.failure("expected \(what), found '\(scanner.token)'")
    }
    return try scanner.take()
  }

  /// Two or more labels, joined by dots. Hyphens are only inside a label.
  private static func isInterfaceName(_ name: String) -> Bool {
    let labels = name.split(separator: ".", omittingEmptySubsequences: false)
    return labels.count > 1 && labels[0].first?.isLetter == true
      && labels.allSatisfy { label in
        !label.isEmpty && label.first != "-" && label.last != "-" && !label.contains("_")
      }
  }

  private static func isMemberName(_ name: String) -> Bool {
    name.first?.isUppercase == true && name.allSatisfy { $0.isLetter || $0.isNumber }
  }

  /// No underscore at the beginning or end, and no two in a row.
  private static func isFieldName(_ name: String) -> Bool {
    name.first?.isLetter == true
      && name.split(separator: "_", omittingEmptySubsequences: false).allSatisfy { part in
        !part.isEmpty && part.allSatisfy { $0.isLetter || $0.isNumber }
      }
  }
}
