import CascadeKit
import TestSupport
import Testing

/// Deletions that begin with a program, and nodes that are kept from every deletion.
@Suite struct JobTests {
  private let nina = Artist(id: .new(), name: "Nina", since: 1958)

  /// A store with an artist, and so many albums of hers.
  private func store(albums: Int, settings: String = "") async throws -> TestStore {
    let test = try TestStore(model: musicModel(settings: settings))
    try await test.store.write { [self] tx in
      try tx.put(nina)
      for number in 0..<albums {
        try tx.put(Album(id: .new(), title: "\(number)", artist: nina.id))
      }
    }
    return test
  }

  private func end(of job: DeletionJob, _ test: TestStore) async throws -> DeletionJob {
    var last = job
    for try await now in test.store.progress(of: job) { last = now }
    return last
  }

  @Test func aJobIsFollowedToItsEndAndUndone() async throws {
    let test = try await store(albums: 30)
    let job = try await end(of: test.store.delete(nina.id, expecting: 31), test)
    #expect(job.state == .done)
    #expect(job.deletedCount == 31)
    #expect(job.total == 31)
    #expect(job.byCollection == ["artists": 1, "albums": 30])
    #expect(try await test.store.jobs() == [job])
    #expect(try await test.store.undo(batch: #require(job.batch)).restored == 31)
  }

  @Test func whatWentIsFollowed() async throws {
    let test = try await store(albums: 3)
    var gone = test.store.deleted().makeAsyncIterator()
    let job = try await end(of: test.store.delete(nina.id), test)
    var found: [DeletedNode] = []
    while found.count < 4, let next = try await gone.next() { found.append(next) }
    #expect(found.map(\.collection) == ["artists", "albums", "albums", "albums"])
    #expect(found[0].node == NodeName(nina.id) && found[0].cause == .job && found[0].isKept)
    #expect(found.allSatisfy { $0.batch == job.batch && $0.author != nil })
    var rest = test.store.deleted(after: found[2].number).makeAsyncIterator()
    #expect(try await rest.next()?.number == found[3].number)
  }

  @Test func oneNodeComesBackAlone() async throws {
    let test = try await store(albums: 3)
    let albums = try await test.store.read { db in try db.all(Album.all) }
    let job = try await end(of: test.store.delete(nina.id), test)
    #expect(try await test.store.undo(albums[1].id).restored == 1)
    #expect(try test.sql("SELECT count(*) FROM album") == "1\n")
    await #expect(throws: AskError.self) { try await test.store.undo(albums[1].id) }
    #expect(try await test.store.undo(batch: #require(job.batch)).restored == 3)
  }

  @Test func aJobWaitsForAnAnswer() async throws {
    let test = try await store(
      albums: 30, settings: "limits: { hold: { deletes: 2, share: 0.01 } }")
    let held = try await end(of: test.store.delete(nina.id), test)
    #expect(held.state == .held)
    try await test.store.reject(#require(held.plan))
    #expect(try test.sql("SELECT count(*) FROM album") == "30\n")
    let again = try await end(of: test.store.delete(nina.id), test)
    _ = try await test.store.approve(#require(again.plan))
    #expect(try await end(of: again, test).state == .done)
    #expect(try test.sql("SELECT count(*) FROM album") == "0\n")
  }

  @Test func aHeldJobIsCancelled() async throws {
    let test = try await store(
      albums: 30, settings: "limits: { hold: { deletes: 2, share: 0.01 } }")
    let held = try await end(of: test.store.delete(nina.id), test)
    #expect(try await test.store.cancel(held).state == .cancelled)
    #expect(try test.sql("SELECT count(*) FROM album") == "30\n")
  }

  @Test func rowsGoForWhichAConditionHolds() async throws {
    let test = try await store(albums: 30)
    let begun = try await test.store.delete(Album.self, where: "CAST(title AS INTEGER) < 10")
    #expect(try await end(of: begun, test).deletedCount == 10)
    await #expect(throws: AskError.self) {
      try await test.store.delete(Album.self, where: "title; DROP TABLE album")
    }
  }

  @Test func whatIsProtectedStays() async throws {
    let test = try await store(albums: 2)
    let protection = try await test.store.protect(nina.id, reason: "case 14")
    #expect(protection.node == NodeName(nina.id))
    #expect(protection.reason == "case 14")
    #expect(try await test.store.protections() == [protection])
    let refused = try await end(of: test.store.delete(nina.id), test)
    #expect(refused.state == .blocked)
    #expect(refused.blocked.contains { $0.message.contains("case 14") })
    #expect(throws: (any Error).self) { try test.sql("DELETE FROM artist") }
    try await test.store.unprotect(nina.id)
    #expect(try await test.store.protections() == [])
    #expect(try await end(of: test.store.delete(nina.id), test).deletedCount == 3)
  }
}
