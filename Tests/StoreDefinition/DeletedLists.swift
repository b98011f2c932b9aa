import CascadeModel
import CascadeStore
import Testing

/// What went, by numbers, on every engine.
package struct DeletedLists {
  private let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  package enum Claim: String, CaseIterable, CustomTestStringConvertible {
    case sweep = "What followed from an application's deletion is listed, causes first"
    case application = "What an application deleted itself is listed first, where it is kept"
    case file = "What a change file took is listed, with its author"
    case job = "What a job took is listed from the node with which it began"
    case stoppedJob =
      "Of a job that was stopped, each node is listed once, at its end, in that order"
    case stoppedSweep = "Of a sweep that was stopped, each node is listed once, at its end"
    case expired = "What expired is listed as that"
    case pages = "The list goes on behind any number, and may be of one collection"
    case values = "It says what a node was, as long as that is kept"
    case undone = "What came back is not kept any more, and what stays in its batch is"
    case noTrash = "It does not need the trash"
    case forgotten = "What is forgotten is not passed over silently, and no number comes twice"
    case rejected = "What a rejected plan brings back is not listed"

    package var testDescription: String { rawValue }
  }

  package func expect(_ claim: Claim) throws {
    switch claim {
    case .sweep: try sweep()
    case .application: try application()
    case .file: try file()
    case .job: try job()
    case .stoppedJob: try stoppedJob()
    case .stoppedSweep: try stoppedSweep()
    case .expired: try expired()
    case .pages: try pages()
    case .values: try values()
    case .undone: try undone()
    case .noTrash: try noTrash()
    case .forgotten: try forgotten()
    case .rejected: try rejected()
    }
  }

  private func sweep() throws {
    for isTied in [false, true] { try sweep(AlbumStore(engine, isTied: isTied)) }
  }

  private func sweep(_ store: AlbumStore) throws {
    try store.bySQL("DELETE FROM artist WHERE id = 1")
    #expect(try store.deleted().isEmpty)
    let swept = try store.sweep()
    let list = try store.deleted()
    #expect(list.count == 5 && swept.deletedCount == 5)
    #expect(list.map(\.number) == list.map(\.number).sorted() && list[0].number > 0)
    #expect(store.areCausesFirst(list))
    #expect(list.allSatisfy { $0.cause == .sweep && $0.isKept && $0.batch == swept.batch })
    #expect(list.allSatisfy { $0.at == store.now && $0.value == nil })
  }

  private func application() throws {
    let store = try AlbumStore(engine, "keepDeleted: true")
    try store.bySQL("DELETE FROM artist WHERE id = 1")
    _ = try store.sweep()
    let list = try store.deleted()
    #expect(store.names(list).first == "artists/1" && list.count == 6)
    #expect(list[0].cause == .application && list[0].author == nil && list[0].isKept)
    #expect(list.dropFirst().allSatisfy { $0.cause == .sweep } && store.areCausesFirst(list))
    try store.bySQL("DELETE FROM artist WHERE id = 3")
    _ = try store.sweep()
    #expect(try store.names(store.deleted(after: list[5].number)) == ["artists/3", "albums/31"])
  }

  private func file() throws {
    let store = try AlbumStore(engine)
    let note = Node("notes", .text("n"))
    try store.apply([.put(note, type: nil, value: nil, edges: nil)])
    try store.apply([
      .delete(Node("artists", .integer(1))), .delete(note), .delete(Node("notes", .text("none"))),
    ])
    let list = try store.deleted()
    #expect(list.count == 7 && store.names(list).contains("notes/n"))
    #expect(list.allSatisfy { $0.cause == .file && $0.author == "test" })
    #expect(store.areCausesFirst(list))
  }

  // MARK: - Jobs

  private func job() throws {
    let store = try AlbumStore(engine, isTied: true)
    #expect(try store.delete(1).state == .done)
    let list = try store.deleted()
    #expect(store.names(list).first == "artists/1" && list.count == 6)
    #expect(list.allSatisfy { $0.cause == .job && $0.author == "me" })
    #expect(store.areCausesFirst(list))
  }

  private func stoppedJob() throws {
    let store = try AlbumStore(engine, isTied: true)
    try store.fill()
    let number = try store.begin(1)
    try store.stopping { try store.carryOut(number, $0) }
    #expect(try store.deleted().isEmpty)
    try store.reopen()
    try store.bySQL("DELETE FROM artist WHERE id = 2")
    _ = try store.sweep()
    let others = try store.deleted()
    #expect(others.allSatisfy { $0.cause == .sweep } && !others.isEmpty)
    #expect(try store.carryOut(number).state == .done)
    let list = try store.deleted(after: others.last?.number)
    #expect(store.names(list).first == "artists/1" && list.count == 6 + 200)
    #expect(
      Set(store.names(list)).count == list.count && store.isFirst("albums", before: "songs", list))
  }

  private func stoppedSweep() throws {
    let store = try AlbumStore(engine)
    try store.fill()
    try store.bySQL("DELETE FROM artist WHERE id = 1")
    try store.stopping { try store.sweep($0) }
    #expect(try store.deleted().isEmpty)
    try store.reopen()
    _ = try store.sweep()
    let list = try store.deleted()
    #expect(list.count == 205 && Set(store.names(list)).count == 205)
    #expect(store.areCausesFirst(list) && Set(list.map(\.batch)).count == 1)
  }

  private func expired() throws {
    let store = try AlbumStore(engine)
    try store.carryOutExpired()
    let list = try store.deleted()
    #expect(store.names(list) == ["visits/1"] && list[0].cause == .expired)
  }

  // MARK: - The list

  private func pages() throws {
    let store = try AlbumStore(engine)
    try store.bySQL("DELETE FROM artist WHERE id = 1")
    _ = try store.sweep()
    _ = try store.delete(2)
    let all = try store.deleted()
    #expect(all.count == 9)
    var (pages, after): ([DeletedNode], Int64?) = ([], nil)
    while true {
      let page = try store.page(DeletedQuery(after: after), 2)
      pages += page.nodes
      after = page.end
      if !page.isFull { break }
    }
    #expect(pages.map(\.number) == all.map(\.number) && after == all.last?.number)
    #expect(try store.page(DeletedQuery(after: after), 2).nodes.isEmpty)
    let songs = try store.page(DeletedQuery("songs"), 100)
    #expect(songs.nodes.map(\.number) == all.filter { $0.collection == "songs" }.map(\.number))
    #expect(songs.end == all.last?.number)
    #expect(try store.page(DeletedQuery("nothing"), 100).nodes.isEmpty)
  }

  private func values() throws {
    let store = try AlbumStore(engine, "keepDeleted: true")
    try store.bySQL("UPDATE song SET title = 'a \"b\", (c) \\ ''d'' é' WHERE id = 111")
    try store.apply([
      .put(Node("notes", .text("n")), type: nil, value: JSONText(["x": [1]]), edges: nil)
    ])
    try store.apply([.delete(Node("notes", .text("n")))])
    try store.bySQL("DELETE FROM song WHERE id IN (111, 112)")
    _ = try store.sweep()
    let list = try store.page(DeletedQuery(hasValues: true), 100).nodes
    let found = Dictionary(uniqueKeysWithValues: zip(store.names(list), list.map(\.value)))
    #expect(found["notes/n"] == .some(["x": [1]]))
    #expect(
      found["songs/111"]
        == .some(["id": 111, "album": 11, "title": .string("a \"b\", (c) \\ 'd' é")]))
    #expect(found["songs/112"] == .some(["id": 112, "album": 11, "title": .null]))
  }

  private func undone() throws {
    let store = try AlbumStore(engine)
    try store.bySQL("DELETE FROM artist WHERE id = 1")
    let batch = try #require(try store.sweep().batch)
    _ = try store.writer.undo(Node("songs", .integer(111)), by: "me", at: store.now)
    let list = try store.deleted()
    #expect(store.names(list.filter { !$0.isKept }) == ["songs/111"] && list.count == 5)
    #expect(
      try store.page(DeletedQuery(hasValues: true), 9).nodes.filter { $0.value != nil }.count == 4)
    _ = try store.writer.undo(batch, by: "me", at: store.now)
    #expect(try store.deleted().allSatisfy { !$0.isKept && $0.batch == batch })
  }

  private func noTrash() throws {
    let store = try AlbumStore(engine, "trash: \"0\"", isTied: true)
    try store.bySQL("DELETE FROM artist WHERE id = 1")
    _ = try store.sweep()
    _ = try store.delete(2)
    let list = try store.deleted()
    #expect(list.count == 9 && list.allSatisfy { !$0.isKept })
    #expect(store.areCausesFirst(Array(list.prefix(5))) && store.names(list)[5] == "artists/2")
  }

  private func forgotten() throws {
    let store = try AlbumStore(engine, "trash: \"1h\", keep: { deleted: \"10h\" }")
    try store.bySQL("DELETE FROM artist WHERE id = 1")
    _ = try store.sweep()
    let first = try store.deleted()
    store.now += 5 * 3_600_000
    try store.tidy()
    #expect(try store.deleted().map(\.isKept) == Array(repeating: false, count: 5))
    _ = try store.delete(2)
    let last = first.last!.number
    store.now += 6 * 3_600_000
    try store.tidy()
    let rest = try store.deleted()
    #expect(rest.count == 4 && rest[0].number > last)
    #expect(try store.deleted(after: last).count == 4)
    #expect(throws: DeletedForgotten.self) { try store.deleted(after: last - 1) }
    store.now += 11 * 3_600_000
    try store.tidy()
    #expect(try store.deleted().isEmpty)
    try store.bySQL("DELETE FROM artist WHERE id = 3; DELETE FROM album WHERE id = 31")
    try store.apply([.put(Node("notes", .text("n")), type: nil, value: nil, edges: nil)])
    try store.apply([.delete(Node("notes", .text("n")))])
    #expect(try #require(store.deleted().first).number > rest.last!.number)
  }

  private func rejected() throws {
    let store = try AlbumStore(engine, "keepDeleted: true", limit: 2)
    try store.bySQL("DELETE FROM artist WHERE id = 1")
    let plan = try #require(try store.sweep().plan)
    _ = try store.writer.reject(plan: plan, at: store.now)
    #expect(try store.texts("SELECT CAST(count(*) AS TEXT) FROM artist") == ["3"])
    #expect(try store.deleted().isEmpty)
  }
}

/// Artists with albums and songs; an album's photo goes with it. Foreign keys may tie them.
private final class AlbumStore {
  private let store: any StoreUnderTest
  var now: Int64 = 1_800_000_000_000

  init(
    _ engine: any EngineUnderTest, _ settings: String = "", limit: Int = 1_000, isTied: Bool = false
  ) throws {
    func tie(_ table: String) -> String { isTied ? " REFERENCES \(table)(id)" : "" }
    store = try engine.makeStore(
      model: StoreModel(
        """
        { \(settings.isEmpty ? "" : "\(settings), ")collections: {
            artists: { table: "artist", key: "id" }, albums: { table: "album", key: "id" },
            songs: { table: "song", key: "id" }, photos: { table: "photo", key: "id" },
            visits: { table: "visit", key: "id", expires: { column: "at", after: "1d", as: "unix" } },
            notes: {} },
          relationships: [
            { name: "artist", from: "albums", to: "artists", column: "artist",
              rules: ["deleteSourceIfDestinationDeleted"] },
            { name: "album", from: "songs", to: "albums", column: "album",
              rules: ["deleteSourceIfDestinationDeleted"] },
            { name: "photo", from: "albums", to: "photos", column: "photo",
              rules: ["deleteDestinationIfSourceDeleted"] }],
          limits: { hold: { deletes: \(limit), share: 0.01 } } }
        """),
      schema: """
        CREATE TABLE artist(id INTEGER PRIMARY KEY);
        CREATE TABLE photo(id INTEGER PRIMARY KEY);
        CREATE TABLE album(id INTEGER PRIMARY KEY, artist INTEGER, photo INTEGER\(tie("photo")));
        CREATE TABLE song(id INTEGER PRIMARY KEY, album INTEGER\(tie("album")), title TEXT);
        CREATE TABLE visit(id INTEGER PRIMARY KEY, at BIGINT);
        CREATE INDEX album_artist ON album(artist); CREATE INDEX album_photo ON album(photo);
        CREATE INDEX song_album ON song(album); CREATE INDEX visit_at ON visit(at);
        INSERT INTO artist VALUES(1), (2), (3); INSERT INTO photo VALUES(1), (2), (3);
        INSERT INTO album VALUES(11, 1, 1), (12, 1, NULL), (21, 2, 2), (31, 3, NULL);
        INSERT INTO song VALUES(111, 11, 'a'), (112, 11, NULL), (211, 21, 'c');
        INSERT INTO visit VALUES(1, 1000), (2, 1799999990);
        """)
    _ = try store.writer.sweep([.cascade, .refcount], at: now)
  }

  /// So many songs that a job or a sweep has many steps.
  func fill() throws {
    let songs = (0..<200).map { "(\(1_000 + $0), \(11 + $0 % 2), 'x')" }
    try store.bySQL("INSERT INTO song VALUES \(songs.joined(separator: ", "))")
    store.sweepsInSteps(of: 20)
  }

  func sweep(_ pause: () throws -> Void = {}) throws -> SweepResult {
    try withoutActuallyEscaping(pause) { pause in
      try store.writer.sweep(
        [.cascade, .refcount], at: now, manners: StepPolicy { _ in try pause() })
    }
  }

  func tidy() throws { _ = try store.writer.sweep([.trash], at: now) }

  func begin(_ artist: Int64) throws -> Int64 {
    try store.writer.begin(
      DeletionJob.Request(.nodes([Node("artists", .integer(artist))]), by: "me"), at: now)
  }

  func carryOut(_ job: Int64, _ pause: () throws -> Void = {}) throws -> DeletionJob {
    try withoutActuallyEscaping(pause) { pause in
      try store.writer.carryOut(job: job, at: now, manners: StepPolicy { _ in try pause() })
    }
  }

  func delete(_ artist: Int64) throws -> DeletionJob { try carryOut(begin(artist)) }

  func carryOutExpired() throws {
    _ = try store.writer.beginExpired(at: now)
    for job in try store.writer.openJobs {
      if let plan = try carryOut(job.number).plan { _ = try store.writer.approve(plan: plan) }
      _ = try carryOut(job.number)
    }
  }

  /// Runs the body, and stops it after some steps.
  func stopping<T>(_ body: (_ pause: () throws -> Void) throws -> T) throws {
    var steps = 0
    #expect(throws: Stopped.self) {
      _ = try body {
        steps += 1
        if steps == 4 { throw Stopped() }
      }
    }
  }

  private struct Stopped: Error {}

  var writer: any StoreWriting { store.writer }
  func apply(_ changes: [Change]) throws { try store.apply(changes) }
  func reopen() throws { try store.reopen() }
  func bySQL(_ sql: String) throws { try store.bySQL(sql) }
  func texts(_ sql: String) throws -> [String] { try store.texts(sql) }

  // MARK: - The list

  func page(_ query: DeletedQuery, _ limit: Int) throws -> DeletedPage {
    try store.reader.deleted(query, limit: limit)
  }

  func deleted(after number: Int64? = nil) throws -> [DeletedNode] {
    try page(DeletedQuery(after: number), 1_000).nodes
  }

  func names(_ list: [DeletedNode]) -> [String] {
    list.map { node in node.key.map { "\(Node(node.collection, $0))" } ?? "?" }
  }

  /// Each before what follows from it.
  func areCausesFirst(_ list: [DeletedNode]) -> Bool {
    isFirst("artists", before: "albums", list) && isFirst("albums", before: "songs", list)
      && isFirst("albums", before: "photos", list)
  }

  func isFirst(_ cause: String, before follower: String, _ list: [DeletedNode]) -> Bool {
    let causes = list.filter { $0.collection == cause }.map(\.number)
    let followers = list.filter { $0.collection == follower }.map(\.number)
    return (causes.max() ?? 0) < (followers.min() ?? .max)
  }
}
