/// Reads what surrounds the changes: the document's members and the header line.
extension ChangeParser {
  /// Checks a whole `.json` file. Returns its header and the offset of the first change, after `[`.
  mutating func document(
    _ bytes: Bytes
  ) throws(Fault) -> (header: ChangeHeader, changes: Int) {
    try scanner.begin(bytes)
    guard scanner.peek(bytes) == UInt8(ascii: "{") else {
      throw expected("an object with \"changes\"", bytes)
    }
    var header = ChangeHeader()
    var changes: Int?
    var object = try open(bytes)
    while let word = try documentMember(&object, bytes) {
      if word == .changes {
        changes = try judgeChanges(bytes)
      } else {
        try read(word, into: &header, bytes)
      }
    }
    try scanner.end(bytes)
    guard let changes else { throw Fault(object.offset, "no \"changes\"") }
    return (header, changes)
  }

  private mutating func documentMember(
    _ object: inout OpenObject, _ bytes: Bytes
  ) throws(Fault) -> ChangeWord? {
    do {
      return try member(&object, .document, bytes)
    } catch {
      let isBatch =
        bytes.count > error.offset + 7
        && WordSet<ChangeWord>.header.find(error.offset + 1..<error.offset + 6, bytes) == 2
      guard isBatch else { throw error }
      throw Fault(error.offset, "\"batch\" is for .ndjson files; a .json file is one transaction")
    }
  }

  private mutating func judgeChanges(_ bytes: Bytes) throws(Fault) -> Int {
    guard scanner.peek(bytes) == UInt8(ascii: "[") else {
      throw expected("a list of changes", bytes)
    }
    try scanner.open("[", bytes)
    let start = scanner.at
    var first = true
    while try scanner.nextElement(&first, bytes) { _ = try change(bytes) }
    return start
  }

  /// Reads the first line of an `.ndjson` file; nil when it is a change, or cannot be a header.
  mutating func header(_ bytes: Bytes) throws(Fault) -> ChangeHeader? {
    try scanner.begin(bytes)
    guard try looksLikeHeader(bytes) else { return nil }
    var header = ChangeHeader()
    var object = try open(bytes)
    while let word = try member(&object, .header, bytes) {
      try read(word, into: &header, bytes)
    }
    try scanner.end(bytes)
    return header
  }

  /// The first name that a header and a change do not share decides. A misspelt name counts as the
  /// known name nearest to it.
  private func looksLikeHeader(_ bytes: Bytes) throws(Fault) -> Bool {
    var reader = scanner
    guard reader.peek(bytes) == UInt8(ascii: "{") else { return false }
    try reader.open("{", bytes)
    var first = true
    var isShared = false
    while let name = try reader.nextName(&first, bytes) {
      let isOfHeader = find(name, .header, bytes) != nil
      isShared = isOfHeader && find(name, .change, bytes) != nil
      if !isShared { return isOfHeader || meansHeader(reader.text(name, bytes)) }
      _ = try reader.skipValue(bytes)
    }
    return isShared
  }

  private func meansHeader(_ typed: String) -> Bool {
    let words = WordSet<ChangeWord>.header.names + WordSet<ChangeWord>.change.names
    return nearest(typed, in: words).map(WordSet<ChangeWord>.header.names.contains) ?? false
  }

  private mutating func read(
    _ word: ChangeWord, into header: inout ChangeHeader, _ bytes: Bytes
  ) throws(Fault) {
    switch word {
    case .id: header.id = try id(bytes)
    case .author: header.author = try string("an author's name", bytes)
    case .mayDeleteItself: header.mayDeleteItself = try flag(bytes)
    // What it says is for people.
    case .archive: _ = try scanner.skipValue(bytes)
    default: header.batch = try batch(bytes)
    }
  }

  private mutating func id(_ bytes: Bytes) throws(Fault) -> String {
    let offset = scanner.at
    let id = try string("an id, a string", bytes)
    if id.isEmpty { throw Fault(offset, "an empty id; leave it out for the file's name") }
    return id
  }

  private mutating func batch(_ bytes: Bytes) throws(Fault) -> Int {
    let offset = scanner.at
    guard let lines = try scanner.value(bytes).integer.flatMap(Int.init(exactly:)), lines > 0 else {
      throw Fault(offset, "\"batch\" must be a number of lines, above 0")
    }
    return lines
  }
}
