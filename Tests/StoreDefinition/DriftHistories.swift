import CascadeModel
import CascadeStore
import TestSupport
import Testing

/// Random histories in which the schema changes between the transactions of an application, the sweeps and
/// the undos. Every value names its column and its row, so that one in another column is seen.
package struct DriftHistories {
  private let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  package static let parts: UInt64 = 2

  package func compare(_ part: UInt64) throws {
    let seeds = Histories.seeds(quick: 20, long: 10_000)
    for seed in seeds where seed % DriftHistories.parts == part {
      let world = try DriftWorld(engine, seed)
      guard let problem = world.problem() else { continue }
      Issue.record("seed \(seed): \(problem)\n\(world.log.joined(separator: "\n"))")
      return
    }
  }
}

/// A store beside what must be in it.
private final class DriftWorld {
  private let store: any StoreUnderTest
  private let files: TendedFiles
  /// Of songs that an application has deleted, until a sweep has seen it.
  private var lostFiles: [String] = []
  private var random: Seeded
  private var song = DriftedTable()
  private var rows = DriftedRows()
  private var batches: [KeptBatch] = []
  private var changes: [Change] = []
  private var reference = Reference()
  /// What was there when the database was copied.
  private var backup: State?
  /// The model is no part of a backup.
  private var names = DriftedNames()
  private(set) var log: [String] = []
  private var lastRow = 0

  /// What must be there, as of now.
  private typealias State = (
    song: DriftedTable, rows: DriftedRows, batches: [KeptBatch], changes: [Change],
    reference: Reference
  )
  private var state: State {
    get { (song, rows, batches, changes, reference) }
    set { (song, rows, batches, changes, reference) = newValue }
  }

  init(_ engine: any EngineUnderTest, _ seed: UInt64) throws {
    random = Seeded(seed)
    files = try TendedFiles()
    try files.write("media/other")
    store = try engine.makeStore(
      model: StoreModel(DriftedRows.model(names, files.scratch.path("media"))),
      schema: DriftedRows.schema)
    _ = try store.writer.sweep([.all], at: 1)
    try files.tend(store)
    reference.inRows = ["album/songs/albums"]
  }

  func problem() -> String? {
    do {
      for _ in 0..<16 {
        if let problem = try step() { return problem }
      }
      return nil
    } catch {
      return "\(error)"
    }
  }

  private func chance(_ share: Int) -> Bool { Int.random(in: 0..<100, using: &random) < share }
  private func key() -> Int { Int.random(in: 1...4, using: &random) }

  private func step() throws -> String? {
    switch Int.random(in: 0..<100, using: &random) {
    case ..<35: try write()
    case ..<60: return try sweep()
    case ..<75: return try undo()
    case ..<78: try backUp()
    case ..<81: try restoreBackup()
    default: try alter()
    }
    return nil
  }

  private func run(_ sql: String) throws {
    log.append(sql)
    try store.bySQL(sql)
  }

  // MARK: - The application

  private func write() throws {
    var statements: [String] = []
    for _ in 0..<Int.random(in: 1...5, using: &random) { statements += try statement() }
    if chance(50) {
      try run("BEGIN; \(statements.joined(separator: "; ")); COMMIT")
    } else {
      for statement in statements { try run(statement) }
    }
  }

  private func statement() throws -> [String] {
    let (key, other) = (key(), key())
    switch Int.random(in: 0..<9, using: &random) {
    case 0...2 where rows.songs[key] == nil: return try insertSong(key)
    case 0: return deleteSong(key)
    case 1 where rows.albums.contains(key): return deleteAlbum(key)
    case 1, 2: return insert("album", key, &rows.albums)
    case 3 where rows.tags.contains(key):
      rows.tags.remove(key)
      changes.append(.delete(Node("tags", .integer(Int64(key)))))
      return ["DELETE FROM tag WHERE id = \(key)"]
    case 3, 4: return insert("tag", key, &rows.tags)
    case 5...7: return link(key, other)
    default: return try deleteSong(key) + insertSong(key)
    }
  }

  private func insert(_ table: String, _ key: Int, _ keys: inout Set<Int>) -> [String] {
    if !keys.insert(key).inserted { return [] }
    changes.append(
      .put(Node("\(table)s", .integer(Int64(key))), type: nil, value: nil, edges: []))
    return ["INSERT INTO \(table) VALUES(\(key))"]
  }

  private func deleteAlbum(_ key: Int) -> [String] {
    rows.albums.remove(key)
    changes.append(.delete(Node("albums", .integer(Int64(key)))))
    return ["DELETE FROM album WHERE id = \(key)"]
  }

  private func insertSong(_ key: Int) throws -> [String] {
    lastRow += 1
    let album = rows.albums.randomElement(using: &random)
    let values = song.values(ofRow: lastRow)
    let file = "r\(lastRow)"
    try files.write("media/\(file)")
    rows.songs[key] = DriftedSong(album: album, file: file, values: values)
    changes.append(rows.put(key))
    let list = song.columns.map { ", '\(values[$0.identity]!)'" }.joined()
    let names = song.columns.map { ", \($0.name)" }.joined()
    let reference = album.map { "\($0)" } ?? "NULL"
    return [
      "INSERT INTO song(id, album, cover\(names)) VALUES('\(key)', \(reference), '\(file)'\(list))"
    ]
  }

  private func deleteSong(_ key: Int) -> [String] {
    guard let song = rows.songs.removeValue(forKey: key) else { return [] }
    lostFiles.append(song.file)
    changes.append(.delete(rows.node(key)))
    return ["DELETE FROM song WHERE id = '\(key)'"]
  }

  private func link(_ key: Int, _ tag: Int) -> [String] {
    if rows.songs[key] == nil || !rows.tags.contains(tag) { return [] }
    let isThere = rows.joins.contains([key, tag])
    if isThere { rows.joins.remove([key, tag]) } else { rows.joins.insert([key, tag]) }
    changes.append(rows.put(key))
    return [
      isThere
        ? "DELETE FROM st WHERE song = '\(key)' AND tag = \(tag)"
        : "INSERT INTO st(song, tag) VALUES('\(key)', \(tag))"
    ]
  }

  // MARK: - The schema

  private func alter() throws {
    var looks = chance(70)
    if chance(20) { return try rebuild() }
    if chance(15) { return try renameParts() }
    let statements = song.change(&random)
    // Nothing tells a column from one that was dropped and added again unseen.
    looks = looks || statements.count == 2
    try store.followSchema()
    for statement in statements {
      try run(statement)
      if looks { try store.followSchema() }
    }
    // What cannot be told apart is left out, and never put elsewhere.
    if !looks || statements.count > 1 { blur() }
  }

  /// A collection of the same table and key is the same, and so is a relationship in the same place.
  private func renameParts() throws {
    names.change(&random)
    log.append("-- now they are called \(names)")
    try store.reopen(
      with: StoreModel(DriftedRows.model(names, files.scratch.path("media"))))
  }

  private func blur() { for batch in batches.indices { batches[batch].isBlurred = true } }

  private func rebuild() throws {
    try store.writer.set(OperatorPause(at: 1, user: 0, isForMigration: true))
    if chance(40) { song.key = song.key == "TEXT" ? "INTEGER" : "TEXT" }
    try rebuildSongs()
    try rebuildJoins()
    for table in ["song", "st"] { try store.allowDaemon(on: table) }
    try store.writer.set(nil)
    _ = try store.writer.attach(createIndexes: false)
    blur()
  }

  private func rebuildSongs() throws {
    song.columns.shuffle(using: &random)
    let columns = song.columns.map { ", \($0.name) TEXT" }.joined()
    let names = song.columns.map { ", \($0.name)" }.joined()
    try run("CREATE TABLE made(cover TEXT, album INTEGER\(columns), id \(song.key) PRIMARY KEY)")
    try run(
      """
      INSERT INTO made(id, album, cover\(names))
      SELECT CAST(id AS \(song.key)), album, cover\(names) FROM song
      """)
    try run("DROP TABLE song")
    try run("ALTER TABLE made RENAME TO song")
    try run("CREATE INDEX song_album\(lastRow)_\(log.count) ON song(album)")
    try run("CREATE INDEX song_cover\(lastRow)_\(log.count) ON song(cover)")
  }

  private func rebuildJoins() throws {
    try run("CREATE TABLE made(tag INTEGER, song \(song.key))")
    try run("INSERT INTO made(tag, song) SELECT tag, CAST(song AS \(song.key)) FROM st")
    try run("DROP TABLE st")
    try run("ALTER TABLE made RENAME TO st")
    for end in ["song", "tag"] {
      try run("CREATE INDEX st_\(end)\(lastRow)_\(log.count) ON st(\(end))")
    }
  }

  // MARK: - Backups

  private func backUp() throws {
    if try !store.backUp() { return }
    log.append("-- backup")
    backup = state
  }

  private func restoreBackup() throws {
    guard let backup else { return }
    log.append("-- the backup is restored")
    try store.restoreBackup()
    state = backup
    self.backup = nil
    lostFiles = []
    try files.tend(store)
  }

  // MARK: - Sweeps

  private func sweep() throws -> String? {
    log.append("-- sweep")
    let result = try store.writer.sweep([.cascade, .refcount], at: 1)
    try files.tend(store)
    _ = reference.sweep(changes)
    changes = []
    var kept = KeptBatch(number: result.batch ?? -1)
    for key in rows.songs.keys where reference.nodes[rows.node(key)] == nil {
      kept.songs[key] = rows.songs.removeValue(forKey: key)
    }
    kept.tags = rows.tags.filter { reference.nodes[Node("tags", .integer(Int64($0)))] == nil }
    rows.tags.subtract(kept.tags)
    // What an undo has brought back without an end stays.
    kept.joins = rows.joins.subtracting(try joins())
    rows.joins.subtract(kept.joins)
    if let join = kept.joins.first(where: { rows.songs[$0[0]] != nil && rows.tags.contains($0[1]) })
    {
      return "the join row \(join) went"
    }
    if !kept.songs.isEmpty || !kept.tags.isEmpty { batches.append(kept) }
    lostFiles += kept.songs.values.map(\.file)
    if let file = lostFiles.first(where: isThere) { return "the file \(file) has stayed" }
    lostFiles = []
    if !kept.songs.isEmpty && result.batch == nil { return "no batch: \(result)" }
    return try difference("a sweep")
  }

  // MARK: - Undos

  private func undo() throws -> String? {
    if !changes.isEmpty, let problem = try sweep() { return problem }
    guard let place = batches.indices.randomElement(using: &random) else { return nil }
    let wanted = Set(batches[place].songs.values.compactMap(\.album)).subtracting(rows.albums)
    for album in wanted.sorted() { try run(insert("album", album, &rows.albums)[0]) }
    if let problem = try sweep() { return problem }
    log.append("-- undo \(batches[place].number)")
    let undone = try store.writer.undo(batches[place].number, by: "me", at: 2)
    try files.tend(store)
    var back = batches[place].songs.filter { rows.songs[$0.key] == nil }
    let tags = batches[place].tags.subtracting(rows.tags)
    // Where nothing tells the columns apart, the rows stay in the batch.
    if undone.restored == tags.count, batches[place].isBlurred, undone.leftCount >= back.count {
      back = [:]
    }
    if undone.restored != back.count + tags.count {
      return "\(back.count) songs and \(tags.count) tags were to come back: \(undone)"
    }
    if let problem = try comeBack(back, tags, place) { return problem }
    if batches[place].songs.isEmpty && batches[place].tags.isEmpty { batches.remove(at: place) }
    restart()
    return try difference("an undo")
  }

  private func comeBack(
    _ back: [Int: DriftedSong], _ tags: Set<Int>, _ place: Int
  ) throws -> String? {
    let batch = batches[place]
    for (key, kept) in back {
      var there = kept
      for column in song.columns {
        let value = try value(column, of: key)
        if value != kept.values[column.identity] {
          let isLeftOut = batch.isBlurred || kept.values[column.identity] == nil
          if value != nil || !isLeftOut {
            return "\(column.name) of song \(key) is \(value ?? "null"): \(kept.values)"
          }
        }
        there.values[column.identity] = value
      }
      rows.songs[key] = there
      batches[place].songs[key] = nil
    }
    rows.tags.formUnion(tags)
    batches[place].tags.subtract(tags)
    return try comeBack(joins: batch.joins, place)
  }

  private func comeBack(joins: Set<[Int]>, _ place: Int) throws -> String? {
    let there = try self.joins()
    let foreign = there.subtracting(joins).subtracting(rows.joins)
    if !foreign.isEmpty { return "join rows \(foreign) came from nowhere" }
    let missing = rows.joins.subtracting(there)
    if !missing.isEmpty { return "join rows \(missing) went" }
    rows.joins = there
    return nil
  }

  private func joins() throws -> Set<[Int]> {
    try Set(
      store.texts("SELECT song || ' ' || tag FROM st").map {
        $0.split(separator: " ").compactMap { Int($0) }
      })
  }

  private func value(_ column: DriftedTable.Column, of key: Int) throws -> String? {
    let rows = try store.texts(
      "SELECT coalesce(\(column.name), '-') FROM song WHERE id = '\(key)'")
    return rows.first == "-" ? nil : rows.first ?? "(no row)"
  }

  /// What an undo has brought back is there as ever.
  private func restart() {
    reference = Reference()
    reference.inRows = ["album/songs/albums"]
    let others =
      rows.albums.map { Node("albums", .integer(Int64($0))) }
      + rows.tags.map { Node("tags", .integer(Int64($0))) }
    for node in others { reference.nodes[node] = "" }
    for key in rows.songs.keys { _ = reference.apply([rows.put(key)]) }
  }

  // MARK: - What is there

  private func isThere(_ file: String) -> Bool { files.isThere("media/\(file)") }

  private func difference(_ after: String) throws -> String? {
    for (table, keys) in [
      ("song", Set(rows.songs.keys)), ("album", rows.albums), ("tag", rows.tags),
    ] {
      let there = try Set(
        store.texts("SELECT CAST(id AS TEXT) FROM \(table)").compactMap { Int($0) })
      if there != keys { return "after \(after): \(table) \(there.sorted()), not \(keys.sorted())" }
    }
    for (key, song) in rows.songs {
      if !isThere(song.file) { return "after \(after): the file \(song.file) of song \(key) went" }
      for column in self.song.columns {
        let (there, wanted) = (try value(column, of: key), song.values[column.identity])
        if there != wanted {
          return
            "after \(after): \(column.name) of song \(key) is \(there ?? "null"), not \(wanted ?? "null")"
        }
      }
    }
    return nil
  }
}
