internal import CascadeModel
internal import CascadeStore

/// Rows of music with references that nearly all rules follow, for random deletions.
enum RandomMusic {
  private static let count = 24

  static func keys(_ table: String, _ store: any StoreUnderTest) throws -> [String] {
    let key = table == "st" ? "song * 100 + tag" : "id"
    return try store.texts("SELECT CAST(\(key) AS TEXT) FROM \(table) ORDER BY \(key)")
  }

  static let tables = ["artist", "cover", "label", "song", "tag", "st"]

  static func store(
    _ engine: any EngineUnderTest, _ hold: String, _ rows: String
  ) throws -> any StoreUnderTest {
    let store = try engine.makeStore(
      model: StoreModel(
        """
        { limits: { hold: { \(hold) } },
          collections: { artists: { table: 'artist', key: 'id' }, covers: { table: 'cover', key: 'id' },
            labels: { table: 'label', key: 'id' }, songs: { table: 'song', key: 'id' },
            tags: { table: 'tag', key: 'id' } },
          relationships: [
            { name: 'artist', from: 'songs', to: 'artists', column: 'artist',
              rules: ['deleteSourceIfDestinationDeleted', 'deleteDestinationIfAllSourcesDeleted'] },
            { name: 'cover', from: 'songs', to: 'covers', column: 'cover',
              rules: ['deleteDestinationIfAllSourcesDeleted'] },
            { name: 'label', from: 'songs', to: 'labels', column: 'label',
              rules: ['deleteDestinationIfSourceDeleted'] },
            { name: 'of', from: 'covers', to: 'artists', column: 'artist',
              rules: ['nullifySourceIfDestinationDeleted'] },
            { name: 'by', from: 'artists', to: 'labels', column: 'label',
              rules: ['deleteSourceIfAllDestinationsDeleted'] },
            { name: 'tags', from: 'songs', to: 'tags',
              join: { table: 'st', source: 'song', destination: 'tag' }, toMany: true,
              rules: ['deleteDestinationIfAllSourcesDeleted'] }] }
        """),
      schema: """
        CREATE TABLE artist(id INTEGER PRIMARY KEY, label INTEGER);
        CREATE TABLE cover(id INTEGER PRIMARY KEY, artist INTEGER);
        CREATE TABLE label(id INTEGER PRIMARY KEY); CREATE TABLE tag(id INTEGER PRIMARY KEY);
        CREATE TABLE song(id INTEGER PRIMARY KEY, artist INTEGER, cover INTEGER, label INTEGER);
        CREATE TABLE st(song INTEGER, tag INTEGER);
        CREATE INDEX by_label ON artist(label); CREATE INDEX by_of ON cover(artist);
        CREATE INDEX by_artist ON song(artist); CREATE INDEX by_cover ON song(cover);
        CREATE INDEX of_label ON song(label); CREATE INDEX st_song ON st(song);
        CREATE INDEX st_tag ON st(tag);
        \(rows)
        """)
    _ = try store.writer.sweep([.all], at: 0)
    return store
  }

  static func insertions(_ random: inout Seeded) -> String {
    var rows = ""
    for id in 1...count {
      let ends = (1...6).map { _ in Int.random(in: 1...count, using: &random) }
      rows += """
        INSERT INTO label VALUES(\(id)); INSERT INTO tag VALUES(\(id));
        INSERT INTO artist VALUES(\(id), \(ends[0])); INSERT INTO cover VALUES(\(id), \(ends[1]));
        INSERT INTO song VALUES(\(id), \(ends[2]), \(ends[3]), \(ends[4]));
        INSERT INTO st VALUES(\(id), \(ends[5]));\n
        """
    }
    return rows
  }

  static func deletion(_ random: inout Seeded) -> String {
    let table = tables.randomElement(using: &random)!
    let id = Int.random(in: 1...count, using: &random)
    return "DELETE FROM \(table) WHERE \(table == "st" ? "song" : "id") = \(id)"
  }

  static func node(_ table: String, _ key: String) -> Node {
    Node("\(table)s", .integer(Int64(key)!))
  }

  static func deletion(_ table: String, _ key: String) -> String {
    "DELETE FROM \(table) WHERE id = \(key)"
  }
}

extension StoreUnderTest {
  /// Ends work behind so many steps, as a crash would. Nil if that happened.
  func stopping<T>(after steps: Int, _ work: (StepPolicy) throws -> T) throws -> T? {
    var count = 0
    let manners = StepPolicy { _ in
      count += 1
      if count == steps { throw CancellationError() }
    }
    do { return try work(manners) } catch is CancellationError {
      try reopen()
      return nil
    }
  }
}
