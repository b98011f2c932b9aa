import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteSweeps

/// Why something went that was spared at first: the sweep that deletes it has no part in what began
/// it. An album goes with its artist, and a song with its album, by whichever rule.
@Suite("Why, of what was spared")
struct WhyLeaseTests {
  typealias Way = (rule: Rules, source: String, destination: String)

  static let ways: [Way] = [
    (4, "songs", "albums"), (8, "albums", "songs"), (16, "songs", "albums"),
    (32, "albums", "songs"),
  ]

  private func store(_ way: Way) throws -> TestStore {
    let model = """
      { collections: {
          artists: { table: 'artists', key: 'id' }, albums: { table: 'albums', key: 'id' },
          songs: { table: 'songs', key: 'id' }, notes: { table: 'notes', key: 'id' } },
        relationships: [
          { name: 'artist', from: 'albums', to: 'artists', column: 'artist',
            rules: ['deleteSourceIfDestinationDeleted'] },
          { name: 'other', from: '\(way.source)', to: '\(way.destination)', column: 'other',
            rules: ['\(way.rule.names[0])'] },
          { name: 'about', from: 'notes', to: 'songs', column: 'song',
            rules: ['deleteSourceIfDestinationDeleted'] } ] }
      """
    let store = try TestStore(
      model: StoreModel(model),
      schema: """
        CREATE TABLE artists(id INTEGER PRIMARY KEY);
        CREATE TABLE albums(id INTEGER PRIMARY KEY, artist INTEGER, other INTEGER);
        CREATE TABLE songs(id INTEGER PRIMARY KEY, other INTEGER);
        CREATE TABLE notes(id INTEGER PRIMARY KEY, song INTEGER);
        INSERT INTO artists VALUES(1); INSERT INTO albums VALUES(1, 1, 1);
        INSERT INTO songs VALUES(1, 1); INSERT INTO notes VALUES(1, 1);
        """)
    _ = try store.writer.sweep([.all], at: 0)
    try store.lease("1", in: "songs", until: 1_000)
    return store
  }

  @Test(
    "Its chain goes on in the batch that deleted what it hung on",
    arguments: ways, [[[.all]], [[.cascade], [.refcount], [.cascade]]] as [[[SweepKind]]])
  func bySQL(_ way: Way, sweeps: [[SweepKind]]) throws {
    for isStepped in [false, true] {
      let store = try store(way)
      if isStepped { store.sweepsInSteps(of: 1) }
      try store.bySQL("DELETE FROM artists")
      for kinds in sweeps { _ = try store.writer.sweep(kinds, at: 1) }
      let first = try #require(try store.deletion(of: "albums/1"))
      for kinds in sweeps { _ = try store.writer.sweep(kinds, at: 1_000_000) }
      #expect(try store.chain(of: "songs/1") == "songs/1 albums/1 artists/1")
      #expect(try store.chain(of: "notes/1") == "notes/1 songs/1 albums/1 artists/1")
      let deletion = try #require(try store.deletion(of: "songs/1"))
      #expect(deletion.batch > first.batch)
      #expect((deletion.chainStart?.batch, deletion.cause) == (first.batch, .sweep))
    }
  }

  @Test("And names the change file that began it", arguments: ways)
  func byFile(_ way: Way) throws {
    let store = try store(way)
    try store.apply([.delete(node("artists/1"))], id: "f")
    _ = try store.writer.sweep([.all], at: 1_000_000)
    let deletion = try #require(try store.deletion(of: "notes/1"))
    #expect(try store.chain(of: "notes/1") == "notes/1 songs/1 albums/1 artists/1")
    #expect(deletion.cause == .file)
    #expect(deletion.chainStart?.id == "f")
    #expect(try store.deletion(of: "albums/1")?.chainStart == nil)
  }

  @Test("But not where that was there again, and was deleted again", arguments: ways)
  func again(_ way: Way) throws {
    let store = try store(way)
    try store.bySQL("DELETE FROM artists")
    _ = try store.writer.sweep([.all], at: 1)
    try store.bySQL("INSERT INTO albums VALUES(1, NULL, 1)")
    _ = try store.writer.sweep([.all], at: 2)
    try store.bySQL("DELETE FROM albums")
    _ = try store.writer.sweep([.all], at: 3)
    _ = try store.writer.sweep([.all], at: 1_000_000)
    #expect(try store.chain(of: "songs/1") == "songs/1 albums/1")
  }
}
