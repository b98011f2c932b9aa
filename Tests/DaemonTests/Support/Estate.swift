import Glibc
import CascadeSQLite
import CascadeSystem

/// A store with edges and rows of every kind below some roots, and with files; for who sweeps it,
/// and what becomes of it.
///
/// An artist takes the albums along, those their songs, those their parts, and what is written
/// about a song its replies. A tag goes with its last song, a cover with its last album, and a pick
/// forgets songs that go. A ring is held by its artist alone, and by itself.
final class Estate {
  let store: TestStore
  private let roots: Int
  private var bystander: Subprocess?
  private var media: String { store.scratch.path("media") }

  init(roots: Int, albums: Int, more: String = #"sweeps: { trash: "@daily" }"#) throws {
    self.roots = roots
    store = try TestStore(schema: Estate.schema + Estate.rows(roots, albums), starts: false)
    let media = try Directory.openOrMake(store.scratch.path("media"))
    for root in 1...roots {
      for cover in 0..<(albums / 2) {
        try media.file(FileName("\(root)-\(cover)"), .createNew).writeAll([1])
      }
    }
    try Directory.openOrMake(store.spool).file("model.json", .createNew)
      .writeAll(Array(Estate.model(media.path, more).utf8))
    try store.start()
    try store.ctl("apply", "-", input: Estate.notes(roots))
    try store.ctl("sweep")
  }

  private static let schema = """
    PRAGMA journal_mode = WAL;
    CREATE TABLE artist(id INTEGER PRIMARY KEY);
    CREATE TABLE album(id TEXT PRIMARY KEY, artist INTEGER, cover TEXT);
    CREATE INDEX album_artist ON album(artist);
    CREATE INDEX album_cover ON album(cover);
    CREATE TABLE song(id INTEGER PRIMARY KEY, album TEXT, text TEXT);
    CREATE INDEX song_album ON song(album);
    CREATE TABLE part(song INTEGER, number INTEGER, PRIMARY KEY(song, number)) WITHOUT ROWID;
    CREATE TABLE tag(id TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE song_tag(song INTEGER, tag TEXT, PRIMARY KEY(song, tag));
    CREATE INDEX song_tag_tag ON song_tag(tag);
    CREATE TABLE pick(id INTEGER PRIMARY KEY, doc TEXT);
    CREATE TABLE ring(id INTEGER PRIMARY KEY, next INTEGER);
    CREATE INDEX ring_next ON ring(next);
    CREATE TABLE noise(id INTEGER PRIMARY KEY, text TEXT);
    """

  /// Album n has the songs from n * 10, of which the last is in the tag of the root only.
  private static func rows(_ roots: Int, _ albums: Int) -> String {
    """
    CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (
      VALUES(0) UNION ALL SELECT i + 1 FROM n LIMIT \(roots * albums * 10)) SELECT i FROM n;
    BEGIN;
    INSERT INTO artist SELECT i FROM n WHERE i BETWEEN 1 AND \(roots);
    INSERT INTO album SELECT 'a' || i, i / \(albums) + 1,
      (i / \(albums) + 1) || '-' || (i % \(albums) / 2) FROM n WHERE i < \(roots * albums);
    INSERT INTO album VALUES('kept', NULL, NULL);
    INSERT INTO song SELECT i, 'a' || (i / 10), 'text ' || i FROM n;
    INSERT INTO part SELECT i, 1 FROM n UNION ALL SELECT i, 2 FROM n WHERE i % 3 = 0;
    INSERT INTO tag SELECT 'r' || i FROM n WHERE i BETWEEN 1 AND \(roots);
    INSERT INTO tag SELECT 's' || i FROM n WHERE i % 20 = 0;
    INSERT INTO song_tag SELECT i, 's' || (i / 20 * 20) FROM n;
    INSERT INTO song_tag SELECT i, 'r' || (i / \(albums * 10) + 1) FROM n WHERE i % 10 = 9;
    INSERT INTO pick SELECT i, json_object('songs', json_array(i * 7, i * 11, i * 13))
      FROM n WHERE i < \(roots * albums * 10 / 13);
    INSERT INTO ring SELECT i, i / 50 * 50 + (i + 1) % 50 FROM n WHERE i < \(roots * 50);
    COMMIT;
    """
  }

  private static func model(_ media: String, _ more: String) -> String {
    """
    {
      collections: {
        artists: { table: "artist", key: "id" }, albums: { table: "album", key: "id" },
        songs: { table: "song", key: "id" }, parts: { table: "part", key: ["song", "number"] },
        tags: { table: "tag", key: "id" }, picks: { table: "pick", key: "id" },
        rings: { table: "ring", key: "id" }, notes: {},
      },
      relationships: [
        { name: "artist", from: "albums", to: "artists", column: "artist",
          rules: ["deleteSourceIfDestinationDeleted"] },
        { name: "cover", from: "albums", to: { files: "media" }, column: "cover",
          rules: ["deleteDestinationIfAllSourcesDeleted"] },
        { name: "album", from: "songs", to: "albums", column: "album",
          rules: ["deleteSourceIfDestinationDeleted"] },
        { name: "song", from: "parts", to: "songs", column: "song",
          rules: ["deleteSourceIfDestinationDeleted"] },
        { name: "tags", from: "songs", to: "tags", toMany: true,
          join: { table: "song_tag", source: "song", destination: "tag" },
          rules: ["deleteDestinationIfAllSourcesDeleted"] },
        { name: "picked", from: "picks", to: "songs", property: "doc.songs", toMany: true,
          rules: ["nullifySourceIfDestinationDeleted"] },
        { name: "next", from: "rings", to: "rings", column: "next" },
      ],
      files: { media: "\(media)" },
      roots: ["artists", "albums", "picks"],
      limits: { lock: "1ms", hold: { deletes: 1000000000 } },
      \(more),
    }
    """
  }

  /// Every root has a chain of notes below one of its songs, and one that all of the chain hold.
  private static func notes(_ roots: Int) -> String {
    func link(_ name: String, _ from: String, _ to: String, _ rule: String = "") -> String {
      let rules = rule.isEmpty ? "" : #""\#(rule)""#
      return
        #"{"link": {"name": "\#(name)", "from": \#(from), "to": \#(to), "rules": [\#(rules)]}}"#
    }
    var lines = [#"{"id": "notes"}"#]
    for root in 0..<roots {
      let shared = #"["notes", "shared \#(root)"]"#
      lines.append(#"{"put": \#(shared), "value": {"root": \#(root)}}"#)
      var last = #"["artists", \#(root + 1)]"#
      lines.append(link("wears", last, #"["rings", \#(root * 50)]"#))
      for number in 0..<30 {
        let note = #"["notes", "\#(root) \#(number)"]"#
        lines.append(#"{"put": \#(note), "value": {"number": \#(number)}}"#)
        lines.append(link("reply", last, note, "deleteDestinationIfSourceDeleted"))
        lines.append(link("shares", note, shared, "deleteDestinationIfAllSourcesDeleted"))
        last = note
      }
    }
    return lines.joined(separator: "\n")
  }

  // MARK: - What happens to it

  /// Another process writes, and deletes the last roots.
  func startBystander(writes: Int, roots count: Int) throws {
    let input = try FileDescriptor.open("/dev/null")
    let log = try FileDescriptor.open(store.scratch.path("bystander"), .append)
    let path = #filePath
    let tests = path.firstRange(of: "/DaemonTests/").map { path[..<$0.lowerBound] } ?? ""
    bystander = try Subprocess(
      ["/usr/bin/python3", "-B", "\(tests)/Soak/bystander.py", store.path, "\(writes)"]
        + (0..<count).map { "\(roots - $0)" },
      input: input, output: log, error: log)
  }

  func deleteRoot(_ number: Int) throws {
    try store.sql("DELETE FROM artist WHERE id = \(number)")
  }

  /// Returns when nothing is left to do.
  func finish() throws {
    if let bystander, bystander.wait() != .exit(0) {
      throw TooLate(description: (try? store.scratch.directory.text("bystander")) ?? "")
    }
    try store.waitUntil("nothing is left to sweep") {
      try store.ctl("sweep").output.hasPrefix("nothing")
    }
    try store.waitUntil("the files are moved") {
      try store.integers("SELECT count(*) FROM cascade_released_file") == [0]
    }
  }

  /// Brings back whatever sweeps deleted; not the edges of the artists, who do not come back.
  func undoAll() throws {
    let batches = try store.integers(
      "SELECT DISTINCT batch FROM cascade_trash_layout ORDER BY batch DESC")
    for batch in batches { try store.ctl("undo", "\(batch)") }
  }

  // MARK: - What is left of it

  /// Everything but the artists, whom nobody brings back, and what only the other process wrote.
  func belowRoots() throws -> [String] {
    let notes = "SELECT key, value FROM cascade_node WHERE value IS NOT NULL ORDER BY key;"
    return try rows() + lines(of: notes) + files("*", outside: true)
  }

  /// The application's own.
  func rows() throws -> [String] {
    let tables = [
      "album", "song WHERE id < 1000000", "part", "tag", "song_tag", "pick", "ring",
    ].map { "SELECT '\($0.prefix { $0 != " " })', * FROM \($0);" }
    return try lines(of: tables.joined())
  }

  func everything() throws -> [String] {
    let edges = """
      SELECT n.name, sc.name, s.key, dc.name, d.key, e.rules, e.origin FROM cascade_edge AS e
      JOIN cascade_name AS n ON n.id = e.name
      JOIN cascade_node AS s ON s.id = e.source JOIN cascade_collection AS sc ON sc.id = s.collection
      JOIN cascade_node AS d ON d.id = e.destination
      JOIN cascade_collection AS dc ON dc.id = d.collection ORDER BY 1, 2, 3, 4, 5;
      """
    let rest = "SELECT id FROM artist; SELECT id FROM song; SELECT count(*) FROM noise;"
    return try belowRoots() + lines(of: edges + rest) + files("*", outside: false)
  }

  private func lines(of sql: String) throws -> [String] {
    try store.sql(sql).split(separator: "\n").map(String.init).sorted()
  }

  /// Paths within the root, or within its trash, of whichever batch.
  private func files(_ name: String, outside: Bool) throws -> [String] {
    let found = try run(["/usr/bin/find", media, "-type", "f", "-printf", "%P\n"])
    let all = found.output.split(separator: "\n").map(String.init)
    let trash = ".cascade-trash/"
    let paths = all.filter { $0 != "\(trash)owner" }
    if outside { return paths.filter { !$0.hasPrefix(trash) }.sorted() }
    return paths.filter { $0.hasPrefix(trash) }.map { path in
      let kept = path.dropFirst(trash.count)
      return "trash\(kept.drop { $0 != "/" })"
    }.sorted()
  }
}
