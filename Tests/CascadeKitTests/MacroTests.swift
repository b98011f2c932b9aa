import CascadeKit
import CascadeModel
import CascadeSystem
import TestSupport
import Testing

/// The macro makes what one would write by hand.
@Suite struct MacroTests {
  private static let pairs: [Pair] = [
    Pair(
      Made.Plain.self, Hand.Plain.self,
      "'018f0000-0000-7000-8000-000000000001', 'x'"),
    Pair(
      Made.Numbered.self, Hand.Numbered.self,
      "7, 2.5, 1"),
    Pair(
      Made.Named.self, Hand.Named.self,
      "'k', NULL"),
    Pair(
      Made.Renamed.self, Hand.Renamed.self,
      "'018f0000-0000-7000-8000-000000000002', 'h', 4"),
    Pair(
      Made.Unstoredly.self, Hand.Unstoredly.self,
      "'018f0000-0000-7000-8000-000000000003', 5"),
    Pair(
      Made.Computed.self, Hand.Computed.self,
      "'018f0000-0000-7000-8000-000000000004', 'f'"),
    Pair(
      Made.Observed.self, Hand.Observed.self,
      "'018f0000-0000-7000-8000-000000000005', 6"),
    Pair(
      Made.Several.self, Hand.Several.self,
      "'018f0000-0000-7000-8000-000000000006', 1, 2, 'b'"),
    Pair(
      Made.Commented.self, Hand.Commented.self,
      "'018f0000-0000-7000-8000-000000000007', 'it'"),
    Pair(
      Made.Referring.self, Hand.Referring.self,
      "'018f0000-0000-7000-8000-000000000008', '018f0000-0000-7000-8000-000000000001', 'k'"),
    Pair(
      Made.Joined.self, Hand.Joined.self,
      "'018f0000-0000-7000-8000-000000000009'"),
    Pair(
      Made.Filed.self, Hand.Filed.self,
      "'018f0000-0000-7000-8000-000000000001', 'c.jpg'"),
    Pair(
      Made.Fetching.self, Hand.Fetching.self,
      "'018f0000-0000-7000-8000-000000000001', 1999"),
    Pair(
      Made.Object.self, Hand.Object.self,
      #""put": ["n", "018f0000-0000-7000-8000-000000000001"], "value": {"coverPath": "c", "sizes": [1, 2]}"#
    ),
    Pair(
      Made.Typed.self, Hand.Typed.self,
      #""put": ["o", "018f0000-0000-7000-8000-000000000001"], "type": "photo", "value": {"images": ["018f0000-0000-7000-8000-000000000001"]}"#
    ),
    Pair(
      Made.Enumerated.self, Hand.Enumerated.self,
      "'018f0000-0000-7000-8000-000000000001', 'red', NULL"),
    Pair(
      Made.Working.self, Hand.Working.self,
      "'018f0000-0000-7000-8000-000000000001', 't'"),
    Pair(
      Made.Keywords.self, Hand.Keywords.self,
      "'018f0000-0000-7000-8000-000000000001', 1, 'in'"),
    Pair(
      Made.Valued.self, Hand.Valued.self,
      "'018f0000-0000-7000-8000-000000000001', '[\"a\"]', 5, 200, 0.5"),
    Pair(
      Made.Manual.self, Hand.Manual.self,
      #""put": ["t", "018f0000-0000-7000-8000-000000000001"], "value": {}"#),
    Pair(
      Made.Odd.self, Hand.Odd.self,
      "'018f0000-0000-7000-8000-000000000001', NULL, NULL, NULL"),
  ]

  @Test func theMacroMakesTheModelThatOneWouldWrite() {
    for pair in MacroTests.pairs { pair.compareModels() }
  }

  @Test(arguments: [
    ("extension A { static let r = Relationship<B>(\\.b, \"r\") }", true),
    ("extension A { static let r: Relationship<B> = .init(\\.b, \"r\") }", true),
    ("extension A { static let r = Self.Relationship<B>(\n  \\.b, \"r\") }", true),
    (
      "extension A: Sendable {\n  static var r: Relationship<B> { Relationship(\\.b, \"r\") } }",
      true
    ),
    ("extension A { static let r = RelationshipFrom<A, [B]>(\"r\") }", true),
    ("extension A { static let r = RelationshipFrom(\\A.b, \"r\") }", true),
    ("extension A { static let r = FileReference(\\A.path, \"r\", root: \"m\") }", true),
    (
      "@Model(\"a\") struct A { }\nextension A {\n\n  static let r = Fetched<B>(\"r\", where: \"\") }",
      true
    ),
    ("struct A { static let r = Relationship<B>(\\.b, \"r\") }", false),
    ("extension A: Model { static let r = Relationship<B>(\\.b, \"r\") }", false),
    (
      "extension A: Equatable, CascadeKit.Model {\n static let r = Relationship<B>(\\.b, \"r\") }",
      false
    ),
    ("extension A { static let r = RelationshipFrom<C, B>(\\.b, \"r\") }", false),
    ("extension A { static let r = C.Relationship<B>(\\.b, \"r\") }", false),
    ("extension A { static let r = FileReference(\\C.path, \"r\", root: \"m\") }", false),
    ("extension A { static func r() -> Any { Relationship<B>(\\.b, \"r\") } }", false),
    ("let r = RelationshipFrom<A, B>(\\.b, \"r\")", false),
    ("extension A { struct C { static let r = Relationship<B>(\\.b, \"r\") } }", false),
  ])
  func aRelationshipThatTheMacroDoesNotSeeIsAnErrorOnItsLine(
    source: String, isError: Bool
  ) throws {
    let scratch = try Scratch()
    try scratch.write("A.swift", source)
    // Where the compiler says that a call begins: at its parenthesis.
    let call = try #require(
      source.firstRange(ofAnyOf: ["B>(", "]>(", "init(", "From(", "Reference(", "ship("]))
    let before = source[..<call]
    let line = before.count { $0 == "\n" }
    let column = before.reversed().prefix { $0 != "\n" }.count
    let blanks = String(repeating: "\\n", count: line) + String(repeating: " ", count: column)
    let place =
      "{\"fileID\":\"A/A.swift\",\"fileName\":\"\(scratch.path("A.swift"))\",\"line\":1,\"column\":1,\"offset\":0}"
    let request =
      "{\"expandFreestandingMacro\":{\"syntax\":{\"source\":\"\(blanks)#declaredPlace\",\"location\":\(place)}}}"
    let size = (0..<8).map { UInt8(truncatingIfNeeded: request.utf8.count >> ($0 * 8)) }
    let file = try scratch.directory.file("request", .readWrite(create: true))
    try file.writeAll(size + Array(request.utf8))
    let reply = try run(
      "/bin/sh", ["-c", "'\(program("CascadeMacros-tool"))' <'\(scratch.path("request"))'"])
    #expect(reply.contains("CascadeKit.DeclaredPlace()"))
    #expect(reply.contains("does not see a relationship in an extension") == isError, "\(reply)")
    #expect(reply.contains("\"offset\":\(line + column)") == isError, "\(reply)")
  }

  @Test func theMacroReadsAndWritesAsOneWouldByHand() async throws {
    let tables = MacroTests.pairs.compactMap(\.table) + ["CREATE TABLE k_a(k, a)"]
    let model = ModelFile(files: ["media": "/srv/media"]) {
      for pair in MacroTests.pairs { pair.made }
    }
    let test = try TestStore(
      model: model, schema: "PRAGMA journal_mode = WAL; \(tables.joined(separator: "; "))")
    let objects = MacroTests.pairs.filter { $0.table == nil }.map { "{\($0.sample)}" }
    try test.scratch.write("objects.json", "{\"changes\": [\(objects.joined(separator: ", "))]}")
    try run(
      program("cascadectl"), ["--store", test.path, "apply", test.scratch.path("objects.json")])
    for pair in MacroTests.pairs { try await pair.compareValues(test.store) }
  }
}

/// A model that the macro made, and the same by hand.
private struct Pair: Sendable {
  let made: any Model.Type
  /// A row, or a change that puts an object.
  let sample: String
  let compareModels: @Sendable () -> Void
  let compareValues: @Sendable (Store) async throws -> Void

  init<M: Model, H: Model>(_ made: M.Type, _ hand: H.Type, _ sample: String) {
    self.made = made
    self.sample = sample
    compareModels = {
      #expect(text(made) == text(hand))
      #expect(made.collection == hand.collection)
      #expect(made.columns.all.map(\.name) == hand.columns.all.map(\.name))
      #expect(made.columns.all.map(\.column) == hand.columns.all.map(\.column))
    }
    compareValues = { store in
      let changes = try await store.read { db in
        (try db.all(made.all).map(change), try db.all(hand.all).map(change))
      }
      #expect(changes.0.count == 1)
      #expect(changes.0 == changes.1)
    }
  }

  /// How its table is made, with one row; nil if it has none.
  var table: String? {
    guard let table = made.collection.table else { return nil }
    return "CREATE TABLE \(table)(\(columns(made))); INSERT INTO \(table) VALUES(\(sample))"
  }
}

private func columns<M: Model>(_ model: M.Type) -> String {
  let key = model.collection.key
  return model.columns.all.map { "\"\($0.column)\"\($0.column == key ? " PRIMARY KEY" : "")" }
    .joined(separator: ", ")
}

private func text(_ model: any Model.Type) -> String {
  ModelFile(files: ["media": "/srv/media"]) { model }.text
}

/// What a change file says of a value.
private func change(_ value: some Model) throws -> JSON {
  var transaction = Transaction()
  try transaction.put(value)
  return try JSON.parse(transaction.file(author: nil))["changes"] ?? .null
}

extension String {
  /// Where the last letter of the first of these words is.
  fileprivate func firstRange(ofAnyOf words: [String]) -> Index? {
    indices.first { index in words.contains { self[...index].hasSuffix($0) } }
  }
}
