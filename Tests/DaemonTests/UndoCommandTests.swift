import CascadeModel
import Testing

/// What was deleted together is listed, and comes back by one command.
@Suite struct UndoCommandTests {
  private func batches(_ store: TestStore) throws -> [JSON] {
    try store.ctl("--json", "batches").output.split(separator: "\n").map {
      try JSON.parse(String($0))
    }
  }

  @Worker @Test func bringsBackWhatAFileDeleted() throws {
    let store = try Library.store()
    try store.apply(#"{"id": "out", "author": "me", "changes": [{"delete": ["albums", 1]}]}"#)
    #expect(try store.songs() == [20])
    let batch = try #require(try batches(store).last)
    #expect(batch["id"]?.string == "out")
    #expect(batch["cause"]?.string == "file")
    #expect(batch["byCollection"] == ["albums": 1, "songs": 2])
    #expect(batch["undone"]?.isNull == true)
    let number = batch["batch"]?.text ?? ""
    let undo = try store.ctl("undo", number)
    #expect((undo.status, undo.output) == (0, "restored: 3 nodes\n"))
    #expect(try store.songs() == [10, 11, 20])
    #expect(try store.ctl("why", "songs/10").output.hasPrefix("songs/10 exists"))
    #expect(try batches(store).last?["undone"]?["by"]?.string?.hasPrefix("uid ") == true)
    let again = try store.ctl("undo", number)
    #expect(again.status == 65)
    #expect(again.error.contains("it was undone at"))
    #expect(try store.ctl("batches").output.contains("; undone at"))
    #expect(try store.ctl("undo", "99999").status == 65)
    #expect(try store.ctl("undo", "x").status == 64)
  }

  @Worker @Test func tellsWhatItLeavesAlone() throws {
    let store = try Library.store()
    try store.sql("DELETE FROM album WHERE id = 1")
    try store.waitUntil("the songs are gone") { try store.songs() == [20] }
    let batch = try #require(try batches(store).last)
    #expect(batch["cause"]?.string == "sweep")
    let why = try store.ctl("why", "songs/10").output
    #expect(why.contains("after an application's change"))
    #expect(why.contains("songs/10 -album-> albums/1"))
    try store.sql("INSERT INTO song VALUES(10, 2)")
    let undo = try store.ctl("undo", batch["batch"]?.text ?? "")
    #expect(undo.status == 4)
    #expect(undo.output.contains("  - songs/10: UNIQUE constraint failed: song.id\n"))
    #expect(
      undo.output.contains("the next sweep applies their rules:\n  - songs/11 -album-> albums/1"))
    #expect(try store.songs() == [10, 11, 20])
    #expect(try store.ctl("batches").output.contains("; partly undone at"))
  }
}
