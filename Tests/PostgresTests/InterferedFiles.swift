import CascadeModel
import CascadePostgres
import CascadeStore
import CascadeSystem
import PostgresStore
import PostgresSupport
import StoreDefinition
import TestSupport
import Testing

/// Three sessions that name files at random, in a column and in a list, while the daemon sweeps, moves
/// files, and adds and removes stored edges to them. In the end each file that something names is in its
/// place, and no other.
@Suite(
  "Sessions that name files during sweeps on PostgreSQL",
  .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct InterferedFiles {
  private static let seeds: UInt64 = Histories.isLong ? 60 : 2
  private static let paths = (0..<5).map { "p\($0).jpg" }
  private static let albums = (0..<4).map { "n\($0)" }

  @Test("Files that are named are in their place, and no others")
  func sessions() throws {
    for seed in 0..<InterferedFiles.seeds {
      var random = Seeded(seed)
      let covers = try Self.covers()
      try Self.run(covers, &random)
      let rows = "SELECT cover FROM album UNION SELECT unnest(paths) FROM album"
      let named = try covers.store.texts(rows) + linked(covers)
      let there = Set(Self.paths.filter { covers.text($0) != nil })
      #expect(there == Set(named).intersection(Self.paths), "seed \(seed)")
    }
  }

  private func linked(_ covers: Covers) throws -> [String] {
    let number = try covers.store.texts("SELECT number FROM cascade.relation WHERE name = 'extra'")
    return try covers.store.texts("SELECT path FROM cascade.files_\(number[0])")
  }

  private static func covers() throws -> Covers {
    let covers = try Covers(
      schema: """
        ALTER TABLE album ADD paths text[]; CREATE INDEX ON album USING gin (paths);
        UPDATE album SET cover = NULL;
        """,
      relationships: """
        { name: "list", from: "albums", to: { files: "media" }, property: "paths", toMany: true,
          rules: ["deleteDestinationIfSourceDeleted"] },
        { name: "extra", from: "albums", to: { files: "media" }, toMany: true,
          rules: ["deleteDestinationIfAllSourcesDeleted"] },
        """)
    // Each has lost an edge at least once.
    for path in paths {
      try covers.write(path)
      try covers.store.bySQL("INSERT INTO album VALUES('\(path)', 'bob', '\(path)')")
    }
    try covers.store.bySQL("DELETE FROM album WHERE id LIKE 'p%'")
    return covers
  }

  private static func run(_ covers: Covers, _ random: inout Seeded) throws {
    let ended = (0..<3).map { _ in Flag() }
    let seeds = ended.map { _ in random.next() }
    let (database, root) = (covers.store.database, covers.root.path)
    func work(_ index: Int) -> BackgroundWork {
      let (flag, seed) = (ended[index], seeds[index])
      return BackgroundWork {
        defer { flag.set() }
        do { try write(database, root, seed) } catch { Issue.record(error) }
      }!
    }
    let first = work(0)
    let second = work(1)
    let third = work(2)
    while !ended.allSatisfy(\.isSet) {
      try link(covers, &random)
      try covers.store.sweep()
      try covers.tend()
    }
    _ = consume first
    _ = consume second
    _ = consume third
    for _ in 0..<100 where try covers.store.writer.hasJournal { try covers.store.sweep() }
    // One that was written when it had lost its edges is left alone for a while.
    try covers.settle(after: 3_600_000)
  }

  /// The file is written when the transaction names it already.
  private static func write(_ database: Database, _ root: String, _ seed: UInt64) throws {
    var random = Seeded(seed)
    let session = try database.session()
    let directory = try Directory.open(root)
    for _ in 0..<25 {
      let album = albums.randomElement(using: &random)!
      let path = paths.randomElement(using: &random)!
      let statement = [
        "DELETE FROM album WHERE id = '\(album)'",
        "INSERT INTO album VALUES('\(album)', 'bob', '\(path)') "
          + "ON CONFLICT(id) DO UPDATE SET cover = excluded.cover",
        "UPDATE album SET paths = ARRAY['\(path)'] WHERE id = '\(album)'",
        "UPDATE album SET cover = NULL WHERE id = '\(album)'",
      ].randomElement(using: &random)!
      try session.execute("BEGIN")
      let isNamed = try !session.run("\(statement) RETURNING 1").isEmpty && statement.contains(path)
      if isNamed && directory.text(path) == nil { try? directory.write([path]) }
      try session.execute("SELECT pg_sleep(0.002); COMMIT")
    }
  }

  private static func link(_ covers: Covers, _ random: inout Seeded) throws {
    let album = Node("albums", .text(albums.randomElement(using: &random)!))
    let path = paths.randomElement(using: &random)!
    let file = Destination.file(root: "media", path: path)
    let change: Change =
      Bool.random(using: &random)
      ? .link(name: "extra", from: album, to: file, rules: nil)
      : .unlink(name: "extra", from: album, to: file, as: .sourceDeleted)
    if covers.text(path) == nil { return }
    try covers.store.apply([change])
  }
}
