/// An SQL expression of the model file. It is scanned just enough to know that it stays one
/// expression when it is put in parentheses, and where its variables are. SQLite checks the rest.
///
/// It is scanned by Unicode scalars, as SQLite does: for Swift, a quote and an accent after it are
/// one character.
package struct SQLExpression {
  package struct Variable: Hashable {
    package let base: String
    package let member: String?
  }

  package struct Illegal: Error, CustomStringConvertible {
    let reason: String
    package var description: String { reason }
  }

  package private(set) var variables: [Variable] = []
  /// The text before each variable, and after the last.
  private var texts: [String] = []
  private var rest: Substring.UnicodeScalarView
  private var depth = 0

  package init(_ text: String) throws(Illegal) {
    rest = Substring(text).unicodeScalars
    var start = rest.startIndex
    while let scalar = rest.first {
      let place = rest.startIndex
      rest.removeFirst()
      try take(scalar)
      guard scalar == "$" else { continue }
      texts.append(String(text[start..<place]))
      start = rest.startIndex
    }
    texts.append(String(text[start...]))
    guard depth == 0 else { throw Illegal(reason: "a \"(\" is not closed") }
  }

  /// The expression with each variable replaced by a text.
  package func text(replacing replacement: (Variable) throws -> String) rethrows -> String {
    var result = ""
    for (text, variable) in zip(texts, variables) {
      result += try text + replacement(variable)
    }
    return result + texts[variables.count]
  }

  private mutating func take(_ scalar: Unicode.Scalar) throws(Illegal) {
    switch scalar {
    case "'", "\"", "`": try skip(to: scalar)
    case "[": try skip(to: "]")
    case "(": depth += 1
    case ")": try close()
    case "$": variables.append(try variable())
    // A type of PostgreSQL follows. SQLite refuses it by itself.
    case ":" where rest.first == ":": rest.removeFirst()
    case ";", "?", ":", "@", "#":
      throw Illegal(reason: "\"\(scalar)\" is not allowed in an expression")
    case "-" where rest.first == "-", "/" where rest.first == "*":
      throw Illegal(reason: "a comment is not allowed in an expression")
    default: break
    }
  }

  /// Skips to the closing quote. A doubled quote is an escaped one: here it ends one text and
  /// begins the next, with the same result.
  private mutating func skip(to end: Unicode.Scalar) throws(Illegal) {
    guard let index = rest.firstIndex(of: end) else {
      throw Illegal(reason: "a text has no closing \(end)")
    }
    rest = rest[rest.index(after: index)...]
  }

  private mutating func close() throws(Illegal) {
    depth -= 1
    guard depth >= 0 else { throw Illegal(reason: "a \")\" has no matching \"(\"") }
  }

  private mutating func variable() throws(Illegal) -> Variable {
    let base = word()
    guard !base.isEmpty else { throw Illegal(reason: "a \"$\" has no name") }
    guard rest.first == "." else { return Variable(base: base, member: nil) }
    rest.removeFirst()
    let member = word()
    if rest.first == "." {
      throw Illegal(reason: "\"$\(base).\(member)\" is a value, and has no members")
    }
    return Variable(base: base, member: member.isEmpty ? nil : member)
  }

  /// The characters that SQLite accepts in a name.
  private mutating func word() -> String {
    let word = rest.prefix { scalar in
      switch scalar {
      case "a"..."z", "A"..."Z", "0"..."9", "_": true
      default: !scalar.isASCII
      }
    }
    rest = rest[word.endIndex...]
    return String(word)
  }
}
