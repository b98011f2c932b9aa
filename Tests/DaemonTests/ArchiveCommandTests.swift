import CascadeModel
import CascadeSystem
import Glibc
import TestSupport
import Testing

/// The archive as people and scripts use it.
@Suite struct ArchiveCommandTests {
  private static func store(_ scratch: borrowing Scratch) throws -> TestStore {
    try PostsOfUsers.store(
      "keepDeleted: true, trash: \"1s\", archive: \"\(scratch.path("archive"))\",")
  }

  @Worker @Test("What the trash forgot comes back by apply")
  func comesBack() throws {
    let scratch = try Scratch()
    let store = try Self.store(scratch)
    #expect(try store.shell("DELETE FROM user WHERE id = 7").status == 0)
    _ = try store.ctl("sweep")
    // There is no archive yet.
    try store.waitUntil("nothing is forgotten, which status says") {
      _ = try store.ctl("sweep", "trash")
      return try store.status()["reason"]?.string?.contains("the archive") == true
    }
    #expect(try store.state() == "degraded")
    _ = try Directory.openOrMake(scratch.path("archive"))
    #expect(try store.ctl("sweep", "trash").status == 0)
    #expect(try store.state() == "ok")
    let file = scratch.path("archive/store.db/1.ndjson.zst")
    #expect(try FileStatus.isThere(file) && store.ctl("undo", "1").status == 65)
    #expect(try store.shell("SELECT count(*) FROM post").output == "1\n")
    let receipt = try store.ctl("--json", "apply", file)
    let counts = try receipt.json
    #expect(receipt.status == 0 && counts["restored"] == 2 && counts["leftCount"] == 0)
    #expect(try store.shell("SELECT id FROM user; SELECT id FROM post").output == "7\n8\n71\n81\n")
    #expect(try store.ctl("apply", file).output.contains("duplicate"))
    #expect(try store.ctl("--json", "batches").lines.count == 1)
  }

  @Worker @Test("A key that is taken is told, and a broken file is refused")
  func taken() throws {
    let scratch = try Scratch()
    _ = try Directory.openOrMake(scratch.path("archive"))
    let store = try Self.store(scratch)
    #expect(try store.shell("DELETE FROM user WHERE id = 7").status == 0)
    _ = try store.ctl("sweep")
    let file = scratch.path("archive/store.db/1.ndjson.zst")
    try store.waitUntil("it is archived") {
      _ = try store.ctl("sweep", "trash")
      return try FileStatus.isThere(file)
    }
    #expect(try store.shell("INSERT INTO user VALUES(7)").status == 0)
    let bytes = try FileDescriptor.open(file).readWhole(limit: 1 << 20)!
    try scratch.directory.file("cut.ndjson.zst", .createNew, mode: 0o600)
      .writeAll(Array(bytes.dropLast(9)))
    let cut = try store.ctl("apply", scratch.path("cut.ndjson.zst"))
    #expect(cut.status == 65 && cut.error.contains("zstd"))
    let applied = try store.ctl("apply", file)
    #expect(applied.status == 4 && applied.output.contains("applied: 1 node restored"))
    #expect(applied.output.contains("users/7"))
    #expect(try store.shell("SELECT count(*) FROM post").output == "2\n")
    let other = try store.ctl(
      "apply", "-", input: #"{"changes": [{"restore": {"moon": 1}}]}"#)
    #expect(other.status == 65 && other.output.contains("none of it"))
  }
}
