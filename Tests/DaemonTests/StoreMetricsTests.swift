import CascadeModel
import CascadeSQLite
import CascadeSystem
import Glibc
import Testing

/// What `metrics` tells of a store that is in trouble, and that one in order has nothing of it.
@Suite struct StoreMetricsTests {
  @Worker @Test func tellsHowLongAPlanHasWaited() throws {
    let clock = try SetClock(.june, zone: "UTC")
    let store = try Library.store(
      more: "sweeps: {}, limits: { hold: { deletes: 0, share: 0 } },", starts: false)
    store.clock = clock
    try store.start()
    #expect(try store.metric("cascaded_oldest_held_plan_seconds") == 0)
    try store.sql("DELETE FROM album WHERE id = 1")
    #expect(try store.ctl("sweep", "cascade").status == 3)
    try clock.set(.june + 2 * .hours)
    #expect(try store.metric("cascaded_oldest_held_plan_seconds") == 7_200)
    try store.end()
    try store.start()
    try clock.set(.june + 3 * .hours)
    #expect(try store.metric("cascaded_oldest_held_plan_seconds") == 10_800)
    #expect(try store.ctl("approve", "1").status == 0)
    #expect(try store.metric("cascaded_oldest_held_plan_seconds") == 0)
  }

  @Worker @Test func tellsHowLongAFileIsHeld() throws {
    let store = try TestStore(model: "{ limits: { hold: { deletes: 0, share: 0 } } }")
    try store.apply(#"{"changes": [{"put": ["a", "1"]}]}"#)
    let held = try store.ctl("apply", "-", input: #"{"changes": [{"delete": ["a", "1"]}]}"#)
    #expect(held.status == 3)
    try store.waitUntil("it has waited") {
      try store.metric("cascaded_oldest_held_plan_seconds")! > 0
    }
  }

  @Worker @Test func tellsWhatShouldHaveRun() throws {
    let clock = try SetClock(.june, zone: "UTC")
    let store = try Library.store(more: "sweeps: { dangling: '0 1 * * *' },", starts: false)
    store.clock = clock
    try store.start()
    #expect(try store.metric("cascaded_overdue_schedule_seconds") == 0)
    try store.ctl("pause")
    try clock.set(.june + 3 * .hours)
    let overdue = try #require(try store.metric("cascaded_overdue_schedule_seconds"))
    // It runs at some second of its minute.
    #expect(7_140...7_200 ~= overdue)
    try store.ctl("resume")
    try store.waitUntil("it ran") { try store.metric("cascaded_overdue_schedule_seconds") == 0 }
  }

  @Worker @Test func tellsHowManyFilesWait() throws {
    let store = try FileCommandTests.store()
    #expect(try store.metric("cascaded_waiting_files") == 0)
    let (root, away): (FileName, FileName) = ("media", "away")
    try store.scratch.directory.rename(root, to: store.scratch.directory, as: away)
    try store.sql("DELETE FROM album")
    try store.waitUntil("both wait") { try store.metric("cascaded_waiting_files") == 2 }
    try store.scratch.directory.rename(away, to: store.scratch.directory, as: root)
    try store.ctl("sweep", "files")
    try store.waitUntil("none waits") { try store.metric("cascaded_waiting_files") == 0 }
  }

  @Worker @Test func tellsTheSizeOfTheLogAndTheFreeSpace() throws {
    let store = try Library.store(more: "sweeps: {},")
    try store.sql("INSERT INTO artist VALUES('max', 'Max Roach')")
    let log = try #require(try FileStatus.of("\(store.path)-wal")).size
    #expect(log > 0)
    #expect(try store.metric("cascaded_log_bytes") == Double(log))
    #expect(try store.metric("cascaded_disk_free_bytes")! > 0)
  }

  @Worker @Test func tellsHowLongCommitsWaitForTheirSweep() throws {
    let store = try Library.store()
    try store.waitUntilQuiet()
    let before = try store.delays()
    #expect(kill(store.identifier, SIGSTOP) == 0)
    try store.sql("DELETE FROM album WHERE id = 1")
    let other = try Connection(path: store.path, access: .readWrite)
    try other.execute("BEGIN IMMEDIATE")
    #expect(kill(store.identifier, SIGCONT) == 0)
    SystemClock.sleep(for: .seconds(2))
    try other.execute("COMMIT")
    try store.waitUntil("it is swept") { try store.delays().count == before.count + 1 }
    #expect(try store.songs() == [20])
    #expect(try 1.5...30 ~= store.delays().sum - before.sum)
    try store.sql("INSERT INTO artist VALUES('max', 'Max Roach')")
    try store.waitUntilQuiet()
    #expect(try store.delays().count == before.count + 1, "nothing followed from it")
  }
}

extension TestStore {
  fileprivate func delays() throws -> (count: Double, sum: Double) {
    let name = "cascaded_sweep_delay_seconds"
    return (try #require(try metric("\(name)_count")), try #require(try metric("\(name)_sum")))
  }

  /// The value of the only series with a name and labels.
  func metric(_ name: String, _ labels: String = "") throws -> Double? {
    try Metric.value(name, labels, in: ctl("metrics").output)
  }
}

enum Metric {
  /// The value of the only series with a name and labels; nil if there are none, or several.
  static func value(_ name: String, _ labels: String = "", in text: String) -> Double? {
    let lines = text.split(separator: "\n").filter {
      $0.hasPrefix("\(name){") && $0.contains(labels)
    }
    return lines.count == 1 ? lines[0].split(separator: " ").last.flatMap { Double($0) } : nil
  }
}
