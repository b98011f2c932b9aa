import Glibc
import CascadeModel
import CascadeSQLite
import Spool
import CascadeStore
import CascadeSystem
import Testing

/// What is no change file, and what goes wrong around those that are.
@Suite("Hostile files, and bad days")
struct HostileFileTests {
  let spool: TestSpool

  init() throws { spool = try TestSpool() }

  private func made(_ name: FileName, _ make: (String) -> Int32) { #expect(make(new(name)) == 0) }

  private func new(_ name: FileName) -> String { "\(spool.path)/spool/new/\(name)" }

  private func messages(of name: FileName) throws -> [String] {
    try spool.reasonFile(name)["reasons"]?.array?.compactMap { $0["message"]?.string } ?? []
  }

  // MARK: - Kinds and names

  @Test("Links, FIFOs and directories are rejected, and never opened")
  func kinds() throws {
    let secret = "\(spool.path)/secret.json"
    try spool.root.file("secret.json", .createNew).writeAll(Array("{\"changes\":[]}".utf8))
    made("1.json") { unsafe symlink(secret, $0) }
    made("2.json") { unsafe symlink("nowhere", $0) }
    made("3.json") { unsafe mkfifo($0, 0o600) }
    made("4.json") { unsafe mkdir($0, 0o700) }
    try spool.put("5.json", changes: put("A"))
    #expect(
      try spool.settle().sorted() == (1...4).map { "\($0).json rejected" } + ["5.json applied"])
    #expect(try spool.directory("rejected").status(of: "1.json")?.kind == .symbolicLink)
    #expect(
      try messages(of: "1.json") == ["a symbolic link is not a change file, and is not opened"])
    #expect(try messages(of: "3.json")[0].hasPrefix("a FIFO"))
    #expect(try messages(of: "4.json")[0].hasPrefix("a directory"))
    #expect(try FileStatus.of(secret) != nil)
    for number in 1...4 { #expect(try spool.spool.dropRejected("\(number).json")) }
    #expect(try spool.names("rejected") == [])
  }

  @Test("Names that begin with a dot are left alone")
  func hidden() throws {
    try spool.put(".a.json", changes: put("A"))
    made(".b.json") { unsafe mkfifo($0, 0o600) }
    #expect(try spool.step() == nil)
    #expect(try spool.names("new") == [".a.json", ".b.json"])
  }

  @Test("A name that is not UTF-8, or has another ending, is rejected")
  func names() throws {
    let strange = FileName(bytes: [0x61, 0xFF, 0x80] + Array(".json".utf8))
    try spool.put(strange, changes: put("A"))
    try spool.put("a.JSON", changes: put("A"))
    try spool.put("b", changes: put("A"))
    try spool.put("c.json", changes: put("C"))
    #expect(try spool.drain().count == 4)
    #expect(try spool.keys() == "C")
    #expect(try spool.spool.rejectedNames() == ["a.JSON", strange, "b"].sorted())
    #expect(spool.hasReasons(strange))
    #expect(try messages(of: "b") == ["the name of a change file must end with .json or .ndjson"])
  }

  @Test("A name of 255 bytes is a name like any other")
  func longNames() throws {
    let name = FileName(String(repeating: "é", count: 125) + ".json")
    try spool.put(name, changes: put("A"))
    #expect(try spool.drain().map(\.receipt.outcome) == [.applied])
    for _ in 0..<3 {
      try spool.put(name, "nonsense")
      #expect(try spool.drain().map(\.receipt.outcome) == [.rejected])
    }
    let rejected = try spool.spool.rejectedNames()
    #expect(rejected.count == 3)
    #expect(rejected.allSatisfy { $0.bytes.count <= 255 && spool.hasReasons($0) })
    #expect(rejected.allSatisfy { String(validating: $0.bytes, as: UTF8.self) != nil })
  }

  @Test("Long names that begin alike have reasons of their own")
  func alikeNames() throws {
    let stem = String(repeating: "x", count: 249)
    for letter in ["a", "b"] { try spool.put("\(stem)\(letter).json", "nonsense \(letter)") }
    #expect(try spool.drain().count == 2)
    #expect(try spool.names("rejected").count == 4)
    #expect(try spool.spool.dropRejected("\(stem)a.json"))
    #expect(spool.hasReasons("\(stem)b.json"))
  }

  @Test("A .json file over 64 MiB is rejected without a look", arguments: [0, 1])
  func tooLarge(more: Int) throws {
    try spool.put("a.json", "")
    made("a.json") { unsafe truncate($0, 64 << 20 + more) }
    #expect(try spool.settle() == ["a.json rejected"])
    let isTooLarge = try messages(of: "a.json") == ["the .json change file is larger than 64 MiB"]
    #expect(isTooLarge == (more == 1))
  }

  @Test("A line over 64 MiB is rejected")
  func longLine() throws {
    try spool.put("a.ndjson", put("A") + "\n")
    made("a.ndjson") { unsafe truncate($0, 65 << 20) }
    #expect(try spool.settle() == ["a.ndjson rejected"])
    #expect(try messages(of: "a.ndjson") == ["a line is longer than 64 MiB"])
    #expect(try spool.keys() == "")
  }

  // MARK: - Files that vanish

  @Test("A file that vanishes while it waits is passed over")
  func vanished() throws {
    for name in ["a", "b", "c"] { try spool.put("\(name).json", changes: put(name)) }
    #expect(try spool.step(budget: .zero)?.count == 1)
    try spool.new.remove("b.json")
    #expect(try spool.settle() == ["c.json applied"])
    #expect(try spool.keys() == "a c")
  }

  @Test("A file that vanishes while it is judged is no trouble", arguments: ["nonsense", "[]", ""])
  func vanishedMeanwhile(text: String) throws {
    try spool.put("a.json", text)
    try spool.put("b.json", changes: put("B"))
    spool.clock.meanwhile = { [weak spool] in _ = try? spool?.new.remove("a.json") }
    try spool.drain()
    #expect(try spool.keys() == "B")
    #expect(try spool.names("rejected") == [])
  }

  @Test("A file that vanishes once it was applied stays applied")
  func vanishedApplied() throws {
    try spool.put("a.json", changes: put("A"))
    spool.clock.meanwhile = { [weak spool] in _ = try? spool?.new.remove("a.json") }
    #expect(try spool.settle() == ["a.json applied"])
    #expect(try spool.keys() == "A")
  }

  // MARK: - Locks

  @Test("A second daemon on the same spool is refused, until the first one ends")
  func secondLock() throws {
    #expect(throws: SpoolError.self) {
      _ = try TestSpool.open(spool.path, TestSpool.lenient, Ticks())
    }
    try spool.put("a.json", changes: put("A"))
    #expect(try spool.settle() == ["a.json applied"])
    try spool.restart()
  }

  private func isBusy(_ body: () throws -> Void) throws -> Bool {
    do { try body() } catch let error as SQLiteError { return error.isBusy }
    return false
  }

  @Test("While somebody else holds the store, files stay where they are; later they are applied")
  func busyStore() throws {
    let other = try Connection(path: "\(spool.path)/store.db", access: .readWrite)
    try spool.put("a.json", changes: put("A"))
    try spool.put("b.json", "nonsense")
    try other.begin()
    for _ in 0..<2 { #expect(try isBusy { _ = try spool.step() }) }
    #expect(try spool.names("new") == ["a.json", "b.json"])
    #expect(try spool.names("rejected") == [])
    try other.commit()
    #expect(try spool.settle().sorted() == ["a.json applied", "b.json rejected"])
    #expect(try spool.keys() == "A")
  }

  @Test("A batch that was interrupted goes on where it was")
  func busyBatch() throws {
    let other = try Connection(path: "\(spool.path)/store.db", access: .readWrite)
    let lines = (1...5).map { put("\($0)") }.joined(separator: "\n")
    try spool.put("a.ndjson", "{\"batch\":1}\n\(lines)")
    for _ in 0..<3 { #expect(try spool.step()?.isEmpty == true) }
    try other.begin()
    #expect(try isBusy { _ = try spool.step() })
    #expect(try spool.keys() == "1 2")
    try other.commit()
    #expect(try spool.settle() == ["a.ndjson applied"])
    #expect(try spool.keys() == "1 2 3 4 5")
    #expect(try spool.inbox?.writer.ledgerEntry("a.ndjson")?.part == 4)
  }

  @Test("Committed but not unlinked, a file is a duplicate to the next daemon")
  func killedAfterCommit() throws {
    let text = "{\"changes\":[\(put("A"))]}"
    try spool.put("a.json", text)
    try spool.drain()
    // As if the daemon had been killed before it could unlink the file.
    try spool.put("a.json", text)
    try spool.restart()
    #expect(try spool.settle() == ["a.json duplicate"])
  }

  @Test("Uploads that nobody went on with for an hour are removed at the start, others are not")
  func staleUploads() throws {
    for name in ["upload-1", "mine.json"] as [FileName] {
      _ = try spool.directory("tmp").file(name, .createNew)
    }
    let made = try #require(try spool.directory("tmp").status(of: "upload-1"))
    try spool.restart(clock: Ticks(made.modifiedMilliseconds + 3_599_000))
    #expect(try spool.names("tmp") == ["mine.json", "upload-1"])
    try spool.restart(clock: Ticks(made.modifiedMilliseconds + 3_601_000))
    #expect(try spool.names("tmp") == ["mine.json"])
  }
}

extension TestSpool {
  func hasReasons(_ name: FileName) -> Bool { spool.reasons(of: name) != nil }
}
