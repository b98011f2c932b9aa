import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteUndo
import SQLiteSweeps

/// A sweep may have to be made in parts, and is one batch all the same: what it tells of, `undo`
/// takes back.
@Suite("One sweep, one batch")
struct SweepBatchTests {
  private static let relationships = """
    relationships: [
      { name: "album", from: "songs", to: "albums", column: "album",
        rules: ["deleteSourceIfDestinationDeleted"] },
      { name: "tag", from: "songs", to: "tags", column: "tag",
        rules: ["deleteDestinationIfAllSourcesDeleted"] },
      { name: "about", from: "notes", to: "tags", column: "tag",
        rules: ["deleteSourceIfDestinationDeleted"] } ]
    """
  private static let schema = """
    CREATE TABLE album(id INTEGER PRIMARY KEY);
    CREATE TABLE song(id INTEGER PRIMARY KEY, album INTEGER, tag INTEGER);
    CREATE TABLE tag(id INTEGER PRIMARY KEY);
    CREATE TABLE note(id INTEGER PRIMARY KEY, tag INTEGER);
    INSERT INTO album VALUES(1), (9); INSERT INTO tag VALUES(1);
    INSERT INTO song VALUES(1, 1, 1); INSERT INTO note VALUES(1, 1);
    """

  private func store(roots: String = "", stepsOf rows: Int64?) throws -> TestStore {
    let model = """
      { collections: {
          albums: { table: "album", key: "id" }, songs: { table: "song", key: "id" },
          tags: { table: "tag", key: "id" }, notes: { table: "note", key: "id" } }, \(roots)
        \(SweepBatchTests.relationships) }
      """
    let store = try TestStore(model: StoreModel(model), schema: SweepBatchTests.schema)
    _ = try store.writer.sweep([.cascade, .refcount], at: 0)
    if let rows { store.sweepsInSteps(of: rows) }
    return store
  }

  private func expectOneBatch(_ store: TestStore, _ result: SweepResult, of count: Int) throws {
    #expect(result.deletedCount == count)
    let batches = try store.reader.batches(after: 0, limit: 10)
    #expect(batches.map(\.batch) == [result.batch] && batches.map(\.deletedCount) == [count])
    let undone = try store.writer.undo(#require(result.batch), by: "me", at: 9)
    #expect(undone.restored == count)
  }

  @Test("Where one kind has read further than the other", arguments: [nil, 1] as [Int64?])
  func uneven(rows: Int64?) throws {
    let store = try store(stepsOf: rows)
    try store.bySQL("DELETE FROM album WHERE id = 9")
    _ = try store.writer.sweep([.cascade], at: 1)
    try store.bySQL("DELETE FROM album")
    let result = try store.writer.sweep([.cascade, .refcount], at: 2)
    let chain = try store.deletion(of: "notes/1")?.chain.map(\.node.letters)
    #expect(chain == ["notes/1", "tags/1", "songs/1", "albums/1"])
    try expectOneBatch(store, result, of: 3)
  }

  /// The album refers to the photo by the same name, and only a look through whole tables lets it
  /// go.
  @Test("What waits for another kind is counted behind a look through whole tables")
  func silentHolder() throws {
    for orders in [[[.refcount, .dangling]], [[.refcount], [.dangling]]] as [[[SweepKind]]] {
      let store = try TestStore(
        model: StoreModel(
          """
          { collections: { photos: { table: 'photo', key: 'id' }, posts: { table: 'post', key: 'id' },
              albums: { table: 'album', key: 'id' }, owners: { table: 'owner', key: 'id' } },
            relationships: [
              { name: 'photo', from: 'posts', to: 'photos', column: 'photo',
                rules: ['deleteDestinationIfAllSourcesDeleted'] },
              { name: 'photo', from: 'albums', to: 'photos', column: 'photo',
                rules: ['nullifySourceIfDestinationDeleted'] },
              { name: 'owner', from: 'albums', to: 'owners', column: 'owner',
                rules: ['deleteSourceIfDestinationDeleted'] } ] }
          """),
        schema: """
          CREATE TABLE photo(id INTEGER PRIMARY KEY); CREATE TABLE owner(id INTEGER PRIMARY KEY);
          CREATE TABLE post(id INTEGER PRIMARY KEY, photo);
          CREATE TABLE album(id INTEGER PRIMARY KEY, photo, owner);
          INSERT INTO photo VALUES(1); INSERT INTO owner VALUES(1);
          INSERT INTO post VALUES(1, 1); INSERT INTO album VALUES(1, 1, 1);
          """)
      _ = try store.writer.sweep([.all], at: 0)
      try store.bySQL("BEGIN; DELETE FROM post; DELETE FROM owner; COMMIT")
      for kinds in orders + [[.all], [.all]] { _ = try store.writer.sweep(kinds, at: 1) }
      #expect(try store.texts("SELECT id FROM photo").isEmpty, "\(orders)")
    }
  }

  @Test("With what the roots do not reach", arguments: [nil, 1] as [Int64?])
  func roots(rows: Int64?) throws {
    let store = try store(roots: "roots: ['albums'],", stepsOf: rows)
    try store.bySQL("INSERT INTO tag VALUES(5); DELETE FROM album")
    try expectOneBatch(store, store.writer.sweep([.all], at: 2), of: 4)
  }

  @Test(
    "What the parts before did can be undone, where one cannot go on",
    arguments: [nil, 1] as [Int64?])
  func refused(rows: Int64?) throws {
    let store = try store(roots: "roots: ['albums'],", stepsOf: rows)
    try store.bySQL(
      """
      CREATE TRIGGER no BEFORE DELETE ON tag WHEN OLD.id = 5 BEGIN SELECT RAISE(ROLLBACK, 'no'); END;
      INSERT INTO tag VALUES(5); DELETE FROM album
      """)
    #expect(throws: RejectionWithRollback.self) { try store.writer.sweep([.all], at: 2) }
    let batch = try #require(try store.reader.batches(after: 0, limit: 10).first)
    #expect(try store.writer.undo(batch.batch, by: "me", at: 3).restored == batch.deletedCount)
    try store.bySQL("DROP TRIGGER no; INSERT INTO album VALUES(1)")
    #expect(try store.writer.sweep([.all], at: 4).deletedCount == 1)
  }

  @Test("What another kind does before a stopped one goes on is a batch of its own")
  func between() throws {
    let store = try store(roots: "roots: ['albums'],", stepsOf: 1)
    try store.bySQL("INSERT INTO tag VALUES(5), (6), (7)")
    _ = try? store.writer.sweep([.unreachable], at: 1, manners: .stopping(after: 4))
    let first = try #require(try store.meta("sweep.batch"))
    try store.bySQL("DELETE FROM album WHERE id = 1")
    try store.reopen()
    let second = try store.writer.sweep([.cascade, .refcount], at: 2)
    #expect(second.batch != first && second.deletedCount == 3)
    #expect(try store.writer.unfinishedSweep == [.unreachable])
    let gone = try store.writer.undo(first, by: "me", at: 3).restored
    #expect(try gone > 0 && store.texts("SELECT id FROM tag") == ["5", "6", "7"])
    #expect(try store.writer.sweep([.unreachable], at: 4).deletedCount == 3)
    #expect(try store.writer.unfinishedSweep == nil)
  }

  @Test("What is stopped and then held can be undone")
  func heldRest() throws {
    let store = try TestStore(
      model: StoreModel(
        """
        { collections: { a: { table: 'a', key: 'id' }, b: { table: 'b', key: 'id' } },
          relationships: [ { name: 'a', from: 'b', to: 'a', column: 'a',
            rules: ['deleteSourceIfDestinationDeleted'] } ],
          limits: { hold: { deletes: 3, share: 0.5 } } }
        """),
      schema: """
        CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(id INTEGER PRIMARY KEY, a INTEGER);
        INSERT INTO a VALUES(1), (2);
        INSERT INTO b VALUES(1, 1), (2, 1), (3, 1), (4, 2), (5, 2), (6, 2), (7, 2), (8, 2);
        """)
    _ = try store.writer.sweep([.all], at: 0)
    store.sweepsInSteps(of: 1)
    try store.bySQL("DELETE FROM a WHERE id = 1")
    _ = try? store.writer.sweep([.cascade], at: 1, manners: .stopping(after: 3))
    let batch = try #require(try store.meta("sweep.batch"))
    try store.bySQL("DELETE FROM a")
    try store.reopen()
    #expect(try store.writer.sweep([.cascade], at: 2).outcome == .held)
    #expect(try store.writer.undo(batch, by: "me", at: 3).restored > 0)
  }

  @Test("Killed behind its last step, it is at its end where nothing more is found")
  func behindTheLastStep() throws {
    let store = try store(stepsOf: 1)
    _ = try store.writer.sweep([.all], at: 0)
    try store.bySQL("INSERT INTO song VALUES(5, 77, NULL)")
    let batch = try #require(try store.writer.sweep([.dangling], at: 1).batch)
    try store.bySQL(
      "INSERT INTO cascade_meta VALUES('sweep.batch', \(batch)), ('sweep.kinds', 4)")
    try store.reopen()
    #expect(throws: StoreError.self) { try store.writer.undo(batch, by: "me", at: 2) }
    let kinds = try #require(try store.writer.unfinishedSweep)
    #expect(try store.writer.sweep(kinds, at: 3).outcome == .nothing)
    #expect(try store.writer.undo(batch, by: "me", at: 4).restored == 1)
  }

  /// The end of the daemon comes in each of the pauses.
  @Test("Stopped between two of them, the rest is done by what goes on, and is of its batch")
  func stopped() throws {
    for pause in 1...12 {
      let store = try store(roots: "roots: ['albums'],", stepsOf: 1)
      try store.bySQL("INSERT INTO tag VALUES(5); DELETE FROM album WHERE id = 9")
      _ = try store.writer.sweep([.cascade], at: 1)
      let before = try store.reader.batches(after: 0, limit: 10).filter { $0.deletedCount > 0 }
        .count
      try store.bySQL("DELETE FROM album")
      let manners = StepPolicy.stopping(after: pause)
      let result = try? store.writer.sweep([.all], at: 2, manners: manners)
      if let rest = try store.writer.unfinishedSweep {
        _ = try store.writer.sweep(rest, at: 3)
      } else if result == nil {
        #expect(try store.reader.batches(after: 0, limit: 10).isEmpty, "stopped at \(pause)")
        continue
      }
      let left = try store.texts(
        "SELECT id FROM song UNION SELECT id FROM tag UNION SELECT id FROM note")
      #expect(left.isEmpty, "stopped at \(pause)")
      #expect(try store.writer.unfinishedSweep == nil)
      let batches = try store.reader.batches(after: 0, limit: 10)
      #expect(batches.filter { $0.deletedCount > 0 }.count == before + 1, "stopped at \(pause)")
    }
  }
}
