import CascadeModel
import CascadeStore
import Testing

/// What applications delete themselves comes back, too, where the model says so; on every engine.
package struct KeptDeletions {
  private let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  package enum Claim: String, CaseIterable, CustomTestStringConvertible {
    case whole = "A batch has what the application deleted, and what followed"
    case alone = "A deletion that nothing follows is a batch, too"
    case wide = "Every value of a row comes back, of many columns, too"
    case many = "Many rows go and come back in steps"
    case foreignKeys = "Rows that a foreign key takes along are kept"
    case replaced =
      "A row that REPLACE displaces is kept, and one that an upsert changes is not deleted"
    case again = "A key that is used again belongs to the new row"
    case oneCollection = "Only what the model names is kept"
    case explained = "What the application deleted is explained as its doing"
    case approved = "An approved plan is one batch with its causes"
    case rejected = "A rejected plan brings back what the application deleted"
    case altered = "A column that was renamed since has its value again"
    case expired = "What is past its time is forgotten"

    package var testDescription: String { rawValue }
  }

  package func expect(_ claim: Claim) throws {
    switch claim {
    case .whole: try whole()
    case .alone: try alone()
    case .wide: try wide()
    case .many: try many()
    case .foreignKeys: try foreignKeys()
    case .replaced: try replaced()
    case .again: try again()
    case .oneCollection: try oneCollection()
    case .explained: try explained()
    case .approved: try approved()
    case .rejected: try rejected()
    case .altered: try altered()
    case .expired: try expired()
    }
  }

  private func store(_ keep: String = "keepDeleted: true", limit: Int = 1_000) throws -> ShelfStore
  {
    try ShelfStore(engine, keep, limit: limit)
  }

  private func whole() throws {
    let store = try store()
    let before = try store.dump()
    try store.bySQL("DELETE FROM shelf WHERE id = 1")
    let sweep = try store.sweep()
    #expect(sweep.deletedCount == 2 && sweep.byCollection == ["books": 2])
    let batch = try #require(try store.batches().last)
    #expect(batch.deletedCount == 3 && batch.byCollection == ["shelves": 1, "books": 2])
    let undone = try store.undo(batch.batch)
    #expect(undone.restored == 3 && undone.leftCount == 0 && undone.danglingCount == 0)
    #expect(try store.dump() == before)
    #expect(try store.sweep().outcome == .nothing)
  }

  private func alone() throws {
    let store = try store()
    let before = try store.dump()
    try store.bySQL("DELETE FROM book WHERE id = 12; DELETE FROM lamp")
    _ = try store.sweep()
    let batch = try #require(try store.batches().last)
    #expect(batch.byCollection == ["books": 1, "lamps": 1])
    #expect(try store.undo(batch.batch).restored == 2 && store.dump() == before)
  }

  private func wide() throws {
    let store = try store()
    try store.bySQL(
      """
      INSERT INTO wide VALUES(1, \((1...40).map { "'\($0) ''x'" }.joined(separator: ", "))), \
      (2, \((1...40).map { $0 % 2 == 0 ? "NULL" : "'\($0)'" }.joined(separator: ", ")))
      """)
    let before = try store.dump()
    try store.bySQL("DELETE FROM wide")
    _ = try store.sweep()
    #expect(try store.undo(#require(store.batches().last).batch).restored == 2)
    #expect(try store.dump() == before)
  }

  private func many() throws {
    let store = try store()
    try store.bySQL(
      "INSERT INTO shelf VALUES \((100..<700).map { "(\($0), 'n\($0)')" }.joined(separator: ", "))")
    try store.bySQL(
      "INSERT INTO book VALUES \((1_000..<1_600).map { "(\($0), \($0 - 900), 'b')" }.joined(separator: ", "))"
    )
    let before = try store.dump()
    store.inSteps(of: 20)
    try store.bySQL("DELETE FROM shelf WHERE id >= 100")
    #expect(try store.sweep().deletedCount == 600)
    let batch = try #require(try store.batches().last)
    #expect(batch.deletedCount == 1_200)
    #expect(try store.undo(batch.batch).restored == 1_200 && store.dump() == before)
  }

  private func foreignKeys() throws {
    let store = try store()
    let before = try store.dump()
    try store.bySQL("DELETE FROM owner WHERE id = 1", enforcing: true)
    #expect(try store.count("pet") == 1)
    _ = try store.sweep()
    let batch = try #require(try store.batches().last)
    #expect(batch.byCollection == ["owners": 1, "pets": 2])
    #expect(try store.undo(batch.batch).restored == 3 && store.dump() == before)
  }

  private func replaced() throws {
    let store = try store()
    try store.upsert("shelf", "3, 'third'", or: "name = 'other'")
    try store.upsert("shelf", "1, 'first'", or: "name = 'changed'")
    _ = try store.sweep()
    #expect(try store.batches().isEmpty)
    guard let replace = store.replace("INTO lamp VALUES(9, 'red')") else { return }
    try store.bySQL(replace)
    _ = try store.sweep()
    let batch = try #require(try store.batches().last)
    #expect(batch.byCollection == ["lamps": 1])
    try store.bySQL("DELETE FROM lamp WHERE id = 9")
    #expect(try store.undo(batch.batch).restored == 1)
    #expect(try store.texts("SELECT color FROM lamp WHERE id = 1") == ["red"])
  }

  private func again() throws {
    let store = try store()
    try store.bySQL("DELETE FROM lamp WHERE id = 1")
    try store.bySQL("INSERT INTO lamp VALUES(1, 'green')")
    _ = try store.sweep()
    let batch = try #require(try store.batches().last)
    let undone = try store.undo(batch.batch)
    #expect(undone.restored == 0 && undone.leftCount == 1)
    #expect(try store.texts("SELECT color FROM lamp") == ["green"])
    try store.bySQL("DELETE FROM lamp WHERE id = 1")
    #expect(try store.undo(batch.batch).restored == 1)
    #expect(try store.texts("SELECT color FROM lamp") == ["red"])
  }

  private func oneCollection() throws {
    let store = try store("")
    try store.bySQL("DELETE FROM lamp; DELETE FROM shelf WHERE id = 1")
    _ = try store.sweep()
    let batch = try #require(try store.batches().last)
    #expect(batch.byCollection == ["lamps": 1, "books": 2])
  }

  private func explained() throws {
    let store = try store()
    try store.bySQL("DELETE FROM shelf WHERE id = 1; DELETE FROM lamp")
    _ = try store.sweep()
    for (collection, key) in [("shelves", 1), ("books", 11), ("lamps", 1)] as [(String, Int64)] {
      let why = try store.why(collection, key)
      #expect(why?.cause == .sweep && why?.chain.last?.rule == nil, "\(collection)")
    }
    #expect(try store.why("books", 11)?.chain.map(\.node.collection) == ["books", "shelves"])
  }

  // MARK: - Plans

  private func approved() throws {
    let store = try store(limit: 1)
    let before = try store.dump()
    try store.bySQL("DELETE FROM shelf WHERE id = 1")
    let plan = try #require(try store.sweep().plan)
    #expect(try store.batches().isEmpty)
    try store.bySQL("DELETE FROM lamp")
    _ = try store.sweep()
    #expect(try store.batches().last?.byCollection == ["lamps": 1])
    #expect(try store.approve(plan) && store.sweep().deletedCount == 2)
    let batches = try store.batches()
    #expect(batches.count == 2 && batches.last?.byCollection == ["shelves": 1, "books": 2])
    for batch in batches { _ = try store.undo(batch.batch) }
    #expect(try store.dump() == before)
  }

  private func rejected() throws {
    let store = try store(limit: 1)
    let before = try store.dump()
    try store.bySQL("DELETE FROM shelf WHERE id = 1")
    let plan = try #require(try store.sweep().plan)
    for _ in 0..<2 {
      let answer = try store.reject(plan)
      #expect(answer?.restored == 1 && answer?.givenUp == 0)
    }
    #expect(try store.dump() == before)
    #expect(try store.sweep().outcome == .nothing && store.sweep([.dangling]).outcome == .nothing)
    try store.bySQL("DELETE FROM shelf WHERE id = 1")
    let again = try #require(try store.sweep().plan)
    #expect(try store.approve(again) && store.sweep().deletedCount == 2)
  }

  // MARK: - Later

  private func altered() throws {
    let store = try store()
    try store.bySQL("DELETE FROM lamp")
    try store.bySQL("ALTER TABLE lamp RENAME COLUMN color TO shade")
    _ = try store.sweep()
    #expect(try store.undo(#require(store.batches().last).batch).restored == 1)
    #expect(try store.texts("SELECT shade FROM lamp") == ["red"])
  }

  private func expired() throws {
    let store = try store()
    try store.bySQL("DELETE FROM lamp")
    _ = try store.sweep()
    let batch = try #require(try store.batches().last)
    store.now += 2 * 86_400_000
    _ = try store.sweep([.trash])
    #expect(throws: UndoUnavailable.self) { try store.undo(batch.batch) }
    try store.bySQL("INSERT INTO lamp VALUES(1, 'blue'); DELETE FROM lamp")
    _ = try store.sweep([.trash])
    _ = try store.sweep()
    #expect(try store.undo(#require(store.batches().last).batch).restored == 1)
  }
}

/// Shelves with books, which go with them; owners with pets, by a foreign key; lamps, which nothing refers to.
private final class ShelfStore {
  private let store: any StoreUnderTest
  private let enforcing: String
  private let isServer: Bool
  var now: Int64 = 1_800_000_000_000

  init(_ engine: any EngineUnderTest, _ keep: String, limit: Int) throws {
    enforcing = engine.enforcingForeignKeys
    isServer = engine.typeOfBytes == "bytea"
    let wide = (1...40).map { ", c\($0) TEXT" }.joined()
    store = try engine.makeStore(
      model: StoreModel(
        """
        { \(keep.isEmpty ? "" : "\(keep), ")collections: {
            shelves: { table: "shelf", key: "id" }, books: { table: "book", key: "id" },
            owners: { table: "owner", key: "id" }, pets: { table: "pet", key: "id" },
            lamps: { table: "lamp", key: "id", keepDeleted: true },
            wides: { table: "wide", key: "id" } },
          relationships: [
            { name: "shelf", from: "books", to: "shelves", column: "shelf",
              rules: ["deleteSourceIfDestinationDeleted"] }],
          limits: { hold: { deletes: \(limit), share: 0.01 } } }
        """),
      schema: """
        CREATE TABLE shelf(id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE book(id INTEGER PRIMARY KEY, shelf INTEGER, title TEXT);
        CREATE TABLE owner(id INTEGER PRIMARY KEY);
        CREATE TABLE pet(id INTEGER PRIMARY KEY, owner INTEGER REFERENCES owner(id) ON DELETE CASCADE);
        CREATE TABLE lamp(id INTEGER PRIMARY KEY, color TEXT UNIQUE);
        CREATE TABLE wide(id INTEGER PRIMARY KEY\(wide));
        CREATE INDEX book_shelf ON book(shelf); CREATE INDEX pet_owner ON pet(owner);
        INSERT INTO shelf VALUES(1, 'one'), (2, 'two');
        INSERT INTO book VALUES(11, 1, 'a'), (12, 1, 'b'), (21, 2, 'c');
        INSERT INTO owner VALUES(1), (2); INSERT INTO pet VALUES(1, 1), (2, 1), (3, 2);
        INSERT INTO lamp VALUES(1, 'red');
        """)
    _ = try store.writer.sweep([.all], at: now)
  }

  func inSteps(of rows: Int64) { store.sweepsInSteps(of: rows) }

  func sweep(_ kinds: [SweepKind] = [.cascade, .refcount]) throws -> SweepResult {
    try store.writer.sweep(kinds, at: now)
  }
  func approve(_ plan: Int64) throws -> Bool { try store.writer.approve(plan: plan) != nil }
  func reject(_ plan: Int64) throws -> RejectedPlan? {
    try store.writer.reject(plan: plan, at: now)
  }
  func undo(_ batch: Int64) throws -> UndoResult { try store.writer.undo(batch, by: "me", at: now) }
  func batches() throws -> [Batch] { try store.reader.batches(after: 0, limit: 10) }
  func why(_ collection: String, _ key: Int64) throws -> Why.Deletion? {
    let why = try store.reader.why(.node(Node(collection, .integer(key))), at: nil)
    return if case .deleted(let deletion) = why { deletion } else { nil }
  }

  // MARK: - The application

  func bySQL(_ sql: String, enforcing: Bool = false) throws {
    try store.bySQL(enforcing ? "\(self.enforcing); \(sql)" : sql)
  }

  func upsert(_ table: String, _ values: String, or change: String) throws {
    try bySQL("INSERT INTO \(table) VALUES(\(values)) ON CONFLICT(id) DO UPDATE SET \(change)")
  }

  /// Nil where the database has no such statement.
  func replace(_ rest: String) -> String? { isServer ? nil : "REPLACE \(rest)" }

  func texts(_ sql: String) throws -> [String] { try store.texts(sql) }
  func count(_ table: String) throws -> Int {
    try Int(texts("SELECT CAST(count(*) AS TEXT) FROM \(table)")[0])!
  }
  func dump() throws -> [String] { try store.dump().sorted() }
}
