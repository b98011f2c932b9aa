import CascadeModel
import CascadeStore
import Testing

/// Music of which most can be marked: artists, albums and labels by a time, songs by a condition.
final class MarkStore {
  let store: any StoreUnderTest
  var now: Int64 = 1_800_000_000_000

  static let tables = ["album", "artist", "duet", "label", "song"]

  init(_ engine: any EngineUnderTest, limit: Int) throws {
    store = try engine.makeStore(
      model: StoreModel(MarkStore.model("deleted_at", limit)),
      schema: """
        CREATE TABLE artist(id INTEGER PRIMARY KEY, deleted_at BIGINT);
        CREATE TABLE album(id INTEGER PRIMARY KEY, artist INTEGER, deleted_at BIGINT);
        CREATE TABLE song(id INTEGER PRIMARY KEY, album INTEGER, label INTEGER, is_deleted INTEGER);
        CREATE TABLE label(id INTEGER PRIMARY KEY, deleted_at TEXT);
        CREATE TABLE duet(id INTEGER PRIMARY KEY, one INTEGER, other INTEGER, deleted_at BIGINT);
        CREATE TABLE review(id INTEGER PRIMARY KEY, album INTEGER);
        CREATE TABLE guard(id INTEGER PRIMARY KEY, album INTEGER);
        CREATE TABLE fan(id INTEGER PRIMARY KEY, artist INTEGER);
        CREATE INDEX album_artist ON album(artist); CREATE INDEX song_album ON song(album);
        CREATE INDEX song_label ON song(label); CREATE INDEX review_album ON review(album);
        CREATE INDEX guard_album ON guard(album); CREATE INDEX duet_one ON duet(one);
        CREATE INDEX duet_other ON duet(other); CREATE INDEX fan_artist ON fan(artist);
        """)
    _ = try store.writer.sweep([.all], at: now)
    try bySQL(
      """
      INSERT INTO artist VALUES(1, NULL), (2, NULL);
      INSERT INTO album VALUES(1, 1, NULL), (2, 1, NULL), (3, 2, NULL);
      INSERT INTO label VALUES(1, NULL);
      INSERT INTO song VALUES(1, 1, 1, 0), (2, 1, NULL, 0), (3, 2, 1, 0), (4, 3, 1, 0);
      INSERT INTO review VALUES(1, 1), (2, 2);
      """)
  }

  private static func model(_ column: String, _ limit: Int) -> String {
    let soft = "softDelete: { column: \"\(column)\", keep: \"30d\" }"
    func deleting(_ name: String, from: String, to: String, _ column: String) -> String {
      """
      { name: "\(name)", from: "\(from)", to: "\(to)", column: "\(column)",
        rules: ["deleteSourceIfDestinationDeleted"] },
      """
    }
    return """
      { collections: {
          artists: { table: "artist", key: "id", \(soft) },
          albums: { table: "album", key: "id", \(soft) },
          labels: { table: "label", key: "id", softDelete: { column: "deleted_at" } },
          duets: { table: "duet", key: "id", softDelete: { column: "deleted_at" } },
          songs: { table: "song", key: "id",
            softDelete: { when: "is_deleted <> 0", set: { is_deleted: 1 }, keep: "30d" } },
          reviews: { table: "review", key: "id" }, guards: { table: "guard", key: "id" },
          fans: { table: "fan", key: "id" } },
        relationships: [
          \(deleting("artist", from: "albums", to: "artists", "artist"))
          \(deleting("album", from: "songs", to: "albums", "album"))
          \(deleting("reviewed", from: "reviews", to: "albums", "album"))
          \(deleting("one", from: "duets", to: "artists", "one"))
          \(deleting("other", from: "duets", to: "artists", "other"))
          { name: "label", from: "songs", to: "labels", column: "label",
            rules: ["deleteDestinationIfAllSourcesDeleted"] },
          { name: "guarded", from: "guards", to: "albums", column: "album",
            rules: ["denyDestinationDeletion"] },
          { name: "adores", from: "fans", to: "artists", column: "artist",
            rules: ["notifyIfDestinationDeleted"] }],
        limits: { hold: { deletes: \(limit), share: 0.01 } }, trash: "1d" }
      """
  }

  func open(marks column: String) throws {
    try store.reopen(with: StoreModel(MarkStore.model(column, 1_000)))
  }

  func reopen() throws { try store.reopen() }
  var reader: any StoreReading { store.reader }
  var writer: any StoreWriting { store.writer }

  // MARK: - The application

  func bySQL(_ sql: String) throws { try store.bySQL(sql) }
  func texts(_ sql: String) throws -> [String] { try store.texts(sql) }
  func dump() throws -> [String] { try store.dump().sorted() }

  private func set(_ table: String, _ id: Int, _ isMarked: Bool) throws {
    let value =
      table == "song"
      ? "is_deleted = \(isMarked ? 1 : 0)"
      : "deleted_at = \(isMarked ? "\(now / 1_000)" : "NULL")"
    try bySQL("UPDATE \(table) SET \(value) WHERE id = \(id)")
  }

  func mark(_ table: String, _ id: Int) throws { try set(table, id, true) }
  func unmark(_ table: String, _ id: Int) throws { try set(table, id, false) }

  func addSongs(_ count: Int, to album: Int) throws {
    let rows = (1...count).map { "(\(100 + $0), \(album), NULL, 0)" }.joined(separator: ", ")
    try bySQL("INSERT INTO song VALUES \(rows)")
  }

  func change(artist: Int64, deletedAt: Int64?) throws {
    let value = JSONText(valid: #"{"deleted_at": \#(deletedAt.map { "\($0)" } ?? "null")}"#)
    try store.apply([
      .put(Node("artists", .integer(artist)), type: nil, value: value, edges: nil, merge: true)
    ])
  }

  func reasons(marking collection: String, _ key: Int64) throws -> [Reason] {
    let value = JSONText(valid: #"{"deleted_at": 5}"#)
    return try store.reasons([
      .put(Node(collection, .integer(key)), type: nil, value: value, edges: nil, merge: true)
    ])
  }

  func marked() throws -> [String] {
    try MarkStore.tables.flatMap { table in
      try texts(
        "SELECT '\(table) ' || id FROM \(table) WHERE "
          + (table == "song" ? "is_deleted <> 0" : "deleted_at IS NOT NULL") + " ORDER BY id")
    }
  }

  func count(_ table: String) throws -> Int {
    try Int(texts("SELECT CAST(count(*) AS TEXT) FROM \(table)")[0])!
  }

  // MARK: - The daemon

  /// Nil if nothing was marked or unmarked since the last time.
  func follow() throws -> DeletionJob? {
    try writer.beginMarks(at: now).map { try carryOut($0) }
  }

  func followAll() throws { while try follow().map({ $0.state != .held }) ?? false {} }

  func followStopped(after steps: Int) throws {
    store.sweepsInSteps(of: 20)
    while let job = try writer.beginMarks(at: now) {
      let at = now
      let done = try store.stopping(after: steps) { manners in
        try store.writer.carryOut(job: job, at: at, manners: manners)
      }
      if done == nil { store.sweepsInSteps(of: 20) }
      if done == nil && steps == 1 { return try followAll() }
    }
  }

  func carryOut(_ job: Int64) throws -> DeletionJob {
    try writer.carryOut(job: job, at: now, manners: .none)
  }

  func expire() throws -> [DeletionJob] {
    try writer.beginExpired(at: now).jobs.map(carryOut)
  }

  func sweep() throws -> SweepResult {
    try writer.sweep([.cascade, .refcount], at: now, manners: .none)
  }

  func tidy() throws { _ = try writer.sweep([.trash], at: now, manners: .none) }

  func approve(_ job: DeletionJob) throws -> Bool {
    try job.plan.flatMap { try writer.approve(plan: $0) } != nil
  }
  func reject(_ job: DeletionJob) throws -> Bool {
    try job.plan.flatMap { try writer.reject(plan: $0, at: now) } != nil
  }
  func undo(_ batch: Int64) throws -> UndoResult {
    try writer.undo(batch, by: "me", at: now, manners: .none)
  }
  func separate(_ collection: String, _ key: Int64) throws -> [Int64] {
    try writer.separate(Node(collection, .integer(key)))
  }
  func findings() throws -> [String] { try reader.checkSetup().map(\.message) }
}
