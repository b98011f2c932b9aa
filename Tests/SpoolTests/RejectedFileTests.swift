import CascadeSystem
import Glibc
import Spool
import Testing

/// How long rejected files are kept.
@Suite struct RejectedFileTests {
  /// Rejects files whose rejection is so many seconds old.
  private func store(_ ages: [String: Int]) throws -> TestSpool {
    let store = try TestSpool()
    for name in ages.keys.sorted() { try store.put(FileName(name), "no JSON") }
    try store.drain()
    for (name, age) in ages { try setAge(of: "\(name).reason.json", age, store) }
    return store
  }

  private func setAge(of name: String, _ age: Int, _ store: TestSpool) throws {
    let time = timespec(tv_sec: Int(SystemClock.wall() / 1_000) - age, tv_nsec: 0)
    let path = "\(store.path)/spool/rejected/\(name)"
    let result = unsafe [time, time].withUnsafeBufferPointer {
      unsafe utimensat(AT_FDCWD, path, $0.baseAddress, 0)
    }
    if result != 0 { throw SystemError(code: errno, call: "utimensat", path: path) }
  }

  private func forget(_ store: TestSpool, keeping newest: Int) throws -> Int {
    try store.spool.forgetRejected(before: SystemClock.wall() - 100_000, keeping: newest)
  }

  @Test("What was rejected long ago is forgotten, with its reasons, but for the newest")
  func old() throws {
    let store = try store(["a.json": 50, "b.json": 200, "c.json": 300, "d.json": 400])
    #expect(try forget(store, keeping: 4) == 0)
    #expect(try forget(store, keeping: 3) == 1)
    #expect(
      try store.names("rejected")
        == [
          "a.json", "a.json.reason.json", "b.json", "b.json.reason.json", "c.json",
          "c.json.reason.json",
        ]
    )
    #expect(try forget(store, keeping: 0) == 2)
    #expect(try store.names("rejected") == ["a.json", "a.json.reason.json"])
    #expect(SpoolDirectory.mostRejectedKept == 1_000)
  }

  @Test("A file counts from its rejection, however long it had waited")
  func waited() throws {
    let store = try store(["a.json": 0])
    try setAge(of: "a.json", 1_000, store)
    #expect(try forget(store, keeping: 0) == 0)
  }

  @Test("Reasons that a crash left alone are forgotten; a file that is named like reasons is one")
  func alone() throws {
    let store = try store(["b.json.reason.json": 0])
    let files = try store.names("rejected")
    #expect(files == ["b.json.reason.json", "b.json.reason.json.reason.json"])
    let lone = "a.json.reason.json"
    _ = try store.directory("rejected").file(FileName(lone), .createNew)
    try setAge(of: lone, 200, store)
    try setAge(of: files[0], 200, store)
    #expect(try forget(store, keeping: 0) == 0)
    #expect(try store.names("rejected") == files)
  }
}
