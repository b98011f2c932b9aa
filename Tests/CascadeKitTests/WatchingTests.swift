import CascadeKit
import TestSupport
import Testing

/// What a program sees of what others do.
@Suite(.timeLimit(.minutes(10))) struct WatchingTests {
  @Test func valuesFollowOtherProcesses() async throws {
    let test = try TestStore(starts: false)
    var values = test.store.values { db in try db.count(Tag.all) }.makeAsyncIterator()
    #expect(try await values.next() == 0)
    for number in 1...20 {
      try test.sql("INSERT INTO tag VALUES('\(number)', 'red')")
      #expect(try await values.next() == number)
    }
  }

  @Test func anEqualAnswerIsNotToldAgain() async throws {
    let test = try TestStore(starts: false)
    var values = test.store.values { db in try db.count(Tag.where(\.color == .red)) }
      .makeAsyncIterator()
    #expect(try await values.next() == 0)
    try test.sql("INSERT INTO tag VALUES('a', 'green')")
    try test.sql("INSERT INTO tag VALUES('b', 'red')")
    #expect(try await values.next() == 1)
  }

  @Test func aCancelledWatcherEnds() async throws {
    let test = try TestStore(starts: false)
    let task = Task {
      var count = 0
      for try await _ in test.store.values(of: { db in try db.count(Tag.all) }) { count += 1 }
      return count
    }
    try await Task.sleep(for: .milliseconds(100))
    task.cancel()
    #expect(try await task.value <= 1)
  }

  @Test func noticesComeAsTheyAreWritten() async throws {
    let model = ModelFile {
      Artist.self
      Tour.self
      NotifiedAlbum.self
    }
    let test = try TestStore(model: model)
    let nina = Artist(id: .new(), name: "Nina", since: nil)
    let album = NotifiedAlbum(id: .new(), title: "a", artist: nina.id)
    try await test.store.write { tx in
      try tx.put(nina)
      try tx.put(album)
    }
    let notices = Task {
      for try await batch in test.store.notices() { return batch }
      return []
    }
    try await test.store.write { tx in tx.delete(nina.id) }
    let batch = try await notices.value
    #expect(batch.map(\.node) == [NodeName(album.id)])
    #expect(batch[0].edge.name == "artist")
    #expect(try await test.store.acknowledge(upTo: batch[0].number) == 1)
  }

  @Test func aLeaseHoldsItsNodeUntilTheEndOfTheBlock() async throws {
    let test = try TestStore()
    let tag = Tag(id: "jazz", color: .red)
    let song = Song(id: .new(), title: "a", year: 1, album: .new())
    try await test.store.write { tx in try tx.put(tag) }
    try test.sql("INSERT INTO song_tag VALUES('\(song.id)', 'jazz')")
    try await test.store.withLease(on: tag.id, owner: "upload") {
      try test.sql("DELETE FROM song_tag")
      try run(program("cascadectl"), ["--store", test.path, "sweep"])
      #expect(try test.sql("SELECT count(*) FROM tag") == "1\n")
    }
    try await waitUntil("the tag is gone") { try test.sql("SELECT count(*) FROM tag") == "0\n" }
  }
}

@Model("albums", table: "album")
private struct NotifiedAlbum {
  let id: ID<NotifiedAlbum>
  var title: String
  var artist: ID<Artist>?
  static let artist = Relationship<Artist?>(
    \.artist, "artist", rules: .notifyIfDestinationDeleted)
}
