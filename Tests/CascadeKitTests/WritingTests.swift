import CascadeKit
import TestSupport
import Testing

/// Writes to a daemon, and what reads see of them.
@Suite struct WritingTests {
  private let nina = Artist(id: .new(), name: "Nina Simone", since: 1958)
  private let blues: Album
  private let sinnerman: Song
  private let fruit: Song

  init() {
    blues = Album(id: .new(), title: "Pastel Blues", artist: nina.id, coverPath: "pastel.jpg")
    sinnerman = Song(id: .new(), title: "Sinnerman  ", year: 1965, album: blues.id)
    fruit = Song(id: .new(), title: "Strange Fruit", year: 1965, album: blues.id)
  }

  private func put(_ store: Store) async throws -> Receipt {
    try await store.write { [self] tx in
      try tx.put(sinnerman)
      try tx.put(fruit)
      try tx.put(blues)
      try tx.put(nina)
    }
  }

  @Test func aWriteTakesEffectWhateverTheOrderOfItsChanges() async throws {
    let test = try TestStore()
    let receipt = try await put(test.store)
    #expect(receipt.outcome == .applied)
    #expect(try test.sql("SELECT count(*) FROM song JOIN album ON album.id = song.album") == "2\n")
    let read = try await test.store.read { [self] db in
      let song = try #require(try db.get(sinnerman.id))
      let album = try db.get(Song.album, of: song)
      return (
        song, album, try db.get(Album.artist, of: album), try db.get(Album.songs, of: album),
        try db.count(Album.songs, of: album)
      )
    }
    #expect(read.0.title == "Sinnerman")
    #expect(read.1 == blues)
    #expect(read.2 == nina)
    #expect(read.3.map(\.title) == ["Sinnerman", "Strange Fruit"])
    #expect(read.4 == 2)
  }

  @Test func anEditWritesOnlyWhatItChanged() async throws {
    let test = try TestStore()
    _ = try await put(test.store)
    try test.sql("UPDATE song SET title = 'Strange Fruit (live)' WHERE id = '\(fruit.id)'")
    var draft = fruit.draft
    draft.year = 1939
    draft.title = "x"
    draft.title = "Strange Fruit"
    #expect(draft.changedProperties == ["year"])
    try await test.store.write { [self] tx in try tx.edit(fruit) { $0.year = 1939 } }
    let title = try test.sql("SELECT title, year FROM song WHERE id = '\(fruit.id)'")
    #expect(title == "Strange Fruit (live)|1939\n")
  }

  @Test func aDeletionTakesAlongWhatFollowsAndComesBack() async throws {
    let test = try TestStore()
    _ = try await put(test.store)
    #expect(try await test.store.plan(nina.id).deletedCount == 4)
    let gone = try await test.store.write { [self] tx in tx.delete(nina.id) }
    #expect(gone.deletedCount == 4)
    #expect(gone.deleted.contains { $0.isNode(sinnerman.id) })
    let why = try await test.store.why(sinnerman.id)
    #expect(why.state == .deleted)
    #expect(why.author == "test")
    let names = [NodeName(sinnerman.id), NodeName(blues.id), NodeName(nina.id)]
    #expect(why.chain.map(\.node) == names.map { .node($0) })
    #expect(try await test.store.undo(gone).restored == 4)
    #expect(try await test.store.read { db in try db.count(Song.all) } == 2)
  }

  @Test func aDenialNamesItsEdge() async throws {
    let test = try TestStore()
    let tour = Tour(id: .new(), singer: nina.id)
    try await test.store.write { [self] tx in
      try tx.put(nina)
      try tx.put(tour)
    }
    await #expect {
      try await test.store.write { [self] tx in tx.delete(nina.id) }
    } throws: { error in
      guard case WriteError.denied(let reasons) = error else { return false }
      return reasons[0].edge?.name == "singer" && reasons[0].edge?.source.isNode(tour.id) == true
    }
    #expect(try test.sql("SELECT count(*) FROM artist") == "1\n")
  }

  @Test func changesThatAreNotValidAreRejected() async throws {
    let test = try TestStore()
    await #expect {
      try await test.store.write { [self] tx in try tx.edit(fruit) { $0.year = 1939 } }
    } throws: { error in
      guard case WriteError.rejected(let reasons) = error else { return false }
      return reasons.map(\.code) == [.invalid] && reasons[0].node?.isNode(fruit.id) == true
    }
    #expect(try test.sql("SELECT count(*) FROM song") == "0\n")
  }

  @Test func aLargeDeletionIsHeldUntilItIsApproved() async throws {
    let test = try TestStore(
      model: musicModel(settings: "limits: { hold: { deletes: 2, share: 0.01 } }"))
    _ = try await put(test.store)
    let plan = Shared(0)
    await #expect {
      try await test.store.write { [self] tx in tx.delete(nina.id) }
    } throws: { error in
      guard case WriteError.held(let number, let receipt) = error else { return false }
      plan.value = number
      return receipt.deletedCount == 4
    }
    #expect(try test.sql("SELECT count(*) FROM artist") == "1\n")
    try run(program("cascadectl"), ["--store", test.path, "approve", "\(plan.value)"])
    #expect(try test.sql("SELECT count(*) FROM artist") == "0\n")
  }

  @Test func aHookRefusesBeforeAnythingIsSent() async throws {
    let test = try TestStore(starts: false)
    await #expect(throws: Song.Invalid.noTitle) {
      try await test.store.write { [self] tx in
        try tx.put(Song(id: .new(), title: "", year: 1, album: blues.id))
      }
    }
  }

  @Test func theSameTransactionTakesEffectOnce() async throws {
    let test = try TestStore()
    var transaction = Transaction()
    try transaction.put(nina)
    transaction.delete(blues.id)
    let first = try await test.store.submit(transaction)
    let second = try await test.store.submit(transaction)
    #expect(first.outcome == .applied)
    #expect(second.outcome == .duplicate)
    #expect(second.batch == first.batch)
    #expect((first.passedOver, second.passedOver) == (1, 1))
    #expect(try test.sql("SELECT count(*) FROM cascade_ledger") == "1\n")
  }

  @Test func objectsKeepTheirTypesAndLists() async throws {
    let test = try TestStore()
    let image = Image(id: .new(), width: 640)
    let photo = PhotoPost(id: .new(), caption: nil, images: [image.id])
    let text = TextPost(id: .new(), text: "\"hello\"\n\u{1F600}")
    try await test.store.write { tx in
      try tx.put(photo)
      try tx.put(image)
      try tx.put(text)
    }
    let read = try await test.store.read { db in
      (
        try db.all(Post.self), try db.get(PhotoPost.images, of: photo),
        try db.get(Image.posts, of: image), try db.get(text.id)
      )
    }
    #expect(read.0 == [.photo(photo), .text(text)])
    #expect(read.1 == [image])
    #expect(read.2 == [photo])
    #expect(read.3 == text)
  }

  @Test func linksAreReadFromBothEnds() async throws {
    let test = try TestStore()
    let pages = (1...3).map { Page(id: ID($0), title: "page \($0)") }
    try await test.store.write { tx in
      for page in pages { try tx.put(page) }
      tx.link(Page.refs, from: pages[0].id, to: pages[1].id)
      tx.link(Page.refs, from: pages[0].id, to: pages[2].id)
    }
    let read = try await test.store.read { db in
      (
        try db.get(Page.refs, of: pages[0]), try db.get(Page.referrers, of: pages[2]),
        try db.get(Page.referrers, ofEach: pages).mapValues(\.count)
      )
    }
    #expect(read.0 == [pages[1], pages[2]])
    #expect(read.1 == [pages[0]])
    #expect(read.2 == [pages[1].id: 1, pages[2].id: 1])
    let receipt = try await test.store.write { tx in
      tx.unlink(Page.refs, from: pages[0].id, to: pages[1].id)
    }
    #expect(receipt.deletedCount == 1)
  }

  @Test func aQueuedWriteIsDurableWhileTheDaemonIsAway() async throws {
    let test = try TestStore()
    test.end(15)
    await #expect {
      try await test.store.write(by: .spool) { [self] tx in try tx.put(nina) }
    } throws: { error in
      guard case WriteError.unavailable(_, isQueued: true) = error else { return false }
      return true
    }
    await #expect {
      try await test.store.write { [self] tx in try tx.put(nina) }
    } throws: { error in
      guard case WriteError.unavailable(_, isQueued: false) = error else { return false }
      return true
    }
    try test.start()
    try await waitUntil("the queued write is applied") {
      try test.sql("SELECT count(*) FROM artist") == "1\n"
    }
    let receipt = try await test.store.write(by: .spool) { [self] tx in try tx.delete(nina) }
    #expect(receipt.deletedCount == 1)
  }

  @Test func aWaitingWriteSaysWhy() async throws {
    let test = try TestStore()
    try await test.store.write { [self] tx in try tx.put(nina) }
    let shell = try Shell(test.path)
    try shell.say("BEGIN IMMEDIATE;")
    let id = Shared<UUIDv7?>(nil)
    await #expect {
      try await test.store.write(timeout: .seconds(1)) { [self] tx in
        id.value = tx.id
        try tx.put(blues)
      }
    } throws: { error in
      guard case WriteError.pending(let pending, let why) = error else { return false }
      return pending == id.value && why == "the database is locked"
    }
    guard case .waiting = try await test.store.receipt(of: id.value!) else {
      Issue.record("it does not wait")
      return
    }
    try shell.say("COMMIT;")
    guard case .applied(let receipt) = try await test.store.receipt(of: id.value!, wait: true)
    else {
      Issue.record("it is not applied")
      return
    }
    #expect(receipt.id == id.value?.description)
  }

  @Test func aServedModelIsCompared() async throws {
    let test = try TestStore()
    #expect(try await test.store.check(musicModel(media: test.scratch.path("media"))) == [])
    let other = ModelFile(files: ["media": test.scratch.path("media")]) {
      Artist.self
      Album.self
      FreeTour.self
    }
    let differences = try await test.store.check(other)
    #expect(differences.contains("relationship tours.singer changed"))
    #expect(differences.contains("collection songs removed"))
  }
}

@Model("tours", table: "tour")
private struct FreeTour {
  let id: ID<FreeTour>
  var singer: ID<Artist>
  static let singer = Relationship<Artist>(\.singer, "singer", inverse: "tours")
}
