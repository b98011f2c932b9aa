import CascadeModel
import CascadePostgres
import CascadeStore
import PostgresStore
import PostgresSupport
import StoreDefinition
import Testing

/// What the next version finds.
@Suite("An upgrade of Cascade's schema", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct SchemaUpgradeTests {
  /// The tables as version 4 had them, apart from what is new.
  private static let downgrade = """
    DROP TABLE cascade.recent_deletion; DROP TABLE cascade.held_cause; DROP TABLE cascade.given_up; DROP TABLE cascade.rejected_plan;
    DROP TABLE cascade.went; ALTER TABLE cascade.deleted DROP COLUMN level, DROP COLUMN place;
    ALTER TABLE cascade.journal DROP COLUMN plan, DROP COLUMN is_manual, DROP COLUMN row, DROP COLUMN shape;
    ALTER TABLE cascade.work DROP COLUMN plan, DROP COLUMN is_manual;
    ALTER TABLE cascade.notice DROP COLUMN is_manual;
    ALTER TABLE cascade.ledger DROP COLUMN origin;
    ALTER TABLE cascade.file DROP COLUMN plan, DROP COLUMN is_own;
    ALTER TABLE cascade.plan DROP COLUMN owns_causes, DROP COLUMN is_of_sum, DROP COLUMN at;
    UPDATE cascade.meta SET value = 4 WHERE key = 'version';
    """

  private func store(_ plan: String) throws -> PostgresFixture {
    let store = try Music.store("limits: { hold: { deletes: 2, share: 0.1 } }", lenient: false)
    try store.bySQL("DELETE FROM artist WHERE id = 'anna'")
    try store.database.session(as: "postgres").execute(Self.downgrade + plan)
    try store.reopen()
    return store
  }

  private static let plan = """
    INSERT INTO cascade.plan(file, id, checksum, deleted, by_collection)
    VALUES('/cascade refcount', '', 7, 6, '{"songs":4,"albums":2}');
    """

  @Test("What waited with a plan waits with it, under its number")
  func waits() throws {
    let store = try store(Self.plan)
    #expect(try store.sweep().outcome == .nothing)
    #expect(try store.writer.heldSweeps.map(\.plan) == [1])
    #expect(try store.writer.rescanReason == nil)
    try store.bySQL("DELETE FROM album WHERE id = 'b1'")
    #expect(try store.sweep().deletedCount > 0)
    #expect(try store.writer.approve(plan: 1) == .sweep([.cascade, .refcount]))
    #expect(try store.sweep().byCollection["albums"] == 2)
    #expect(try store.writer.heldSweeps.isEmpty)
  }

  @Test("What was approved is held anew, since nothing tells what that was for")
  func approved() throws {
    let store = try store(Self.plan + "UPDATE cascade.plan SET is_approved = true;")
    #expect(try store.sweep().outcome == .held)
    #expect(try store.writer.heldSweeps.map(\.heldCount) == [6])
  }

  /// Of a later version, which has another table in place of one.
  private static let later = """
    ALTER TABLE cascade.file RENAME TO novel; UPDATE cascade.meta SET value = 99 WHERE key = 'version'
    """
  private static let older = "UPDATE cascade.meta SET value = 3 WHERE key = 'version'"

  /// How often rows were written or removed, and what the catalog has.
  private func state(_ store: PostgresFixture) throws -> [String] {
    try store.texts(
      """
      SELECT xmin || ' ' || key || ' ' || value FROM cascade.meta UNION ALL
      SELECT oid || ' ' || xmin FROM pg_class WHERE relnamespace = 'cascade'::regnamespace UNION ALL
      SELECT oid || ' ' || xmin FROM pg_trigger ORDER BY 1
      """)
  }

  @Test(
    "A layout that cannot be taken over is left as it is, with what to do",
    arguments: [true, false])
  func refused(isLater: Bool) throws {
    let store = try Music.store()
    try store.database.session(as: "postgres").execute(isLater ? Self.later : Self.older)
    store.close()
    let before = try state(store)
    #expect {
      try store.reopen()
    } throws: {
      "\($0)".hasPrefix("\(isLater ? "a newer" : "an older") version of Cascade made the tables")
        && "\($0)".contains("`cascaded-postgres --detach --model FILE`")
    }
    #expect(try state(store) == before)
  }

  @Test("Any layout can be detached", arguments: [true, false])
  func detached(isLater: Bool) throws {
    let store = try Music.store()
    try store.database.session(as: "postgres").execute(isLater ? Self.later : Self.older)
    store.close()
    _ = try PostgresEngine().detach(store.database.location)
    #expect(
      try store.texts(
        "SELECT nspname FROM pg_namespace WHERE nspname = 'cascade' UNION ALL "
          + "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal") == [])
  }
}
