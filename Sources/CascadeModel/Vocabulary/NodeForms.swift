/// The written forms of nodes and edges: as JSON, and on the command line.
extension Node: CustomStringConvertible {
  /// `["collection", key]`.
  package var json: JSON { [.string(collection), key.json] }

  package init?(json: JSON) {
    guard let parts = json.array, parts.count == 2, let collection = parts[0].string,
      Node.objection(toCollection: collection) == nil, let key = Key(json: parts[1])
    else { return nil }
    self.init(collection, key)
  }

  /// Reads `collection/key`, split at the first slash, or the JSON form. Nil when it is neither.
  package init?(commandLine text: String) {
    if text.hasPrefix("["), let json = try? JSON.parse(text) {
      self.init(json: json)
      return
    }
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2,
      Node.objection(toCollection: String(parts[0])) == nil
    else { return nil }
    self.init(String(parts[0]), .text(String(parts[1])))
  }

  /// The form that `init(commandLine:)` reads, on one line. An integer key is written as its
  /// digits.
  package var description: String {
    guard let key = key.managedText, !collection.hasPrefix("[") else { return json.text }
    let short = "\(collection)/\(key)"
    return short.hasControls ? json.text : short
  }
}

extension Key {
  package var json: JSON {
    switch self {
    case .text(let text): .string(text)
    case .integer(let integer): .integer(integer)
    case .composite(let parts): .array(parts.map(\.json))
    }
  }

  package init?(json: JSON) {
    switch json {
    case .string(let text): self = .text(text)
    case .integer(let integer): self = .integer(integer)
    case .array(let elements):
      let parts = elements.compactMap(Key.init(json:))
      guard !parts.isEmpty, parts.count == elements.count, parts.allSatisfy(\.isPart) else {
        return nil
      }
      self = .composite(parts)
    default: return nil
    }
  }

  private var isPart: Bool { managedText != nil }
}

extension Destination {
  package var json: JSON {
    switch self {
    case .node(let node): node.json
    case .file(let root, let path): ["file": .string(path), "root": .string(root)]
    }
  }
}

extension Edge {
  package var json: JSON {
    [
      "name": .string(name), "from": source.json, "to": destination.json,
      "rules": .array(rules.names.map(JSON.string)), "origin": .string(origin.name),
    ]
  }
}

extension String {
  /// As an attribute of a Graphviz file. A backslash begins an escape and an ampersand an entity; a
  /// line end is an escape.
  package var quotedForGraphviz: String {
    var quoted = "\""
    for scalar in unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "&": quoted += "&amp;"
      case "\n": quoted += "\\n"
      case _ where scalar.isControlling: quoted += "\u{FFFD}"
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
