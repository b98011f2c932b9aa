extension Scanner {
  /// Reads the members of an object, their values as text.
  mutating func members(_ bytes: Bytes) throws(Fault) -> [Member] {
    try open("{", bytes)
    var members: [Member] = []
    var object = names.open()
    var first = true
    while let name = try nextName(&first, bytes) {
      try remember(name, in: &object, bytes)
      let value = Scanner.text(try skipValue(bytes), bytes)
      members.append(Member(name: text(name, bytes), value: JSONText(valid: value)))
    }
    names.close(object)
    return members
  }

  /// Reads the elements of a list, as text.
  fileprivate mutating func texts(_ bytes: Bytes) throws(Fault) -> [JSONText] {
    try open("[", bytes)
    var elements: [JSONText] = []
    var first = true
    while try nextElement(&first, bytes) {
      elements.append(JSONText(valid: Scanner.text(try skipValue(bytes), bytes)))
    }
    return elements
  }
}

extension JSONText {
  /// The members of an object; nil when the value is not an object.
  package func members() -> [Member]? {
    let bytes = Array(text.utf8)
    var scanner = Scanner()
    guard (try? scanner.begin(bytes.span)) != nil,
      scanner.peek(bytes.span) == UInt8(ascii: "{")
    else { return nil }
    return try? scanner.members(bytes.span)
  }

  /// An object with these members. Their names must differ.
  package init(object members: [Member]) {
    var bytes: [UInt8] = [UInt8(ascii: "{")]
    for (index, member) in members.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      JSON.write(member.name, to: &bytes)
      bytes.append(UInt8(ascii: ":"))
      bytes.append(contentsOf: member.value.text.utf8)
    }
    bytes.append(UInt8(ascii: "}"))
    self.init(valid: String(decoding: bytes, as: UTF8.self))
  }

  /// The elements of a list; nil when the value is not a list.
  package func elements() -> [JSONText]? {
    let bytes = Array(text.utf8)
    var scanner = Scanner()
    guard (try? scanner.begin(bytes.span)) != nil,
      scanner.peek(bytes.span) == UInt8(ascii: "[")
    else { return nil }
    return try? scanner.texts(bytes.span)
  }

  package init(list elements: [JSONText]) {
    self.init(valid: "[\(elements.map(\.text).joined(separator: ","))]")
  }

  package static let null = JSONText(valid: "null")

  /// Whether the value is null. Expects text without surrounding spaces, as `members` and
  /// `elements` return it.
  package var isNull: Bool { text == "null" }

  /// The same value without spaces and line breaks between its parts, for output on one line.
  package var compact: JSONText {
    var bytes: [UInt8] = []
    var isInString = false
    var isEscaped = false
    for byte in text.utf8 {
      if isInString || byte > 0x20 { bytes.append(byte) }
      if byte == UInt8(ascii: "\""), !isEscaped { isInString.toggle() }
      isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
    }
    return JSONText(valid: String(decoding: bytes, as: UTF8.self))
  }

  package init(_ json: JSON) { self.init(valid: json.text) }

  /// The value as a tree.
  package var json: JSON {
    guard let json = try? JSON.parse(text) else { preconditionFailure("a JSONText is valid JSON") }
    return json
  }
}

extension [Member] {
  /// Sets these members, each in its place or at the end, and removes those.
  package mutating func apply(set: [Member], unset: [String]) {
    for member in set {
      if let index = firstIndex(where: { $0.isNamed(member.name) }) {
        self[index] = member
      } else {
        append(member)
      }
    }
    removeAll { member in unset.contains { member.isNamed($0) } }
  }
}

// MARK: - Compared

extension JSONText {
  /// Whether the value is a list or an object. Expects text without surrounding spaces.
  package var isDocument: Bool {
    [UInt8(ascii: "["), UInt8(ascii: "{")].contains(text.utf8.first)
  }

  /// Whether both are the same list or object, however it is written.
  package func isSameDocument(as text: String?) -> Bool {
    guard isDocument, let text, let other = try? JSON.parse(text) else { return false }
    return other.isSame(as: json)
  }

  /// The names of the members that have other values by now. A member that is null and one that is
  /// not there are alike.
  package func changedMembers(since expected: [Member]) -> [String] {
    let members = members() ?? []
    return expected.filter { expected in
      let now = members.first { $0.isNamed(expected.name) }?.value ?? .null
      return now.text != expected.value.text && !now.json.isSame(as: expected.value.json)
    }.map(\.name)
  }
}

extension JSON {
  /// Whether both mean the same: numbers by their value, objects whatever the order of members.
  package func isSame(as other: JSON) -> Bool {
    switch (self, other) {
    case (.raw(let text), _): text.json.isSame(as: other)
    case (_, .raw(let text)): isSame(as: text.json)
    case (.integer(let one), .integer(let other)): one == other
    case (.integer, .number), (.number, .integer), (.number, .number): number == other.number
    case (.string(let one), .string(let other)): one.hasBytes(of: other)
    case (.array(let one), .array(let other)):
      one.count == other.count && zip(one, other).allSatisfy { $0.isSame(as: $1) }
    case (.object(let one), .object(let other)):
      one.count == other.count
        && one.allSatisfy { field in
          other.contains { $0.name.hasBytes(of: field.name) && $0.value.isSame(as: field.value) }
        }
    default: self == other
    }
  }
}

extension JSONText {
  /// The same without spaces around.
  package var trimmed: JSONText {
    let isBlank: (UInt8) -> Bool = { $0 <= 0x20 }
    let rest = text.utf8.drop(while: isBlank).reversed().drop(while: isBlank).reversed()
    return JSONText(valid: String(decoding: rest, as: UTF8.self))
  }
}
