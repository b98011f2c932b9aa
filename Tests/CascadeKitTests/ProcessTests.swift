import CascadeKit
import CascadeSystem
import Glibc
import TestSupport
import Testing

/// Programs beside each other: what one does, the others see, and the end of one costs nobody.
@Suite struct ProcessTests {
  private static let commits = isLong ? 10_000 : 500
  private static let edits = isLong ? 10_000 : 200

  /// Commits one after the other, and prints when each was done.
  private static let writer = """
    import sqlite3, sys, time
    db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=30)
    db.execute("PRAGMA synchronous = OFF")
    for number in range(1, int(sys.argv[2]) + 1):
        db.execute("INSERT INTO tag VALUES(?, 'red')", (number,))
        print(number, time.monotonic_ns() // 1000, flush=True)
    """

  @Test func aWatcherSeesTheCommitsOfAnotherProcessInTheirOrder() async throws {
    let test = try TestStore(starts: false)
    let (watched, written) = (test.scratch.path("watch"), test.scratch.path("times"))
    let watcher = try spawn(program("KitProgram"), ["watch", test.path], output: watched)
    defer { end(watcher) }
    try await waitUntil("it watches") { try pairs(watched).first?.value == 0 }
    let writer = try spawn(
      "/usr/bin/python3", ["-c", ProcessTests.writer, test.path, "\(ProcessTests.commits)"],
      output: written)
    defer { end(writer) }
    try await waitUntil("it has seen the last commit", limit: .seconds(120)) {
      try pairs(watched).last?.value == ProcessTests.commits
    }
    let seen = try pairs(watched)
    #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.value < $1.value })
    let delays = ProcessTests.delays(seen, try pairs(written))
    let late = delays.sorted()[delays.count * 99 / 100]
    print("a commit is seen after \(late) µs at the 99th percentile")
    if isLong { #expect(late < 100_000) }
  }

  /// From each commit until it, or a later one, was seen.
  private static func delays(
    _ seen: [(value: Int, time: Int)], _ written: [(value: Int, time: Int)]
  ) -> [Int] {
    var next = 0
    return written.map { number, time in
      while seen[next].value < number { next += 1 }
      return max(0, seen[next].time - time)
    }
  }

  @Test func anIdleWatcherRests() async throws {
    let test = try TestStore(starts: false)
    let log = test.scratch.path("watch")
    let process = try spawn(program("KitProgram"), ["watch", test.path], output: log)
    defer { end(process) }
    try await waitUntil("it watches") { try pairs(log).first?.value == 0 }
    let seconds = isLong ? 60 : 5
    let (start, before) = (ContinuousClock.now, try wakes(process))
    try await Task.sleep(for: .seconds(seconds))
    let count = try wakes(process) - before
    // Beside other tests it may be long before the task goes on.
    #expect(.seconds(count) <= start.duration(to: .now))
  }

  @Test func twoProgramsEditDifferentPropertiesOfOneRow() async throws {
    let test = try TestStore()
    let song = Song(id: .new(), title: "a", year: 0, album: .new())
    try test.sql("INSERT INTO album VALUES('\(song.album)', 'x', NULL, NULL)")
    try await test.store.write { tx in try tx.put(song) }
    let other = try spawn(
      program("KitProgram"), ["retitle", test.path, "\(song.id)", "\(ProcessTests.edits)"],
      output: test.scratch.path("retitle"))
    defer { end(other) }
    for year in 1...ProcessTests.edits {
      try await test.store.write { tx in try tx.edit(song) { $0.year = year } }
      let read = try await test.store.read { db in try db.get(song.id)!.year }
      #expect(read == year)
    }
    try await waitUntil("the other has ended", limit: .seconds(300)) {
      try test.sql("SELECT title, year FROM song")
        == "title \(ProcessTests.edits)|\(ProcessTests.edits)\n"
    }
  }

  @Test func aLeaseEndsWithItsProcess() async throws {
    let test = try TestStore()
    let log = test.scratch.path("lease")
    let holder = try spawn(program("KitProgram"), ["lease", test.path, "jazz"], output: log)
    defer { end(holder) }
    try await waitUntil("it holds") { try lines(log) == ["held"] }
    try await test.store.write { tx in try tx.put(Tag(id: "jazz", color: .red)) }
    try test.sql("INSERT INTO song_tag VALUES('x', 'jazz'); DELETE FROM song_tag")
    try run(program("cascadectl"), ["--store", test.path, "sweep"])
    #expect(try test.sql("SELECT count(*) FROM tag") == "1\n")
    kill(holder, SIGKILL)
    let killed = ContinuousClock.now
    try await waitUntil("the tag is gone") { try test.sql("SELECT count(*) FROM tag") == "0\n" }
    if isLong { #expect(ContinuousClock.now - killed < .seconds(1)) }
  }
}

/// A write takes effect once, whenever its program or the daemon is killed.
@Suite struct ExactlyOnceTests {
  /// The calls of a write that others can see. Each of them is the last of some program here.
  private static let calls =
    "socket,connect,sendto,sendmsg,recvfrom,recvmsg,read,write,writev,openat,fsync,fdatasync,"
    + "rename,renameat,renameat2,unlinkat,poll,ppoll"

  private static let hasStrace = (try? FileDescriptor.open("/usr/bin/strace")) != nil

  @Test(
    .enabled(if: hasStrace, "strace is not installed"),
    arguments: ["socket", "spool"])
  func aKilledWriterMayTryAgain(way: String) async throws {
    let test = try TestStore()
    var random = SystemRandomNumberGenerator()
    let places =
      isLong ? Array(1...400) : (1...6).map { _ in Int.random(in: 1...120, using: &random) }
    var survivors = 0
    for (round, place) in places.enumerated() where survivors < 3 {
      let id = UUIDv7()
      let arguments = ["write", test.path, way, "\(id)", "tag \(round)"]
      let inject = "--inject=\(ExactlyOnceTests.calls):signal=KILL:when=\(place)"
      let isKilled =
        (try? run(
          "/usr/bin/strace",
          ["-f", "-qq", "-o", "/dev/null", inject, program("KitProgram")]
            + arguments)) == nil
      survivors += isKilled ? 0 : 1
      if round % 3 == 2 {
        test.end(SIGKILL)
        try test.start()
      }
      try run(program("KitProgram"), arguments)
      let label: Comment = "call \(place), \(way)"
      #expect(try test.sql("SELECT count(*) FROM tag WHERE id = 'tag \(round)'") == "1\n", label)
      #expect(
        try test.sql("SELECT outcome FROM cascade_ledger WHERE id = '\(id)'") == "applied\n", label)
    }
    #expect(try test.sql("SELECT count(*) = count(DISTINCT id) FROM cascade_ledger") == "1\n")
  }
}

private func lines(_ path: String) throws -> [String] {
  try contents(of: path).split(separator: "\n").map(String.init)
}

/// A number and a time in each line.
private func pairs(_ path: String) throws -> [(value: Int, time: Int)] {
  try lines(path).compactMap { line in
    let numbers = line.split(separator: " ").compactMap { Int($0) }
    return numbers.count == 2 ? (numbers[0], numbers[1]) : nil
  }
}

private func end(_ process: pid_t) {
  kill(process, SIGKILL)
  reap(process)
}

/// How often the threads of CascadeKit in a process have waited for something. Those of Dispatch have
/// a timer of a second in every program with tasks.
private func wakes(_ process: pid_t) throws -> Int {
  let tasks = "/proc/\(process)/task"
  return try Directory.open(tasks).names().reduce(0) { sum, name in
    if try lines("\(tasks)/\(name)/comm").first?.hasPrefix("cascade") != true { return sum }
    let line = try lines("\(tasks)/\(name)/status").first { $0.hasPrefix("voluntary_ctxt") }
    return sum + (line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0)
  }
}
