import CascadeModel
import CascadePostgres
import CascadeStore
import PostgresStore
import PostgresSupport
import StoreDefinition
import Testing

/// The rows of a join table may be nodes too, and several of them say the same edge.
@Suite(
  "Join rows that are nodes on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct JoinNodeTests {
  private static let schema = """
    CREATE TABLE song(id int PRIMARY KEY); CREATE TABLE photo(id int PRIMARY KEY);
    CREATE TABLE book(id int PRIMARY KEY);
    CREATE TABLE use(id int PRIMARY KEY, song int, photo int, book int);
    CREATE INDEX ON use(song); CREATE INDEX ON use(photo); CREATE INDEX ON use(book);
    INSERT INTO song VALUES(1), (2); INSERT INTO photo VALUES(1), (2); INSERT INTO book VALUES(1);
    INSERT INTO use VALUES(1, 1, 1, 1), (2, 1, 1, NULL), (3, 1, 2, 1), (4, 1, 2, 1), (5, 2, 2, 1);
    """

  private static func store(
    _ rules: String = "deleteDestinationIfSourceDeleted", schema: String = "", more: String = ""
  ) throws -> PostgresFixture {
    let store = try PostgresFixture(
      """
      { collections: { songs: { table: 'song', key: 'id' }, photos: { table: 'photo', key: 'id' },
          uses: { table: 'use', key: 'id' }, books: { table: 'book', key: 'id' } },
        relationships: [
          { name: 'photos', from: 'songs', to: 'photos', toMany: true \(more),
            join: { table: 'use', source: 'song', destination: 'photo' }, rules: ['\(rules)'] },
          { name: 'book', from: 'uses', to: 'books', column: 'book',
            rules: ['deleteSourceIfDestinationDeleted'] } ] }
      """, schema: JoinNodeTests.schema + schema)
    try store.sweep([.all])
    return store
  }

  private static func node(_ collection: String, _ key: Int64) -> Node {
    Node(collection, .integer(key))
  }

  private static func ids(_ store: PostgresFixture, _ table: String) throws -> [String] {
    try store.texts("SELECT id FROM \(table) ORDER BY id")
  }

  /// A book takes uses along, and then the photo to which they led.
  @Test("A step ends that notes as many edges as a step may have", .timeLimit(.minutes(1)))
  func edgesOfOneStep() throws {
    let store = try PostgresFixture(
      """
      { collections: { songs: { table: 'song', key: 'id' }, photos: { table: 'photo', key: 'id' },
          uses: { table: 'use', key: 'id' }, books: { table: 'book', key: 'id' } },
        relationships: [
          { name: 'photos', from: 'songs', to: 'photos', toMany: true,
            join: { table: 'use', source: 'song', destination: 'photo' },
            rules: ['notifyIfDestinationDeleted'] },
          { name: 'book', from: 'uses', to: 'books', column: 'book',
            rules: ['deleteSourceIfDestinationDeleted'] },
          { name: 'book', from: 'photos', to: 'books', column: 'book',
            rules: ['deleteSourceIfDestinationDeleted'] } ] }
      """, schema: Self.schema + "ALTER TABLE photo ADD book int; UPDATE photo SET book = id;")
    try store.sweep([.all])
    try store.bySQL("DELETE FROM book")
    #expect(try store.withSteps(of: 1) { try store.sweep([.all]).notices } == 1)
    #expect(try Self.ids(store, "use") == [])
  }

  @Test("Where one of two goes, the edge stays, and so does what it leads to")
  func oneOfTwo() throws {
    let store = try Self.store()
    #expect(try store.reader.checkSetup().isEmpty)
    // Of its edge to a book.
    #expect(try store.apply([.delete(Self.node("uses", 1))]).edgesRemoved == 1)
    #expect(try Self.ids(store, "photo") == ["1", "2"])
    let receipt = try store.apply([.delete(Self.node("uses", 2))])
    #expect(receipt.edgesRemoved == 1)
    #expect(try Self.ids(store, "photo") == ["2"])
    try store.apply([.delete(Self.node("uses", 3)), .delete(Self.node("uses", 4))])
    #expect(try Self.ids(store, "photo") == [])
    // What the deletion of the last photo took along.
    #expect(try Self.ids(store, "use") == [])
  }

  @Test("The same where they follow something else", arguments: [false, true])
  func following(bySweep: Bool) throws {
    let store = try Self.store()
    if bySweep {
      try store.bySQL("DELETE FROM book")
      try store.sweep()
    } else {
      try store.apply([.delete(Self.node("books", 1))])
    }
    #expect(try Self.ids(store, "photo") == ["1"])
    #expect(try Self.ids(store, "use") == ["2"])
    #expect(try !store.hasWork && store.journalIsEmpty)
  }

  @Test("The same by SQL")
  func bySQL() throws {
    let store = try Self.store()
    try store.bySQL("DELETE FROM use WHERE id IN (1, 3)")
    try store.sweep()
    #expect(try Self.ids(store, "photo") == ["1", "2"])
  }

  @Test("They go with either end, take along what they alone led to, and come back with an undo")
  func ends() throws {
    for table in ["song", "photo"] {
      let store = try Self.store()
      try store.bySQL("DELETE FROM \(table) WHERE id = 2")
      let result = try store.sweep()
      #expect(try Self.ids(store, "use") == (table == "song" ? ["1", "2"] : ["1", "2"]))
      #expect(try Self.ids(store, "photo") == ["1"])
      try store.bySQL("INSERT INTO \(table) VALUES(2)")
      let undone = try store.writer.undo(#require(result.batch), by: "me", at: 5)
      #expect(undone.left.isEmpty)
      #expect(try Self.ids(store, "use") == ["1", "2", "3", "4", "5"])
      #expect(try Self.ids(store, "photo") == ["1", "2"])
    }
  }

  @Test(
    "Whoever deletes the row and what it leads to has removed the edge: nothing follows at its source",
    arguments: [
      "deleteSourceIfDestinationDeleted", "deleteSourceIfAllDestinationsDeleted",
      "notifyIfDestinationDeleted", "denyDestinationDeletion",
    ], [false, true])
  func bothEnds(rule: String, rowFirst: Bool) throws {
    let store = try Self.store(rule)
    try store.bySQL("DELETE FROM use WHERE id > 1")
    try store.sweep()
    let both = [Change.delete(Self.node("uses", 1)), .delete(Self.node("photos", 1))]
    #expect(try store.apply(rowFirst ? both : both.reversed()).deletedCount == 2)
    #expect(try Self.ids(store, "song") == ["1", "2"])
    #expect(try store.reader.notices(after: 0, limit: 9).isEmpty)
  }

  @Test("An edge whose row goes with something else has lost a destination that goes, too")
  func goesWithBoth() throws {
    for order in ["photo, book", "book, photo"] {
      let store = try Self.store("deleteSourceIfDestinationDeleted")
      try store.bySQL(
        order.split(separator: ", ").map { "DELETE FROM \($0) WHERE id = 1;" }.joined())
      try store.sweep()
      #expect(try Self.ids(store, "song") == ["2"])
      #expect(try Self.ids(store, "use") == [])
    }
  }

  @Test("A row with a lease stays, and so does what it leads to, until the lease ends")
  func leased() throws {
    let store = try Self.store()
    _ = try store.texts(
      "INSERT INTO cascade.lease(collection, key, owner) VALUES('uses', '5', 'me')")
    try store.bySQL("DELETE FROM song WHERE id = 2")
    try store.sweep()
    #expect(try Self.ids(store, "photo") == ["1", "2"])
    try store.bySQL("DELETE FROM use WHERE id IN (3, 4)")
    #expect(try Self.ids(store, "use") == ["1", "2", "5"])
    _ = try store.texts("DELETE FROM cascade.lease")
    try store.sweep()
    #expect(try Self.ids(store, "photo") == ["1"])
  }

  @Test("Bounds count the edges of rows that a change file puts and deletes")
  func bounds() throws {
    let store = try Self.store("notifyIfSourceDeleted", more: ", min: 1, max: 2, optional: false")
    func put(_ id: Int64, _ song: Int64, _ photo: Int64) -> Change {
      .put(
        Self.node("uses", id), type: nil,
        value: JSONText(valid: "{\"song\": \(song), \"photo\": \(photo)}"), edges: nil)
    }
    let more = try store.apply([.put(Self.node("photos", 3), type: nil, value: nil, edges: nil)])
    #expect(more.outcome == .applied)
    #expect(throws: Rejection.self) { try store.apply([put(6, 1, 3)]) }
    #expect(try store.apply([put(6, 2, 3)]).edgesAdded == 1)
    #expect(try store.apply([.delete(Self.node("uses", 6))]).outcome == .applied)
    #expect(throws: Rejection.self) { try store.apply([.delete(Self.node("uses", 5))]) }
  }
}
