/// Reads the values of a change's members.
extension ChangeParser {
  mutating func flush(_ bytes: Bytes) throws(Fault) {
    let offset = scanner.at
    guard try scanner.value(bytes) == true else {
      throw Fault(offset, "\"flush\" must be true or be left out")
    }
  }

  mutating func flag(_ bytes: Bytes) throws(Fault) -> Bool {
    let first = scanner.peek(bytes)
    guard first == UInt8(ascii: "t") || first == UInt8(ascii: "f"),
      let flag = try scanner.scalar(bytes).bool
    else { throw expected("true or false", bytes) }
    return flag
  }

  /// Reads a type; null means no type.
  mutating func type(_ bytes: Bytes) throws(Fault) -> String? {
    guard scanner.peek(bytes) == UInt8(ascii: "n") else {
      return try string("a type's name or null", bytes)
    }
    _ = try scanner.scalar(bytes)
    return nil
  }

  mutating func members(_ bytes: Bytes) throws(Fault) -> [Member] {
    guard scanner.peek(bytes) == UInt8(ascii: "{") else {
      throw expected("an object of values", bytes)
    }
    return try scanner.members(bytes)
  }

  /// Reads the names in `unset`. A name may be repeated; that is harmless.
  mutating func names(_ bytes: Bytes) throws(Fault) -> [String] {
    guard scanner.peek(bytes) == UInt8(ascii: "[") else {
      throw expected("a list of names", bytes)
    }
    try scanner.open("[", bytes)
    var names: [String] = []
    var first = true
    while try scanner.nextElement(&first, bytes) { names.append(try string("a name", bytes)) }
    return names
  }

  mutating func removal(_ bytes: Bytes) throws(Fault) -> Removal {
    try word(of: .removals, "what the removal counts as", bytes)
  }

  /// Reads a string that must be one of a few words.
  private mutating func word<Value>(
    of words: WordSet<Value>, _ what: String, _ bytes: Bytes
  ) throws(Fault) -> Value {
    guard scanner.peek(bytes) == UInt8(ascii: "\"") else { throw expected(what, bytes) }
    let token = try scanner.string(bytes)
    if let index = find(token, words, bytes) { return words[index] }
    let typed = scanner.text(token, bytes)
    throw Fault(token.offset, "unknown word \"\(shown(typed))\"" + words.hint(typed))
  }

  /// A node, or an object that tells what else it is.
  mutating func restored(_ bytes: Bytes) throws(Fault) -> RestoredThing.Subject {
    if scanner.peek(bytes) == UInt8(ascii: "[") { return .node(try node(bytes)) }
    guard scanner.peek(bytes) == UInt8(ascii: "{") else {
      throw expected("what to restore: a node, or an object", bytes)
    }
    return .other(try scanner.value(bytes))
  }

  // MARK: - Nodes

  /// Reads `["collection", key]`.
  mutating func node(_ bytes: Bytes) throws(Fault) -> Node {
    let offset = scanner.at
    let shape = "a node, [\"collection\", key]"
    guard scanner.peek(bytes) == UInt8(ascii: "[") else { throw expected(shape, bytes) }
    try scanner.open("[", bytes)
    var first = true
    guard try scanner.nextElement(&first, bytes) else {
      throw Fault(offset, "an empty list; write \(shape)")
    }
    let collection = try collection(bytes)
    guard try scanner.nextElement(&first, bytes) else {
      throw Fault(offset, "a node without a key; write \(shape)")
    }
    let key = try key(bytes)
    if try scanner.nextElement(&first, bytes) {
      throw Fault(scanner.at, "a node has two parts; write a composite key as a list")
    }
    return Node(collection, key)
  }

  mutating func collection(_ bytes: Bytes) throws(Fault) -> String {
    let offset = scanner.at
    guard scanner.peek(bytes) == UInt8(ascii: "\"") else {
      throw expected("a collection's name", bytes)
    }
    let token = try scanner.string(bytes)
    if let known = collections.find(token, bytes) { return known }
    let name = scanner.text(token, bytes)
    if let objection = Node.objection(toCollection: name) { throw Fault(offset, objection) }
    collections.remember(token, name, bytes)
    return name
  }

  private mutating func key(_ bytes: Bytes) throws(Fault) -> Key {
    guard scanner.peek(bytes) == UInt8(ascii: "[") else {
      return try part("a key: a string, an integer or a list of them", bytes)
    }
    let offset = scanner.at
    try scanner.open("[", bytes)
    var parts: [Key] = []
    var first = true
    while try scanner.nextElement(&first, bytes) {
      parts.append(try part("a string or an integer in a composite key", bytes))
    }
    if parts.isEmpty { throw Fault(offset, "a composite key without parts") }
    return .composite(parts)
  }

  private mutating func part(_ what: String, _ bytes: Bytes) throws(Fault) -> Key {
    let offset = scanner.at
    switch scanner.peek(bytes) {
    case UInt8(ascii: "\""): return .text(scanner.text(try scanner.string(bytes), bytes))
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      if let integer = try scanner.number(bytes).integer { return .integer(integer) }
      throw Fault(offset, "a numeric key must be a 64-bit integer; write other keys as strings")
    default: throw expected(what, bytes)
    }
  }
}

extension Node {
  /// What is wrong with the name of a collection; nil if it is valid.
  package static func objection(toCollection name: String) -> String? {
    if name.isEmpty { return "a collection's name must not be empty" }
    let bytes = name.utf8
    if bytes.starts(with: "cascade_".utf8) {
      return "names that begin with cascade_ are reserved for Cascade"
    }
    for byte in bytes where byte == UInt8(ascii: "/") || byte == 0 {
      return byte == 0 ? "a NUL in a collection's name" : "a '/' in a collection's name"
    }
    return nil
  }
}
