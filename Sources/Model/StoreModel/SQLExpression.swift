/// Looks at an SQL expression of the model file, just closely enough to know that it stays one
/// expression when it is put in parentheses, and which variables it uses. SQLite judges the rest.
struct SQLExpression {
  struct Variable: Hashable {
    let base: String
    let member: String?
  }

  struct Illegal: Error {
    let reason: String
  }

  private(set) var variables: [Variable] = []
  private var rest: Substring
  private var depth = 0

  init(_ text: String) throws(Illegal) {
    rest = Substring(text)
    while let character = rest.popFirst() { try take(character) }
    guard depth == 0 else { throw Illegal(reason: "a \"(\" is not closed") }
  }

  private mutating func take(_ character: Character) throws(Illegal) {
    switch character {
    case "'", "\"", "`": try skip(to: character)
    case "[": try skip(to: "]")
    case "(": depth += 1
    case ")": try close()
    case "$": variables.append(try variable())
    case ";", "?", ":", "@", "#":
      throw Illegal(reason: "\"\(character)\" has no place in an expression")
    case "-" where rest.first == "-", "/" where rest.first == "*":
      throw Illegal(reason: "a comment has no place in an expression")
    default: break
    }
  }

  /// A doubled quote is an escaped one: it ends one text and begins the next, which is the same here.
  private mutating func skip(to end: Character) throws(Illegal) {
    guard let index = rest.firstIndex(of: end) else {
      throw Illegal(reason: "a text has no closing \(end)")
    }
    rest = rest[rest.index(after: index)...]
  }

  private mutating func close() throws(Illegal) {
    depth -= 1
    guard depth >= 0 else { throw Illegal(reason: "a \")\" closes nothing") }
  }

  private mutating func variable() throws(Illegal) -> Variable {
    let base = word()
    guard !base.isEmpty else { throw Illegal(reason: "a \"$\" has no name") }
    guard rest.first == "." else { return Variable(base: base, member: nil) }
    rest.removeFirst()
    let member = word()
    return Variable(base: base, member: member.isEmpty ? nil : member)
  }

  private mutating func word() -> String {
    let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
    rest = rest[word.endIndex...]
    return String(word)
  }
}
