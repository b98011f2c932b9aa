/// Collects the problems of a model file. Reading continues after a problem, so that all of them
/// are reported at once.
final class Problems {
  var list: [ModelProblem] = []
  /// In a model of many stores, paths are relative to each.
  var allowsRelativePaths = false
}

/// A value of the model file, its path, and the list that its problems are added to.
struct ModelValue {
  let json: JSON
  let path: String
  let problems: Problems

  /// Adds a problem. A problem that two checks find is added once.
  func addProblem(_ message: String) {
    let problem = ModelProblem(path: path, message: message)
    if problems.list.last != problem { problems.list.append(problem) }
  }

  func string(_ what: String = "a string") -> String? {
    guard case .string(let text) = json else { return wrongType(what) }
    return text
  }

  /// A string that names something. It may not be empty.
  func name(_ what: String = "a name") -> String? {
    guard let text = string(what) else { return nil }
    guard !text.isEmpty, !text.utf8.contains(0) else {
      addProblem("\(what) may not \(text.isEmpty ? "be empty" : "contain a NUL")")
      return nil
    }
    return text
  }

  func bool() -> Bool? {
    guard case .bool(let value) = json else { return wrongType("true or false") }
    return value
  }

  func integer(atLeast least: Int) -> Int? {
    guard case .integer(let number) = json else { return wrongType("a whole number") }
    guard let value = Int(exactly: number), value >= least else {
      addProblem("\(number) is less than \(least)")
      return nil
    }
    return value
  }

  func word<Word: RawRepresentable<String> & CaseIterable>(_ what: String = "word") -> Word? {
    guard let text = string("a word") else { return nil }
    if let word = Word(rawValue: text) { return word }
    addProblem(unknown(what, text, among: Word.allCases.map(\.rawValue)))
    return nil
  }

  func elements(_ what: String = "a list") -> [ModelValue]? {
    guard case .array(let values) = json else { return wrongType(what) }
    return values.enumerated().map { index, value in
      ModelValue(json: value, path: "\(path)[\(index)]", problems: problems)
    }
  }

  /// The members of an object in which any name is allowed.
  func members(_ what: String = "an object") -> [(name: String, entry: ModelValue)]? {
    guard case .object(let fields) = json else { return wrongType(what) }
    var names: Set<String> = []
    return fields.compactMap { field in
      let place = ModelValue.path(path, field.name)
      let entry = ModelValue(json: field.value, path: place, problems: problems)
      if names.insert(field.name).inserted { return (field.name, entry) }
      entry.addProblem("\"\(field.name)\" duplicates a name with a different Unicode composition")
      return nil
    }
  }

  func wrongType<Value>(_ what: String) -> Value? {
    addProblem("expected \(what), found \(json.kind)")
    return nil
  }

  static func path(_ path: String, _ name: String) -> String {
    let plain = !name.isEmpty && name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
    if !plain { return "\(path)[\"\(name)\"]" }
    return path.isEmpty ? name : "\(path).\(name)"
  }
}

/// The members of an object in which only known names are allowed. Others were refused.
struct Fields {
  let entry: ModelValue
  private var members: [String: ModelValue] = [:]

  init?(_ entry: ModelValue, _ legal: [String], _ what: String = "an object") {
    guard let members = entry.members(what) else { return nil }
    self.entry = entry
    for (name, member) in members {
      if legal.contains(name) {
        self.members[name] = member
      } else {
        member.addProblem(unknown("key", name, among: legal))
      }
    }
  }

  subscript(name: String) -> ModelValue? { members[name] }

  /// The member of this name. Its absence is a problem.
  func required(_ name: String) -> ModelValue? {
    if let entry = members[name] { return entry }
    entry.addProblem("\"\(name)\" is missing")
    return nil
  }
}

/// The message for an unknown name, with the known name nearest to it.
package func unknown(_ what: String, _ name: String, among known: [String]) -> String {
  if let near = nearest(name, in: known) {
    return "unknown \(what) \"\(name)\"; did you mean \"\(near)\"?"
  }
  guard !known.isEmpty else { return "unknown \(what) \"\(name)\"" }
  return "unknown \(what) \"\(name)\"; known: \(known.joined(separator: ", "))"
}
