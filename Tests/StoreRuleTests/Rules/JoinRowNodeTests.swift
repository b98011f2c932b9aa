import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore
import Testing
import SQLiteSweeps

/// The rows of a join table may be nodes too, and several of them say the same edge.
@Suite("Join rows that are nodes")
struct JoinRowNodeTests {
  private let store: TestStore

  init() throws {
    store = try TestStore(
      model: StoreModel(
        """
        { collections: { songs: { table: 'song', key: 'id' }, photos: { table: 'photo', key: 'id' },
            uses: { table: 'use', key: 'id' }, books: { table: 'book', key: 'id' } },
          relationships: [
            { name: 'photos', from: 'songs', to: 'photos', toMany: true,
              join: { table: 'use', source: 'song', destination: 'photo' },
              rules: ['deleteDestinationIfSourceDeleted'] },
            { name: 'book', from: 'uses', to: 'books', column: 'book',
              rules: ['deleteSourceIfDestinationDeleted'] } ] }
        """),
      schema: """
        CREATE TABLE song(id INTEGER PRIMARY KEY); CREATE TABLE photo(id INTEGER PRIMARY KEY);
        CREATE TABLE book(id INTEGER PRIMARY KEY);
        CREATE TABLE use(id INTEGER PRIMARY KEY, song INTEGER, photo INTEGER, book INTEGER);
        CREATE INDEX use_song ON use(song); CREATE INDEX use_photo ON use(photo);
        CREATE INDEX use_book ON use(book);
        INSERT INTO song VALUES(1), (2); INSERT INTO photo VALUES(1), (2); INSERT INTO book VALUES(1);
        INSERT INTO use VALUES(1, 1, 1, 1), (2, 1, 1, NULL), (3, 1, 2, 1), (4, 1, 2, 1), (5, 2, 2, 1);
        """)
    _ = try store.writer.sweep([.all], at: 0)
  }

  private func photos() throws -> [String] { try store.texts("SELECT id FROM photo ORDER BY id") }

  @Test("Where one of two goes, the edge stays, and so does what it leads to")
  func oneOfTwo() throws {
    try store.apply([.delete(node("uses/1"))])
    #expect(try photos() == ["1", "2"])
    try store.apply([.delete(node("uses/2"))])
    #expect(try photos() == ["2"])
    try store.apply([.delete(node("uses/3")), .delete(node("uses/4"))])
    #expect(try photos() == [])
  }

  @Test("The same where they follow something else", arguments: [false, true])
  func following(bySweep: Bool) throws {
    if bySweep {
      try store.bySQL("DELETE FROM book")
      _ = try store.writer.sweep([.cascade, .refcount], at: 1)
    } else {
      try store.apply([.delete(node("books/1"))])
    }
    #expect(try photos() == ["1"])
    #expect(try store.texts("SELECT id FROM use") == ["2"])
  }

  @Test("Rule 64 removes the row, whether a file or a sweep deletes what it leads to")
  func nullified() throws {
    for bySweep in [false, true] {
      let store = try TestStore(
        model: StoreModel(
          """
          { collections: { songs: { table: 'song', key: 'id' }, photos: { table: 'photo', key: 'id' },
              uses: { table: 'use', key: 'id' } },
            relationships: [
              { name: 'photos', from: 'songs', to: 'photos', toMany: true,
                join: { table: 'use', source: 'song', destination: 'photo' },
                rules: ['nullifySourceIfDestinationDeleted'] } ] }
          """),
        schema: """
          CREATE TABLE song(id INTEGER PRIMARY KEY); CREATE TABLE photo(id INTEGER PRIMARY KEY);
          CREATE TABLE use(id INTEGER PRIMARY KEY, song INTEGER, photo INTEGER);
          INSERT INTO song VALUES(1); INSERT INTO photo VALUES(1), (2);
          INSERT INTO use VALUES(1, 1, 1), (2, 1, 2);
          """)
      _ = try store.writer.sweep([.all], at: 0)
      if bySweep {
        try store.bySQL("DELETE FROM photo WHERE id = 1")
        #expect(try store.writer.sweep([.all], at: 1).outcome == .done)
      } else {
        try store.apply([.delete(node("photos/1"))])
      }
      #expect(try store.texts("SELECT id FROM use") == ["2"])
    }
  }

  @Test("by SQL")
  func bySQL() throws {
    try store.bySQL("DELETE FROM use WHERE id IN (1, 3)")
    _ = try store.writer.sweep([.cascade, .refcount], at: 1)
    #expect(try photos() == ["1", "2"])
  }
}
