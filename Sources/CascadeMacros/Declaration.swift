/// What is wrong with a declaration, and at which byte of it.
struct Problem: Error, CustomStringConvertible {
  let message: String
  let offset: Int
  var description: String { message }
}

/// A property of a type, as far as the macro needs to know it.
struct Property {
  let name: String
  let offset: Int
  let isLet: Bool
  let isStatic: Bool
  /// By the names of the attributes, their arguments.
  let attributes: [String: String]
  /// The text of the type and of the value, without spaces.
  var type = ""
  var initializer: String?
  var isComputed = false
  /// Whether reading it may throw or has to be awaited.
  var hasEffects = false
}

/// A structure as it is written.
struct Declaration {
  let name: String
  /// `public`, `package` or nothing.
  let access: String
  /// The names of its other attributes.
  let attributes: [String]
  private(set) var properties: [Property] = []

  init(_ source: String) throws(Problem) {
    var reader = DeclarationReader(Tokenizer.tokens(of: source))
    let keyword = try reader.readHead()
    guard keyword.text == "struct" else {
      throw Problem(
        message: "@Model needs a struct: a value cannot be changed by another owner",
        offset: keyword.offset)
    }
    name = reader.takeName()
    access = reader.access
    attributes = reader.attributesOfType
    reader.readBody()
    properties = reader.properties
  }
}

/// Reads a declaration token by token. It understands properties, and skips everything else.
struct DeclarationReader {
  private let tokens: [Token]
  private var index = 0
  private(set) var access = ""
  private(set) var properties: [Property] = []
  private(set) var attributesOfType: [String] = []
  private var attributes: [String: String] = [:]
  private var isStatic = false

  init(_ tokens: [Token]) { self.tokens = tokens }

  private var text: Substring { index < tokens.count ? tokens[index].text : "" }
  private var isAtEnd: Bool { index >= tokens.count }

  // MARK: - The head

  /// Returns the keyword of the type.
  mutating func readHead() throws(Problem) -> Token {
    while !isAtEnd {
      switch text {
      case "@": readAttribute()
      case "struct", "class", "enum", "actor", "extension", "protocol":
        attributesOfType = attributes.keys.sorted()
        attributes = [:]
        defer { index += 1 }
        return tokens[index]
      case "public", "package":
        access = "\(text) "
        index += 1
      default: index += 1
      }
    }
    throw Problem(message: "@Model needs a struct", offset: 0)
  }

  mutating func takeName() -> String {
    skipLines()
    defer { index += 1 }
    return text.trimming("`")
  }

  private mutating func skipLines() {
    while text == "\n" { index += 1 }
  }

  private mutating func readAttribute() {
    index += 1
    var name = ""
    while let first = text.first, first.isLetter || first == "_" || first == "." {
      name += text
      index += 1
      if text != "." && name.last != "." { break }
    }
    let start = index
    if text == "(" { skipGroup() }
    let arguments = tokens[start..<min(index, tokens.count)].map { String($0.text) }.joined()
    attributes[name] = arguments
  }

  /// From an opening bracket to behind the closing one.
  private mutating func skipGroup() {
    var depth = 0
    repeat {
      if text.opensGroup { depth += 1 }
      if text.closesGroup { depth -= 1 }
      index += 1
    } while depth > 0 && !isAtEnd
  }

  // MARK: - The body

  mutating func readBody() {
    while !isAtEnd, text != "{" { index += 1 }
    index += 1
    while !isAtEnd, text != "}" { readMember() }
  }

  private mutating func readMember() {
    switch text {
    case "\n", ";": index += 1
    case "@": readAttribute()
    case "static":
      isStatic = true
      index += 1
    case "let", "var": readProperties()
    case "func", "init", "subscript", "struct", "enum", "class", "typealias", "extension", "actor",
      "deinit", "case", "macro":
      skipMember()
    case "(", "[", "{": skipGroup()
    default: index += 1
    }
  }

  /// To the end of its body, or of its line.
  private mutating func skipMember() {
    while !isAtEnd, !["{", "\n", ";", "}"].contains(text) || continuesLine {
      if text != "{" && text.opensGroup { skipGroup() } else { index += 1 }
    }
    if text == "{" { skipGroup() }
    forgetModifiers()
  }

  private mutating func forgetModifiers() {
    attributes = [:]
    isStatic = false
  }

  /// Whether the line goes on behind this line break: an operator or a bracket is next to it.
  private var continuesLine: Bool {
    if text != "\n" { return false }
    let before = index > 0 ? tokens[index - 1].text : ""
    let next = tokens[index...].first { $0.text != "\n" }?.text ?? "}"
    return ["=", ":", ",", "->", ".", "+", "-", "*", "/", "&", "|", "(", "["].contains(before)
      || [".", "?", "=", "->", ":", "where", "throws", "async", "+", "*", "/", "&", "|", "{"]
        .contains(next)
  }

  /// `let a: Int, b = 2`.
  private mutating func readProperties() {
    let isLet = text == "let"
    index += 1
    repeat {
      skipLines()
      guard !isAtEnd else { break }
      var property = Property(
        name: text.trimming("`"), offset: tokens[index].offset, isLet: isLet, isStatic: isStatic,
        attributes: attributes)
      index += 1
      readRest(of: &property)
      properties.append(property)
    } while takeComma()
    forgetModifiers()
  }

  private mutating func takeComma() -> Bool {
    if text != "," { return false }
    index += 1
    return true
  }

  private mutating func readRest(of property: inout Property) {
    if text == ":" {
      index += 1
      property.type = readExpression(until: ["=", "{"])
    }
    if text == "=" {
      index += 1
      property.initializer = readExpression(until: [])
    }
    skipToBody()
    if text == "{" {
      index += 1
      skipLines()
      // A property with observers is stored; any other body computes it.
      property.isComputed = text != "willSet" && text != "didSet"
      index -= 1
      while index > 0, tokens[index].text != "{" { index -= 1 }
      let start = index
      skipGroup()
      property.hasEffects = hasEffects(tokens[start..<min(index, tokens.count)])
    }
  }

  /// `{ get async throws { … } }`.
  private func hasEffects(_ body: ArraySlice<Token>) -> Bool {
    guard let getter = body.firstIndex(where: { $0.text == "get" }) else { return false }
    let effects = body[getter...].prefix { $0.text != "{" || $0.offset == body.first?.offset }
    return effects.contains { $0.text == "async" || $0.text == "throws" }
  }

  /// A brace on the next line still belongs to the property.
  private mutating func skipToBody() {
    guard text == "\n", tokens[index...].first(where: { $0.text != "\n" })?.text == "{" else {
      return
    }
    skipLines()
  }

  /// The text up to the end of a type or a value.
  private mutating func readExpression(until ends: [Substring]) -> String {
    var result = ""
    while !isAtEnd {
      if [",", ";", "}"].contains(text) || ends.contains(text) { break }
      if text == "\n" {
        if !continuesLine || nextIsBody { break }
        index += 1
        continue
      }
      let start = index
      if text.opensGroup {
        if text == "{", isObserver { break }
        skipGroup()
      } else if text == "<" {
        skipGenerics()
      } else {
        index += 1
      }
      for token in tokens[start..<min(index, tokens.count)] where token.text != "\n" {
        result += token.text
      }
    }
    return result
  }

  private var nextIsBody: Bool { tokens[index...].first { $0.text != "\n" }?.text == "{" }

  private var isObserver: Bool {
    let next = tokens[(index + 1)...].first { $0.text != "\n" }?.text
    return next == "willSet" || next == "didSet"
  }

  /// `<A, B>`, if it is one: a comparison is skipped as one character.
  private mutating func skipGenerics() {
    var (depth, end) = (0, index)
    while end < tokens.count, ![";", "\n", "{", "}"].contains(tokens[end].text) {
      if tokens[end].text == "<" { depth += 1 }
      if tokens[end].text == ">" { depth -= 1 }
      end += 1
      if depth == 0 { break }
    }
    index = depth == 0 ? end : index + 1
  }
}

extension Substring {
  var opensGroup: Bool { self == "(" || self == "[" || self == "{" }
  var closesGroup: Bool { self == ")" || self == "]" || self == "}" }

  fileprivate func trimming(_ character: Character) -> String {
    String(drop { $0 == character }.prefix { $0 != character })
  }
}
