import CascadeModel
import CascadeStore
import Testing

/// Why something went that was spared at first: the sweep that deletes it has no part in what began
/// it. An album goes with its artist, and a song with its album, by whichever rule.
package struct LaterDeletions {
  private let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  package enum Claim: String, CaseIterable, CustomTestStringConvertible {
    case goesOn = "The way goes on in the batch that deleted what it hung on"
    case goesOnByKinds = "So it does by sweeps of one kind after the other"
    case goesOnInSteps = "And by sweeps in steps"
    case namesTheFile = "It names the change file that began"
    case beginsAnew = "It ends at what was there again, and was deleted again"

    package var testDescription: String { rawValue }
  }

  /// How the song follows the album.
  package enum Way: CaseIterable, Sendable {
    case source, destination, lastSource, lastDestination

    /// Whether the song refers to the album.
    fileprivate var isReference: Bool { self == .source || self == .lastSource }

    fileprivate var relationship: (from: String, to: String, rule: String) {
      switch self {
      case .source: ("songs", "albums", "deleteSourceIfDestinationDeleted")
      case .destination: ("albums", "songs", "deleteDestinationIfSourceDeleted")
      case .lastSource: ("songs", "albums", "deleteSourceIfAllDestinationsDeleted")
      case .lastDestination: ("albums", "songs", "deleteDestinationIfAllSourcesDeleted")
      }
    }
  }

  package func expect(_ claim: Claim, _ way: Way) throws {
    let store = try store(way)
    switch claim {
    case .goesOn: try expectGoesOn(store, [LaterDeletions.usual])
    case .goesOnByKinds: try expectGoesOn(store, [[.cascade], [.refcount], [.cascade]])
    case .goesOnInSteps:
      store.sweepsInSteps(of: 1)
      try expectGoesOn(store, [LaterDeletions.usual])
    case .namesTheFile: try expectFile(store)
    case .beginsAnew: if way.isReference { try expectNewBeginning(store) }
    }
  }

  /// A search of whole tables finds references to nothing as if the deletion were seen then.
  private static let usual: [SweepKind] = [.cascade, .refcount]

  private func store(_ way: Way) throws -> any StoreUnderTest {
    let other = way.relationship
    let store = try engine.makeStore(
      model: StoreModel(
        """
        { collections: {
            artists: { table: 'artists', key: 'id' }, albums: { table: 'albums', key: 'id' },
            songs: { table: 'songs', key: 'id' }, notes: { table: 'notes', key: 'id' } },
          relationships: [
            { name: 'artist', from: 'albums', to: 'artists', column: 'artist',
              rules: ['deleteSourceIfDestinationDeleted'] },
            { name: 'other', from: '\(other.from)', to: '\(other.to)', column: 'other',
              rules: ['\(other.rule)'] },
            { name: 'about', from: 'notes', to: 'songs', column: 'song',
              rules: ['deleteSourceIfDestinationDeleted'] } ] }
        """),
      schema: """
        CREATE TABLE artists(id INTEGER PRIMARY KEY);
        CREATE TABLE albums(id INTEGER PRIMARY KEY, artist INTEGER, other INTEGER);
        CREATE TABLE songs(id INTEGER PRIMARY KEY, other INTEGER);
        CREATE TABLE notes(id INTEGER PRIMARY KEY, song INTEGER);
        INSERT INTO artists VALUES(1); INSERT INTO albums VALUES(1, 1, 1);
        INSERT INTO songs VALUES(1, 1); INSERT INTO notes VALUES(1, 1);
        """)
    _ = try store.writer.sweep([.all], at: 0)
    try store.lease("1", in: "songs", until: Int64(99_000_000_000))
    return store
  }

  private func expectGoesOn(_ store: any StoreUnderTest, _ sweeps: [[SweepKind]]) throws {
    try store.bySQL("DELETE FROM artists")
    for kinds in sweeps { _ = try store.writer.sweep(kinds, at: 1) }
    let first = try #require(try store.deletion(of: "albums/1"))
    try store.endLease()
    for kinds in sweeps { _ = try store.writer.sweep(kinds, at: 2) }
    let way = try store.way(of: "songs/1")
    #expect(way == "songs/1 albums/1 artists/1")
    #expect(try store.way(of: "notes/1") == "notes/1 songs/1 albums/1 artists/1")
    let deletion = try #require(try store.deletion(of: "songs/1"))
    #expect(deletion.batch > first.batch)
    #expect((deletion.chainStart?.batch, deletion.cause) == (first.batch, .sweep))
  }

  private func expectFile(_ store: any StoreUnderTest) throws {
    try store.apply([.delete(node("artists/1"))], id: "f")
    try store.endLease()
    _ = try store.writer.sweep(LaterDeletions.usual, at: 2)
    let deletion = try #require(try store.deletion(of: "notes/1"))
    #expect(try store.way(of: "notes/1") == "notes/1 songs/1 albums/1 artists/1")
    #expect((deletion.cause, deletion.chainStart?.id) == (.file, "f"))
    #expect(try store.deletion(of: "albums/1")?.chainStart == nil)
  }

  private func expectNewBeginning(_ store: any StoreUnderTest) throws {
    try store.bySQL("DELETE FROM artists")
    _ = try store.writer.sweep([.all], at: 1)
    try store.bySQL("INSERT INTO albums VALUES(1, NULL, 1)")
    _ = try store.writer.sweep([.all], at: 2)
    try store.bySQL("DELETE FROM albums")
    _ = try store.writer.sweep([.all], at: 3)
    try store.endLease()
    _ = try store.writer.sweep([.all], at: 4)
    let way = try store.way(of: "songs/1")
    #expect(way == "songs/1 albums/1")
  }
}

extension StoreUnderTest {
  fileprivate func endLease() throws {
    _ = try writer.release([.node(node("songs/1"))], owner: "test")
  }

  fileprivate func deletion(of letters: String) throws -> Why.Deletion? {
    if case .deleted(let deletion) = try reader.why(.node(node(letters))) {
      deletion
    } else {
      nil
    }
  }

  fileprivate func way(of letters: String) throws -> String? {
    try deletion(of: letters)?.chain.map { "\($0.node)" }.joined(separator: " ")
  }
}
