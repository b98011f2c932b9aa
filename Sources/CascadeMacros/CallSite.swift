/// Where a relationship is made, as the macro in the default value of a parameter is told: the file, the
/// line and the column of the opening parenthesis of the call.
///
/// `@Model` sees only the structure itself. So a relationship in an extension would be passed over
/// without a word; here it is refused.
struct CallSite {
  private let tokens: [Token]
  /// The place of the opening parenthesis among them.
  private let call: Int

  /// Nil if there is no call at that place: the file has changed since.
  init?(line: Int, column: Int, in source: String) {
    tokens = Tokenizer.tokens(of: source)
    guard let offset = CallSite.offset(ofLine: line, column, in: source),
      let call = tokens.firstIndex(where: { $0.offset == offset }), tokens[call].text == "("
    else { return nil }
    self.call = call
  }

  private static func offset(ofLine line: Int, _ column: Int, in source: String) -> Int? {
    var (number, start) = (1, 0)
    for (index, byte) in source.utf8.enumerated() where byte == UInt8(ascii: "\n") {
      if number == line { break }
      (number, start) = (number + 1, index + 1)
    }
    return number == line ? start + column - 1 : nil
  }

  /// Why `@Model` does not see the relationship; nil if it does, or if it is none of its own.
  var objection: String? {
    var scopes = scopes
    if let last = scopes.last, last.isAccessor { scopes.removeLast() }
    guard let scope = scopes.last, scope.keyword == "extension", !scope.conforms,
      isOf(scope.name)
    else { return nil }
    return
      "@Model does not see a relationship in an extension: declare it in `struct \(scope.name)`, "
      + "or where `\(scope.name)` conforms to Model by hand"
  }

  // MARK: - Around the call

  /// What an opening brace begins.
  private struct Scope {
    /// `extension`, `func`, …; empty for a closure.
    var keyword: Substring = ""
    var name: Substring = ""
    /// Whether an extension adds the conformance to `Model`.
    var conforms = false
    /// Whether it is the body of a static property.
    var isAccessor = false
  }

  private static let keywords: Set<Substring> = [
    "extension", "struct", "class", "enum", "actor", "protocol", "func", "init", "deinit",
    "subscript", "var", "let", "get", "set",
  ]

  /// The scopes around the call, the innermost last.
  private var scopes: [Scope] {
    var scopes: [Scope] = []
    var start = 0
    for index in 0..<call {
      switch tokens[index].text {
      case "{": scopes.append(scope(tokens[start..<index]))
      case "}": _ = scopes.popLast()
      case ";": break
      default: continue
      }
      start = index + 1
    }
    return scopes
  }

  private func scope(_ head: ArraySlice<Token>) -> Scope {
    guard let place = head.lastIndex(where: { CallSite.keywords.contains($0.text) }) else {
      return Scope()
    }
    var scope = Scope(keyword: head[place].text)
    let rest = head[(place + 1)...].filter { $0.text != "\n" }.map(\.text)
    scope.name = rest.prefix { $0 != ":" && $0 != "where" && $0 != "{" }.last ?? ""
    let conformances = rest.drop { $0 != ":" }.prefix { $0 != "where" }
    scope.conforms = conformances.contains("Model")
    scope.isAccessor = scope.keyword == "var" && head[..<place].last?.text == "static"
    return scope
  }

  // MARK: - The call

  /// Whether the relationship is one of this type, as far as that is written.
  private func isOf(_ type: Substring) -> Bool {
    if let first = firstArgument, first != type { return false }
    let (name, owner, generics) = callee
    if name == "Relationship" || name == "Fetched" {
      return owner == nil || owner == "Self" || owner == type
    }
    if ["RelationshipFrom", "FetchedFrom", "FileReference"].contains(name),
      let source = generics.first
    {
      return source == type || source == "Self"
    }
    return true
  }

  /// The type in a path that is the first argument: `\Album.cover`.
  private var firstArgument: Substring? {
    guard call + 2 < tokens.count, tokens[call + 1].text == "\\" else { return nil }
    return tokens[call + 2].text == "." ? nil : tokens[call + 2].text
  }

  /// What is called: its name, the type before it, and the first words of its generic arguments.
  private var callee: (name: Substring, owner: Substring?, generics: [Substring]) {
    var (end, generics): (Int, [Substring]) = (call - 1, [])
    if end >= 0, tokens[end].text == ">" {
      var (depth, start) = (0, end)
      while start >= 0 {
        if tokens[start].text == ">" { depth += 1 }
        if tokens[start].text == "<" { depth -= 1 }
        if depth == 0 { break }
        start -= 1
      }
      generics = tokens[max(0, start + 1)..<end].map(\.text).filter { $0 != "\n" }
      end = start - 1
    }
    if end < 0 { return ("", nil, generics) }
    let hasOwner = end >= 2 && tokens[end - 1].text == "."
    return (tokens[end].text, hasOwner ? tokens[end - 2].text : nil, generics)
  }
}
