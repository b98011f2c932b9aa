import CascadeModel
import CascadeSystem
import Testing

/// What finds no room takes no effect, and takes it when there is some.
///
/// No file of the daemon's may be longer than two megabytes here: the log would be, with the
/// commit.
@Suite struct FullDiskTests {
  private static let short = [
    "/bin/sh", "-c", "ulimit -f 4096; exec \"$0\" \"$@\"",
  ]

  @Worker @Test func commitsAllOrNothing() throws {
    let store = try TestStore(starts: false)
    let key = String(repeating: "x", count: 300)
    let puts = (0..<4_500).map { #"{"put": ["n", "\#($0)\#(key)"]}"# }.joined(separator: ",")
    try store.start(under: FullDiskTests.short)
    try store.enqueue("large.json", #"{"changes": [\#(puts)]}"#)
    try store.wait(forState: "degraded")
    #expect(store.log.contains("(COMMIT)"))
    #expect(try store.integers("SELECT count(*) FROM cascade_node") == [0])
    try store.end()
    try store.start()
    try store.waitUntil("it is applied") { try store.count(in: "new") == 0 }
    #expect(try store.integers("SELECT count(*) FROM cascade_node") == [4_500])
    #expect(try store.texts("PRAGMA integrity_check") == ["ok"])
  }
}
