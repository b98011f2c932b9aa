import CascadeModel
import Testing

/// Random changes, then damaged ones: whatever the bytes, the parsers answer, and agree.
@Suite struct FuzzTests {
  @Test(arguments: 1...30)
  func `A document and its lines give the same changes`(seed: UInt64) throws {
    var random = Seeded(seed: seed)
    let lines = (0..<50).map { _ in random.changeLine() }
    let expected = try lines.map { try change($0) }
    #expect(try changes(#"{"id":"x","changes":[\#(lines.joined(separator: ",\n"))]}"#) == expected)
  }

  @Test(arguments: 1...30)
  func `Damaged changes are refused alike in documents and lines`(seed: UInt64) {
    var random = Seeded(seed: seed)
    for _ in 0..<300 {
      let line = random.damage(Array(random.changeLine().utf8))
      let alone = Result { () throws(ChangeError) in try parse(line: line) }
      let file = Array(#"{"changes":["#.utf8) + line + Array("]}".utf8)
      let within = Result { () throws(ChangeError) in try parse(document: file) }
      check(alone, within, line)
    }
  }

  @Test(arguments: 1...30)
  func `Damaged JSON never traps, and what is read is written and read again`(seed: UInt64) {
    var random = Seeded(seed: seed)
    for _ in 0..<300 {
      let bytes = random.damage(random.json(depth: 3).utf8)
      for dialect in [JSON.Dialect.json, .json5] {
        guard let json = try? JSON.parse(bytes, as: dialect) else { continue }
        #expect((try? JSON.parse(json.text)) == json)
      }
    }
  }

  private func parse(line: [UInt8]) throws(ChangeError) -> Change {
    var parser = ChangeLineParser()
    return try parser.change(line.span, number: 1)
  }

  private func parse(document: [UInt8]) throws(ChangeError) -> [Change] {
    var document = try ChangeDocument(document)
    var changes: [Change] = []
    while let change = document.next() { changes.append(change) }
    return changes
  }

  private func check(
    _ alone: Result<Change, ChangeError>, _ within: Result<[Change], ChangeError>, _ line: [UInt8]
  ) {
    let text = String(decoding: line, as: UTF8.self)
    switch (alone, within) {
    case (.success(let change), .success(let changes)): #expect(changes == [change], "\(text)")
    case (.failure(let alone), .failure(let within)) where isWithin(alone, line):
      #expect(within.message == alone.message, "\(text)")
      #expect(within.path.hasPrefix("changes[0]") && within.path.hasSuffix(alone.path), "\(text)")
    // At its end a line sees the end where a document sees more; a comma makes one more change.
    case (.failure(let alone), _): #expect(!isWithin(alone, line), "\(text): \(alone)")
    case (.success, .failure(let within)): Issue.record("\(text): \(within)")
    }
  }

  /// Whether the fault is of the line's own, and not about where it ends.
  private func isWithin(_ error: ChangeError, _ line: [UInt8]) -> Bool {
    !error.message.contains("the end") && !error.message.contains("nothing more")
      && !error.message.contains("closing quote") && !error.message.contains("expected a change")
      && !error.message.contains("hexadecimal") && !error.message.contains("byte order mark")
      && !error.message.contains("invalid UTF-8")
  }
}

extension Seeded {
  private mutating func pick<Value>(_ values: Value...) -> Value { values[below(values.count)] }

  private mutating func node() -> JSON {
    let key: JSON = pick(
      .string("k" + text()), .integer(Int64(below(9))), ["a", .integer(Int64(below(9)))])
    return [.string(pick("songs", "albums", "päckchen", "collection-with-a-long-name")), key]
  }

  private mutating func edge(from: Bool) -> JSON {
    var fields = [JSON.Field("name", .string("n" + text()))]
    if from { fields.append(JSON.Field("from", node())) }
    fields.append(JSON.Field("to", pick(node(), ["file": "a/b.jpg", "root": "media"])))
    if below(2) == 0 {
      fields.append(JSON.Field("rules", pick([], ["deleteDestinationIfSourceDeleted"])))
    }
    return .object(fields.shuffled(using: &self))
  }

  /// A valid change, its members in any order.
  mutating func changeLine() -> String {
    var fields: [JSON.Field]
    switch below(6) {
    case 0:
      let edges = (0..<below(3)).map { _ in edge(from: false) }
      fields = [
        JSON.Field("put", node()), JSON.Field("value", json(depth: 3)),
        JSON.Field("edges", .array(edges)), JSON.Field("type", pick(nil, .string(text()))),
      ]
    case 1:
      let set = (0..<below(4)).map { JSON.Field("\($0)#" + text(), json(depth: 2)) }
      fields = [
        JSON.Field("patch", node()), JSON.Field("set", .object(set)),
        JSON.Field("unset", .array([.string("?" + text())])),
      ]
    case 2: fields = [JSON.Field("delete", node())]
    case 3: fields = [JSON.Field("link", edge(from: true))]
    case 4: fields = [JSON.Field("deleteAll", "songs")]
    default: fields = [JSON.Field("flush", true)]
    }
    return JSON.object(fields.shuffled(using: &self)).text
  }

  /// One to three bytes changed, inserted, removed, doubled, or the rest cut off.
  mutating func damage(_ bytes: [UInt8]) -> [UInt8] {
    let telling = Array("{}[]\",:\\/0-.eEu' \n*+x".utf8)
    var bytes = bytes
    for _ in 0...below(3) where !bytes.isEmpty {
      let place = below(bytes.count)
      let byte = pick(UInt8(below(256)), telling[below(telling.count)])
      switch below(5) {
      case 0: bytes[place] = byte
      case 1: bytes.insert(byte, at: place)
      case 2: bytes.remove(at: place)
      case 3: bytes.insert(contentsOf: bytes[place...].prefix(1 + below(20)), at: place)
      default: if below(4) == 0 { bytes.removeSubrange(place...) }
      }
    }
    return bytes
  }
}
