import CascadeModel
import CascadeStore
import CascadeSystem
import TestSupport
import Testing
import Zstandard

/// Batches are written before the trash forgets them, and come back whole; on every engine.
package struct Archives {
  private let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  package enum Claim: String, CaseIterable, CustomTestStringConvertible {
    case whole = "Rows, objects, edges, join rows and lost references come back as they were"
    case values = "Random rows of every kind of value are what they were"
    case many = "More than a transaction takes comes back in several"
    case shape = "The file is a change file that says of what batch it is, causes first"
    case files = "Files are beside it, and come back with their rows"
    case taken = "A key that is taken is left, and the rest comes back"
    case rules = "No rule runs for what comes back"
    case altered = "Values come back into the columns of their names"
    case away = "Nothing is forgotten while the archive cannot be written"
    case foreign = "The directory of another store is refused"
    case undone = "What was brought back before is not archived"
    case again = "A batch that was written before a crash is written once"

    package var testDescription: String { rawValue }
  }

  package func expect(_ claim: Claim) throws {
    let store = try ArchivedStore(engine)
    switch claim {
    case .whole: try whole(store)
    case .values: try values(store)
    case .many: try many(store)
    case .shape: try shape(store)
    case .files: try files(store)
    case .taken: try taken(store)
    case .rules: try rules(store)
    case .altered: try altered(store)
    case .away: try away(store)
    case .foreign: try foreign(store)
    case .undone: try undone(store)
    case .again: try again(store)
    }
  }

  private func whole(_ store: ArchivedStore) throws {
    try store.store.apply([
      .put(
        Node("notes", .text("n")), type: "t", value: JSONText(valid: "{\"a\": 1.50}"),
        edges: [
          DeclaredEdge(
            name: "on", destination: .node(Node("notes", .text("m"))),
            rules: .deleteDestinationIfSourceDeleted)
        ]),
      .put(Node("notes", .text("m")), type: nil, value: JSONText(valid: "[1,\n 2]"), edges: nil),
      .link(
        name: "about", from: Node("notes", .text("n")), to: .node(Node("users", .integer(1))),
        rules: .deleteSourceIfDestinationDeleted),
    ])
    let before = try store.dump()
    try store.bySQL("DELETE FROM account WHERE id = 1")
    #expect(try store.sweep().deletedCount == 4)
    try store.forget()
    #expect(try store.dump() != before)
    let file = try #require(try store.archived.first)
    let restored = try store.bringBack(file)
    #expect(restored.restored?.restored == 5 && restored.restored?.leftCount == 0)
    let after = try store.dump()
    #expect(Set(after).symmetricDifference(before) == [])
    #expect(try store.sweep().outcome == .nothing)
    #expect(try store.bringBack(file).outcome == .duplicate)
  }

  private func values(_ store: ArchivedStore) throws {
    let seed = UInt64.random(in: 1..<1_000_000)
    var random = Seeded(seed)
    for round in 0..<3 {
      var changes: [Change] = []
      for number in 0..<60 {
        let value = JSON.object(
          ["words", "bytes", "size", "whole"].map { JSON.Field($0, store.randomValue($0, &random)) }
        )
        changes.append(
          .put(
            Node("things", .text("\(round)-\(number) \(store.randomText(&random))")), type: nil,
            value: JSONText(value), edges: nil))
      }
      try store.store.apply(changes)
      let before = try store.dump()
      try store.bySQL("DELETE FROM thing")
      _ = try store.sweep()
      try store.forget()
      let restored = try store.bringBack(try #require(try store.archived.last))
      #expect(restored.restored?.restored == 60, "seed \(seed)")
      #expect(try store.dump() == before, "seed \(seed)")
      try store.bySQL("DELETE FROM thing")
      _ = try store.sweep()
    }
  }

  private func many(_ store: ArchivedStore) throws {
    let posts = (0..<11_000).map { "(\(1_000 + $0), 1, 'x')" }
    for part in stride(from: 0, to: posts.count, by: 1_000) {
      try store.bySQL(
        "INSERT INTO post VALUES \(posts[part..<part + 1_000].joined(separator: ", "))")
    }
    let before = try store.dump()
    try store.bySQL("DELETE FROM account WHERE id = 1")
    _ = try store.sweep()
    try store.forget()
    let restored = try store.bringBack(try #require(try store.archived.first))
    #expect(restored.restored?.restored == 11_003 && restored.restored?.leftCount == 0)
    #expect(try store.dump() == before)
  }

  private func shape(_ store: ArchivedStore) throws {
    try store.bySQL("DELETE FROM account WHERE id = 1")
    let batch = try #require(try store.sweep().batch)
    try store.forget()
    let file = try #require(try store.archived.first)
    #expect(file == "\(batch).ndjson.zst")
    let lines = try store.lines(file)
    let head = try #require(lines.first)
    #expect(head["batch"] == 5000 && head["archive"]?["batch"] == .integer(batch))
    #expect(
      head["id"]?.string != nil && head["archive"]?["at"] == .integer(store.now - 2 * 3_600_000))
    #expect(head["archive"]?["cause"] == "sweep")
    #expect(head["archive"]?["counts"] == ["posts": 2, "users": 1])
    let nodes = lines.dropFirst().compactMap { line -> String? in
      line["value"] == nil ? nil : line["restore"]?.array?[0].string
    }
    #expect(nodes.prefix(3) == ["users", "posts", "posts"])
    #expect(lines.dropFirst().allSatisfy { $0["restore"] != nil })
  }

  private func files(_ store: ArchivedStore) throws {
    let files = store.files
    try files.write("root/a.jpg", "root/b/c.jpg")
    try store.bySQL(
      "UPDATE post SET text = 'a.jpg' WHERE id = 11; UPDATE post SET text = 'b/c.jpg' WHERE id = 12"
    )
    let before = try store.dump()
    try store.bySQL("DELETE FROM account WHERE id = 1")
    _ = try store.sweep()
    try files.tend(store.store)
    #expect(!files.isThere("root/a.jpg"))
    try store.forget()
    try files.tend(store.store)
    _ = try store.bringBack(try #require(try store.archived.first))
    try files.tend(store.store)
    #expect(files.isThere("root/a.jpg") && files.isThere("root/b/c.jpg"))
    #expect(try store.dump() == before)
  }

  private func taken(_ store: ArchivedStore) throws {
    try store.bySQL("DELETE FROM account WHERE id = 1")
    _ = try store.sweep()
    try store.forget()
    try store.bySQL("INSERT INTO post VALUES(11, 2, 'new')")
    let restored = try store.bringBack(try #require(try store.archived.first))
    #expect(restored.outcome == .applied && restored.restored?.restored == 2)
    #expect(restored.restored?.left.map(\.node) == [Node("posts", .integer(11))])
    #expect(try store.texts("SELECT text FROM post WHERE id = 11") == ["new"])
  }

  private func rules(_ store: ArchivedStore) throws {
    try store.bySQL("DELETE FROM post WHERE id = 11")
    _ = try store.sweep()
    try store.forget()
    try store.bySQL("DELETE FROM account WHERE id = 1")
    _ = try store.sweep()
    let restored = try store.bringBack(try #require(try store.archived.first))
    #expect(restored.restored?.restored == 1 && restored.deletedCount == 0)
    #expect(try store.texts("SELECT text FROM post WHERE id = 11") == ["one"])
  }

  private func altered(_ store: ArchivedStore) throws {
    try store.bySQL("DELETE FROM post WHERE id = 11")
    _ = try store.sweep()
    try store.forget()
    try store.bySQL("ALTER TABLE post ADD COLUMN more INTEGER DEFAULT 7")
    try store.store.followSchema()
    let restored = try store.bringBack(try #require(try store.archived.first))
    #expect(restored.restored?.restored == 1)
    #expect(
      try store.texts("SELECT text FROM post WHERE id = 11 AND more = 7 AND account = 1") == ["one"]
    )
  }

  private func away(_ store: ArchivedStore) throws {
    try store.bySQL("DELETE FROM account WHERE id = 1")
    let batch = try #require(try store.sweep().batch)
    try store.hideArchive()
    let swept = try store.forget()
    #expect(swept.archiveTrouble != nil && swept.trashedBatchesDeleted == 0)
    #expect(try store.store.isRowInTrash(Node("posts", .integer(11))))
    try store.showArchive()
    #expect(try store.forget().archiveTrouble == nil)
    #expect(try !store.store.isRowInTrash(Node("posts", .integer(11))))
    #expect(try store.archived == ["\(batch).ndjson.zst"])
  }

  private func foreign(_ store: ArchivedStore) throws {
    try store.bySQL("DELETE FROM post WHERE id = 11")
    _ = try store.sweep()
    try store.claimForAnother()
    let swept = try store.forget()
    #expect(swept.archiveTrouble?.contains("belongs to another store, /elsewhere") == true)
    #expect(try store.store.isRowInTrash(Node("posts", .integer(11))))
  }

  private func undone(_ store: ArchivedStore) throws {
    try store.bySQL("DELETE FROM account WHERE id = 1")
    let batch = try #require(try store.sweep().batch)
    _ = try store.store.writer.undo(batch, by: "me", at: store.now)
    try store.forget()
    #expect(try store.archived == [])
  }

  private func again(_ store: ArchivedStore) throws {
    try store.bySQL("DELETE FROM account WHERE id = 1")
    let batch = try #require(try store.sweep().batch)
    #expect(try store.store.backUp() || engine.typeOfBytes == "bytea")
    try store.forget()
    if engine.typeOfBytes == "bytea" { return }
    try store.store.restoreBackup()
    try store.forget()
    #expect(try store.archived == ["\(batch).ndjson.zst"])
  }
}

private final class ArchivedStore {
  let store: any StoreUnderTest
  let files: TendedFiles
  var now: Int64 = 1_800_000_000_000
  private let isServer: Bool

  init(_ engine: any EngineUnderTest) throws {
    isServer = engine.typeOfBytes == "bytea"
    files = try TendedFiles()
    for name in ["archive", "root"] { _ = try Directory.openOrMake(files.scratch.path(name)) }
    store = try engine.makeStore(
      model: StoreModel(
        """
        { trash: "1h", keepDeleted: true, archive: "\(files.scratch.path("archive"))",
          files: { media: "\(files.scratch.path("root"))" },
          collections: {
            users: { table: "account", key: "id" }, posts: { table: "post", key: "id" },
            things: { table: "thing", key: "id" }, tags: { table: "tag", key: "id" }, notes: {} },
          relationships: [
            { name: "user", from: "posts", to: "users", column: "account",
              rules: ["deleteSourceIfDestinationDeleted"] },
            { name: "file", from: "posts", to: { files: "media" }, column: "text",
              rules: ["deleteDestinationIfAllSourcesDeleted"] },
            { name: "owner", from: "tags", to: "users", column: "account",
              rules: ["nullifySourceIfDestinationDeleted"] },
            { name: "likes", from: "users", to: "tags", rules: [],
              join: { table: "likes", source: "account", destination: "tag" } }],
          limits: { hold: { deletes: 100000 } } }
        """),
      schema: """
        CREATE TABLE account(id INTEGER PRIMARY KEY);
        CREATE TABLE post(id INTEGER PRIMARY KEY, account INTEGER, text TEXT);
        CREATE TABLE tag(id INTEGER PRIMARY KEY, account INTEGER);
        CREATE TABLE likes(account INTEGER, tag INTEGER, PRIMARY KEY(account, tag));
        CREATE TABLE thing(id TEXT PRIMARY KEY, words TEXT, bytes \(engine.typeOfBytes),
          size DOUBLE PRECISION, whole BIGINT);
        CREATE INDEX post_account ON post(account); CREATE INDEX post_text ON post(text);
        CREATE INDEX tag_account ON tag(account); CREATE INDEX likes_tag ON likes(tag);
        INSERT INTO account VALUES(1), (2); INSERT INTO post VALUES(11, 1, 'one'), (12, 1, NULL), (21, 2, '');
        INSERT INTO tag VALUES(5, 1), (6, 2); INSERT INTO likes VALUES(1, 5), (1, 6), (2, 6);
        """)
    _ = try store.writer.sweep([.all], at: now)
  }

  func sweep() throws -> SweepResult { try store.writer.sweep([.cascade, .refcount], at: now) }

  /// Has the time pass that the trash keeps what it has.
  @discardableResult
  func forget() throws -> SweepResult {
    now += 2 * 3_600_000
    return try store.writer.sweep([.trash], at: now)
  }

  func bySQL(_ sql: String) throws { try store.bySQL(sql) }
  func texts(_ sql: String) throws -> [String] { try store.texts(sql) }
  /// The application's rows, and the nodes and edges that Cascade stores, without the numbers that it gives
  /// them.
  func dump() throws -> [String] {
    try store.dump().filter { !$0.hasPrefix("cascade_") && !$0.hasPrefix("cascade.") }.sorted()
      + store.edges().filter { $0.source.collection == "notes" }.map { "\($0)" }.sorted()
      + store.reader.nodes(in: "notes", after: nil, limit: 100).map { "\($0)" }
  }

  // MARK: - The archive

  private var path: String { files.scratch.path("archive") }
  private var own: String {
    get throws { "\(path)/\(try Directory.open(path).names().map(\.description).first ?? "none")" }
  }

  /// The files of batches, the first batch first.
  var archived: [String] {
    get throws {
      guard try FileStatus.isThere(own) else { return [] }
      return try Directory.open(own).names().map(\.description).filter { $0.hasSuffix(".zst") }
        .sorted { Int($0.prefix { $0 != "." })! < Int($1.prefix { $0 != "." })! }
    }
  }

  func content(_ file: String) throws -> [UInt8] {
    let bytes = try Directory.open(own).file(FileName(file)).readWhole(limit: 64 << 20)
    return try ZstdDecompressor().decompress(bytes ?? [])
  }

  func lines(_ file: String) throws -> [JSON] {
    try content(file).split(separator: UInt8(ascii: "\n")).map {
      try JSON.parse(String(decoding: $0, as: UTF8.self))
    }
  }

  /// Applies a file as the daemon does: as many lines in a transaction as it says.
  func bringBack(_ file: String) throws -> Receipt {
    var parser = ChangeLineParser()
    let lines = try content(file).split(separator: UInt8(ascii: "\n")).map(Array.init)
    let first = lines[0]
    let head = try parser.header(first.span)
    let header = try #require(head)
    if try store.writer.ledgerEntry(header.id!) != nil {
      return Receipt(id: header.id!, outcome: .duplicate)
    }
    var (rest, part, total) = (
      lines.dropFirst(), Int64(0), Receipt(id: header.id!, outcome: .applied)
    )
    while !rest.isEmpty {
      var submission = Submission(id: header.id!, author: header.author, fingerprint: 1, at: now)
      submission.part = part
      let most = header.batch!
      var taken = rest.prefix(most)
      rest = rest.dropFirst(most)
      submission.isLast = rest.isEmpty
      let receipt = try store.writer.group {
        try store.writer.apply(submission) {
          guard let line = taken.popFirst() else { return nil }
          return try parser.change(line.span, number: 1)
        }
      }
      total.deletedCount += receipt.deletedCount
      let restored = try #require(try store.writer.finishRestoring(at: now))
      if total.restored == nil { total.restored = restored } else { total.restored!.add(restored) }
      part += 1
    }
    return total
  }

  func hideArchive() throws {
    try files.scratch.directory.rename("archive", to: files.scratch.directory, asNew: "away")
  }
  func showArchive() throws {
    try files.scratch.directory.rename("away", to: files.scratch.directory, asNew: "archive")
  }

  func claimForAnother() throws {
    now += 1
    let name =
      isServer
      ? try texts("SELECT current_database()")[0] : String(store.place.split(separator: "/").last!)
    let directory = try Directory.openOrMake("\(path)/\(name)")
    let file = try directory.file("owner", .createNew, mode: 0o600)
    try file.writeAll(Array(#"{"store":"17","at":"/elsewhere"}"#.utf8))
  }

  // MARK: - Values

  func randomText(_ random: inout Seeded) -> String {
    let letters: [Character] = [
      "a", "\"", "'", "\\", "\n", ",", "(", "é", "🎈", " ", "{", "$", "\t", "0",
    ]
    return String(
      (0..<Int.random(in: 0..<9, using: &random)).map { _ in letters.randomElement(using: &random)!
      })
  }

  func randomValue(_ column: String, _ random: inout Seeded) -> JSON {
    if Int.random(in: 0..<5, using: &random) == 0 { return .null }
    switch column {
    case "words": return .string(randomText(&random))
    case "bytes":
      let bytes = (0..<Int.random(in: 0..<9, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      return GivenValue.blob(bytes).json
    case "size":
      let numbers = [
        0.1, -0.0, 1e300, Double.leastNonzeroMagnitude, .infinity, -.infinity, 1,
        .random(in: 0..<1, using: &random),
      ]
      return GivenValue.real(numbers.randomElement(using: &random)!).json
    default:
      return .integer(
        [.min, .max, 0, -1, .random(in: 0..<99, using: &random)].randomElement(using: &random)!)
    }
  }
}
