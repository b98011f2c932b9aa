import CascadeKit
import CascadeKitFoundation
import Foundation
import TestSupport
import Testing

/// Writes that say what they mean: no value that is written is lost at once, none that others wrote is
/// overwritten, and edges are where their relationship has them.
@Suite struct SafeWritingTests {
  private let nina = Artist(id: .new(), name: "Nina Simone", since: 1958)
  private let blues: Album
  private let song: Song

  init() {
    blues = Album(id: .new(), title: "Pastel Blues", artist: nina.id, coverPath: nil)
    song = Song(id: .new(), title: "Sinnerman", year: 1965, album: blues.id)
  }

  private func filled() async throws -> TestStore {
    let test = try TestStore()
    try await test.store.write { [self] tx in
      try tx.put(nina)
      try tx.put(blues)
      try tx.put(song)
    }
    return test
  }

  // MARK: - What would delete itself

  @Test func aWriteThatWouldDeleteWhatItWritesIsRefused() async throws {
    let test = try await filled()
    let failures = [
      await failure {
        try await test.store.write { [self] tx in
          try tx.put(Song(id: song.id, title: "x", year: 1, album: .new()))
        }
      },
      await failure {
        try await test.store.write { [self] tx in try tx.edit(song) { $0.album = .new() } }
      },
    ]
    for failure in failures {
      guard case .deletesItself(let reference) = failure else {
        Issue.record("\(failure as Any)")
        continue
      }
      #expect(reference.name == "album")
      #expect(reference.source.isNode(song.id))
    }
    #expect(try test.sql("SELECT title, album FROM song") == "Sinnerman|\(blues.id)\n")
  }

  @Test func itIsAppliedIfItIsAllowed() async throws {
    let test = try await filled()
    let receipt = try await test.store.write { [self] tx in
      try tx.edit(song, mayDeleteItself: true) { $0.album = .new() }
    }
    #expect(receipt.outcome == .applied)
    #expect(receipt.deletedOwn == [NodeName(song.id)])
    #expect(try test.sql("SELECT count(*) FROM song") == "0\n")
    let again = try await test.store.write { [self] tx in
      try tx.put(Song(id: song.id, title: "x", year: 1, album: .new()), mayDeleteItself: true)
    }
    #expect(again.deletedOwn == [NodeName(song.id)])
  }

  @Test func whatIsDeletedAnywayMayBeEditedBefore() async throws {
    let test = try await filled()
    let receipt = try await test.store.write { [self] tx in
      try tx.edit(song) { $0.year = 1966 }
      tx.delete(blues.id)
    }
    #expect(receipt.deletedCount == 2)
    #expect(receipt.deletedOwn == [])
  }

  // MARK: - Edges to many

  @Test func tagsOfAJoinTableAreSetAddedAndRemoved() async throws {
    let test = try await filled()
    let (a, b, c) = (ID<Tag>("a"), ID<Tag>("b"), ID<Tag>("c"))
    try await test.store.write { [self] tx in
      for tag in [a, b, c] { try tx.put(Tag(id: tag, color: .red)) }
      try tx.set(Song.tags, of: song.id, to: [a, b])
    }
    func tags() async throws -> [ID<Tag>] {
      try await test.store.read { [self] db in try db.get(Song.tags, of: song).map(\.id) }
    }
    #expect(try await tags() == [a, b])
    try await test.store.write { [self] tx in try tx.add(Song.tags, of: song.id, c) }
    #expect(try await tags() == [a, b, c])
    #expect(try test.sql("SELECT count(*) FROM song_tag") == "3\n")
    try await test.store.write { [self] tx in try tx.remove(Song.tags, of: song.id, a) }
    #expect(try await tags() == [b, c])
    let receipt = try await test.store.write { [self] tx in
      try tx.set(Song.tags, of: song.id, to: [c])
    }
    #expect(receipt.deleted == [NodeName(b)])
    #expect(try test.sql("SELECT tag_id FROM song_tag") == "c\n")
    #expect(try test.sql("SELECT count(*) FROM cascade_stored_edge") == "0\n")
  }

  @Test func aLinkOfAJoinTableIsSeen() async throws {
    let test = try await filled()
    try await test.store.write { [self] tx in
      try tx.put(Tag(id: "a", color: .red))
      tx.link(Song.tags, from: song.id, to: "a")
    }
    let count = try await test.store.read { [self] db in try db.count(Song.tags, of: song) }
    #expect(count == 1)
    #expect(try test.sql("SELECT * FROM song_tag") == "\(song.id)|a\n")
  }

  @Test func listsAndEdgesByHandAreSetToo() async throws {
    let test = try TestStore()
    let images = (1...3).map { Image(id: .new(), width: $0) }
    let photo = PhotoPost(id: .new(), caption: nil, images: [images[0].id])
    let pages = (1...3).map { Page(id: ID($0), title: "page \($0)") }
    try await test.store.write { tx in
      for image in images { try tx.put(image) }
      for page in pages { try tx.put(page) }
      try tx.put(photo)
      try tx.set(PhotoPost.images, of: photo.id, to: [images[2].id, images[0].id])
      try tx.add(PhotoPost.images, of: photo.id, images[1].id)
      try tx.set(Page.refs, of: pages[0].id, to: [pages[1].id])
      try tx.add(Page.refs, of: pages[0].id, pages[2].id)
    }
    let read = try await test.store.read { db in
      (try db.get(photo.id)!.images, try db.get(Page.refs, of: pages[0]))
    }
    #expect(read.0 == [images[2].id, images[0].id, images[1].id])
    #expect(read.1 == [pages[1], pages[2]])
    let receipt = try await test.store.write { tx in
      try tx.remove(PhotoPost.images, of: photo.id, images[1].id)
      try tx.set(Page.refs, of: pages[0].id, to: [])
    }
    #expect(
      Set(receipt.deleted.map(\.description))
        == ["images/\(images[1].id)", "pages/2", "pages/3"])
  }

  // MARK: - Columns that others wrote

  private func photos(_ rows: String) throws -> TestStore {
    try TestStore(
      model: ModelFile { Photo.self },
      schema: """
        PRAGMA journal_mode = WAL;
        CREATE TABLE photo(id INTEGER PRIMARY KEY, title TEXT, data BLOB, owner TEXT, is_new INTEGER,
          size REAL, price, place TEXT DEFAULT 'nowhere');
        CREATE TABLE written(name TEXT);
        CREATE TRIGGER a AFTER UPDATE OF data ON photo BEGIN INSERT INTO written VALUES('data'); END;
        CREATE TRIGGER b AFTER UPDATE OF owner ON photo BEGIN INSERT INTO written VALUES('owner'); END;
        CREATE TRIGGER c AFTER UPDATE OF is_new ON photo BEGIN INSERT INTO written VALUES('is_new'); END;
        CREATE TRIGGER d AFTER UPDATE OF price ON photo BEGIN INSERT INTO written VALUES('price'); END;
        \(rows)
        """)
  }

  private static let row = """
    INSERT INTO photo VALUES(1, 'a', x'00FF', '018f0000-0000-7000-8000-00000000000a', 2, 1.5, 5, 'Rome');
    """
  private static let others =
    "SELECT hex(data), typeof(data), owner, is_new, typeof(price), place FROM photo"

  @Test func aPutWritesNoColumnThatItDoesNotChange() async throws {
    let test = try photos(SafeWritingTests.row)
    var photo = try await test.store.read { db in try db.get(Photo.self, 1)! }
    #expect(photo.data == Data([0, 255]))
    photo.title = "b"
    try await test.store.write { [photo] tx in try tx.put(photo) }
    #expect(
      try test.sql(SafeWritingTests.others)
        == "00FF|blob|018f0000-0000-7000-8000-00000000000a|2|integer|Rome\n")
    #expect(try test.sql("SELECT title FROM photo; SELECT count(*) FROM written") == "b\n0\n")
    photo.data = Data([1])
    try await test.store.write { [photo] tx in try tx.put(photo) }
    #expect(try test.sql("SELECT hex(data) FROM photo; SELECT * FROM written") == "01\ndata\n")
  }

  @Test func bytesAndInfinityAreWrittenAsWhatTheyAre() async throws {
    let test = try photos("")
    let photo = Photo(
      id: 7, title: "x'00'", data: Data([0, 1]), owner: UUID(), isNew: true, size: -.infinity,
      price: 2)
    try await test.store.write { tx in try tx.put(photo) }
    #expect(
      try test.sql("SELECT hex(data), typeof(data), size < -1e300, typeof(title) FROM photo")
        == "0001|blob|1|text\n")
    #expect(try await test.store.read { db in try db.get(photo.id) } == photo)
    try await test.store.write { tx in try tx.edit(photo) { $0.data = nil } }
    #expect(try test.sql("SELECT data IS NULL FROM photo") == "1\n")
  }

  // MARK: - What was read before

  @Test func whatHasChangedSinceItWasReadIsNotOverwritten() async throws {
    let test = try await filled()
    for statement in ["UPDATE song SET title = 'y'", "DELETE FROM song"] {
      try test.sql(statement)
      let edit = await failure {
        try await test.store.write { [self] tx in
          try tx.edit(song, ifUnchanged: true) { $0.year += 1 }
        }
      }
      #expect(edit == .changed(NodeName(song.id)))
      let deletion = await failure {
        try await test.store.write { [self] tx in try tx.delete(song, ifUnchanged: true) }
      }
      #expect(deletion == .changed(NodeName(song.id)))
    }
  }

  @Test func whatIsUnchangedIsWrittenWhateverItsForm() async throws {
    let test = try photos(SafeWritingTests.row)
    let photo = try await test.store.read { db in try db.get(Photo.self, 1)! }
    try await test.store.write { tx in try tx.edit(photo, ifUnchanged: true) { $0.size += 1 } }
    let after = try await test.store.update(photo.id) { $0.size += 1 }
    #expect(after.size == 3.5)
    #expect(
      try test.sql(SafeWritingTests.others)
        == "00FF|blob|018f0000-0000-7000-8000-00000000000a|2|integer|Rome\n")
    let read = try await test.store.read { db in try db.get(photo.id)! }
    try await test.store.write { tx in try tx.delete(read, ifUnchanged: true) }
    #expect(try test.sql("SELECT count(*) FROM photo") == "0\n")
  }

  @Test func objectsAreComparedToo() async throws {
    let test = try TestStore()
    let text = TextPost(id: .new(), text: "a")
    try await test.store.write { tx in try tx.put(text) }
    let after = try await test.store.update(text.id) { $0.text += "b" }
    #expect(after.text == "ab")
    let failure = await failure {
      try await test.store.write { tx in try tx.edit(text, ifUnchanged: true) { $0.text = "c" } }
    }
    #expect(failure == .changed(NodeName(text.id)))
  }

  @Test func tasksThatUpdateTheSameValueLoseNothing() async throws {
    let test = try await filled()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<20 {
        group.addTask { [self] in
          _ = try await test.store.update(song.id) { $0.year += 1 }
        }
      }
      try await group.waitForAll()
    }
    #expect(try test.sql("SELECT year FROM song") == "1985\n")
  }

  @Test func whatIsNotThereCannotBeUpdated() async throws {
    let test = try TestStore()
    let failure = await failure { _ = try await test.store.update(song.id) { $0.year += 1 } }
    #expect(failure == .missing(NodeName(song.id)))
  }

  @Test func aWriteReturnsWhatItsBlockReturns() async throws {
    let test = try await filled()
    let (written, receipt) = try await test.store.write { [self] tx in
      try tx.put(Song(id: .new(), title: "Be My Husband ", year: 1965, album: blues.id))
    }
    #expect(written.title == "Be My Husband")
    #expect(receipt.edgesAdded == 1)
  }
}

private func failure(_ body: () async throws -> Void) async -> WriteError? {
  do {
    try await body()
    return nil
  } catch {
    return error as? WriteError
  }
}

@Model("photos", table: "photo")
private struct Photo: Equatable {
  typealias Key = Int
  let id: ID<Photo>
  var title: String?
  var data: Data?
  var owner: UUID
  var isNew: Bool
  var size: Double
  var price: Double
}
