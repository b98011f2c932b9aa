extension ChangeParser {
  mutating func link(_ bytes: Bytes) throws(Fault) -> Change {
    var ends = try ends(.link, bytes)
    // The strings are moved out, not copied: their reference counts are not touched.
    return .link(
      name: ends.name.take()!, from: ends.from.take()!, to: ends.to.take()!, rules: ends.rules)
  }

  mutating func unlink(_ bytes: Bytes) throws(Fault) -> Change {
    var ends = try ends(.unlink, bytes)
    return .unlink(
      name: ends.name.take()!, from: ends.from.take()!, to: ends.to.take()!, as: .sourceDeleted)
  }

  mutating func relink(_ bytes: Bytes) throws(Fault) -> Change {
    var ends = try ends(.link, toMany: true, bytes)
    return .relink(
      name: ends.name.take()!, from: ends.from.take()!, to: ends.all.take()!, rules: ends.rules)
  }

  /// Reads `{"name", "from", "to", "rules"}`; `toMany`, if `to` is a list of ends.
  private mutating func ends(
    _ words: WordSet<ChangeWord>, toMany: Bool = false, _ bytes: Bytes
  ) throws(Fault) -> DraftEdge {
    guard scanner.peek(bytes) == UInt8(ascii: "{") else { throw expected("an edge", bytes) }
    var object = try open(bytes)
    var edge = DraftEdge()
    while let word = try member(&object, words, bytes) {
      if toMany && word == .to {
        edge.all = try destinations(bytes)
      } else {
        try read(word, into: &edge, bytes)
      }
    }
    if edge.from == nil { throw Fault(object.offset, "an edge without \"from\"") }
    try check(edge, at: object.offset)
    return edge
  }

  /// Reads the list `edges` of a put.
  mutating func edges(_ bytes: Bytes) throws(Fault) -> [DeclaredEdge] {
    guard scanner.peek(bytes) == UInt8(ascii: "[") else {
      throw expected("a list of edges", bytes)
    }
    try scanner.open("[", bytes)
    var edges: [DeclaredEdge] = []
    var first = true
    while try scanner.nextElement(&first, bytes) { edges.append(try declaredEdge(bytes)) }
    return edges
  }

  private mutating func declaredEdge(_ bytes: Bytes) throws(Fault) -> DeclaredEdge {
    guard scanner.peek(bytes) == UInt8(ascii: "{") else { throw expected("an edge", bytes) }
    var object = try open(bytes)
    var edge = DraftEdge()
    while let word = try member(&object, .edge, bytes) { try read(word, into: &edge, bytes) }
    try check(edge, at: object.offset)
    return DeclaredEdge(
      name: edge.name.take()!, destination: edge.to.take()!, rules: edge.rules)
  }

  /// The members of an edge, collected as they are read.
  private struct DraftEdge {
    var name: String?
    var from: Node?
    var to: Destination?
    /// The ends of a relink.
    var all: [Destination]?
    var rules: Rules?
    var rulesOffset = 0

    var hasEnd: Bool { to != nil || all != nil }

    var leadsToFile: Bool {
      (to.map { [$0] } ?? all ?? []).contains { if case .file = $0 { true } else { false } }
    }
  }

  private mutating func read(
    _ word: ChangeWord, into edge: inout DraftEdge, _ bytes: Bytes
  ) throws(Fault) {
    switch word {
    case .name: edge.name = try edgeName(bytes)
    case .from: edge.from = try node(bytes)
    case .to: edge.to = try destination(bytes)
    default:
      edge.rulesOffset = scanner.at
      edge.rules = try rules(bytes)
    }
  }

  private func check(_ edge: borrowing DraftEdge, at offset: Int) throws(Fault) {
    if edge.name == nil { throw Fault(offset, "an edge without \"name\"") }
    if !edge.hasEnd { throw Fault(offset, "an edge without \"to\"") }
    if let rules = edge.rules, !rules.isSubset(of: .forFiles), edge.leadsToFile {
      let illegal = rules.subtracting(.forFiles).names.joined(separator: ", ")
      let legal = Rules.forFiles.names.joined(separator: " or ")
      throw Fault(edge.rulesOffset, "\(illegal): an edge to a file takes only \(legal)")
    }
  }

  private mutating func edgeName(_ bytes: Bytes) throws(Fault) -> String {
    let offset = scanner.at
    guard scanner.peek(bytes) == UInt8(ascii: "\"") else {
      throw expected("an edge's name", bytes)
    }
    let token = try scanner.string(bytes)
    if let known = edgeNames.find(token, bytes) { return known }
    let name = scanner.text(token, bytes)
    if name.isEmpty { throw Fault(offset, "an edge's name must not be empty") }
    edgeNames.remember(token, name, bytes)
    return name
  }

  // MARK: - Rules

  mutating func rules(_ bytes: Bytes) throws(Fault) -> Rules {
    let offset = scanner.at
    guard scanner.peek(bytes) == UInt8(ascii: "[") else {
      throw expected("a list of rules", bytes)
    }
    try scanner.open("[", bytes)
    var rules: Rules = []
    var first = true
    while try scanner.nextElement(&first, bytes) { rules.formUnion(try rule(bytes)) }
    if let conflict = rules.conflict {
      let names = conflict.joined(separator: " and ")
      throw Fault(offset, "\(names) contradict each other; keep one")
    }
    return rules
  }

  private mutating func rule(_ bytes: Bytes) throws(Fault) -> Rules {
    guard scanner.peek(bytes) == UInt8(ascii: "\"") else {
      throw expected("a rule's name", bytes)
    }
    let token = try scanner.string(bytes)
    if let index = find(token, .rules, bytes) { return WordSet.rules[index] }
    let typed = scanner.text(token, bytes)
    throw Fault(
      token.offset, "unknown rule \"\(shown(typed))\"" + WordSet<Rules>.rules.hint(typed))
  }

  // MARK: - Destinations

  private mutating func destinations(_ bytes: Bytes) throws(Fault) -> [Destination] {
    guard scanner.peek(bytes) == UInt8(ascii: "[") else {
      throw expected("a list of nodes or files", bytes)
    }
    try scanner.open("[", bytes)
    var destinations: [Destination] = []
    var first = true
    while try scanner.nextElement(&first, bytes) { destinations.append(try destination(bytes)) }
    return destinations
  }

  private mutating func destination(_ bytes: Bytes) throws(Fault) -> Destination {
    switch scanner.peek(bytes) {
    case UInt8(ascii: "["): return .node(try node(bytes))
    case UInt8(ascii: "{"): return try file(bytes)
    default:
      throw expected("a node, [\"collection\", key], or {\"file\": …, \"root\": …}", bytes)
    }
  }

  private mutating func file(_ bytes: Bytes) throws(Fault) -> Destination {
    var object = try open(bytes)
    var path: String?
    var root: String?
    while let word = try member(&object, .file, bytes) {
      if word == .file { path = try filePath(bytes) } else { root = try rootName(bytes) }
    }
    guard let path else { throw Fault(object.offset, "a file without \"file\", its path") }
    guard let root else { throw Fault(object.offset, "a file without \"root\", its file root") }
    return .file(root: root, path: path)
  }

  private mutating func rootName(_ bytes: Bytes) throws(Fault) -> String {
    let offset = scanner.at
    let name = try string("the name of a file root", bytes)
    if name.isEmpty { throw Fault(offset, "a file root's name must not be empty") }
    return name
  }

  private mutating func filePath(_ bytes: Bytes) throws(Fault) -> String {
    let offset = scanner.at
    let path = try string("a path", bytes)
    if let objection = Destination.objection(toPath: path) { throw Fault(offset, objection) }
    return path
  }
}

extension Destination {
  /// What is wrong with the path of a file below its root; nil if it is valid.
  package static func objection(toPath path: String) -> String? {
    if path.isEmpty { return "a path must not be empty" }
    if path.utf8.contains(0) { return "a path must not contain a NUL" }
    if path.utf8.first == UInt8(ascii: "/") {
      return "the path leads out of its root: it begins with '/'"
    }
    for part in path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
      if part.isEmpty { return "an empty part in a path ('//' or a '/' at its end)" }
      if part.elementsEqual("..".utf8) { return "the path leads out of its root: it has \"..\"" }
      if part.elementsEqual(".".utf8) { return "the path contains \".\"" }
    }
    return nil
  }
}
