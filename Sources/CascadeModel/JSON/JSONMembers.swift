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
