internal import Model
internal import SQLite
internal import System

/// The write-ahead log, where a checkpoint must hold the write lock (`Connection.checkpointsAreSafe`).
///
/// A large sweep changes the same pages in step after step. The longer the log, the fewer of them go
/// into the database file; but the longer a checkpoint of it takes, ours or the one that SQLite has the
/// application's next commit take. So we set fences in the log: each is a reader, and no checkpoint goes
/// beyond what the oldest reader sees. A part of the log goes into the database when there are newer
/// fences, and what was changed again behind one does not.
struct LogParts: ~Copyable {
  fileprivate var keeper: Keeper?
  fileprivate var fences: [LogFence] = []
  /// Frames up to the last fence that went.
  fileprivate var brought = 0
  /// Frames that stayed although all was to be brought: somebody reads them.
  fileprivate var left = 0
  /// What the last step wrote, on its way to the disk; and what the last part brought.
  fileprivate var sync: BackgroundWork?
  fileprivate var databaseSync: BackgroundWork?

  /// SQLite has four places for what readers see, and others read too.
  fileprivate static let mostFences = 2
  /// 400 MB of 4 KB pages.
  fileprivate static let mostFrames = 100_000
}

/// A connection that holds the write lock during another's checkpoints, and hardly waits for it.
private final class Keeper {
  let db: Connection

  init(_ path: String) throws {
    db = try Connection(path: path, access: .readWrite)
    try db.takeNoCheckpoints()
    // For somebody who commits all the time: who looks once finds the lock taken.
    db.setBusyTimeout(milliseconds: 1)
  }
}

/// Reads what is in the log now, and nothing that comes behind it.
private final class LogFence {
  private let db: Connection
  let frames: Int

  init(_ path: String, frames: Int) throws {
    db = try Connection(path: path, access: .readOnly)
    db.keepLogOnClose()
    try db.execute("BEGIN; PRAGMA data_version")
    self.frames = frames
  }
}

// MARK: - Between the steps of a sweep

extension Writer {
  /// Leaves the lock to others.
  func breathe(_ manners: Manners) throws {
    try rest(manners)
    if !Connection.checkpointsAreSafe { try boundLog(manners) }
  }

  /// Meanwhile what a checkpoint would have to sync under the lock goes to the disk.
  private func rest(_ manners: Manners) throws {
    let start = ContinuousClock.now
    let before = Neighbours.commits(at: path)
    syncLogMeanwhile()
    if !Neighbours.mayBe(at: path) { return try manners.pause(.zero) }
    let breath = pace.breath(behind: holds.last ?? .zero)
    var left: Duration
    repeat {
      let hadTurn = Neighbours.commits(at: path) != before
      left = (hadTurn ? breath.lowerBound : breath.upperBound) - (.now - start)
      try manners.pause(min(.milliseconds(1), max(.zero, left)))
    } while left > .milliseconds(1)
  }

  /// Behind the last one. Where it fails, the next checkpoint does it.
  private func syncLogMeanwhile() {
    let file = "\(path)-wal"
    log.sync = nil
    log.sync = BackgroundWork { try? FileDescriptor.open(file).syncData() }
  }

  private func syncDatabaseMeanwhile() {
    log.databaseSync = nil
    log.databaseSync = BackgroundWork(db.databaseSync)
  }

  /// In the log from before the first step on: what that writes, nobody else is to bring. The next plan
  /// of a sweep finds those of the last.
  func setFirstFence() throws {
    if Connection.checkpointsAreSafe || !log.fences.isEmpty { return }
    try setFence()
    log.brought = db.framesInLog
  }

  private func boundLog(_ manners: Manners) throws {
    let frames = db.framesInLog
    if frames < log.left { log.left = 0 }
    if frames < log.brought { log.brought = 0 }
    if frames - log.left > mostFrames { return try bringLog(manners) }
    if let last = log.fences.last, frames - last.frames < pace.frames { return }
    try setFence()
    if log.fences.count > LogParts.mostFences { try bringPart(manners) }
  }

  private var mostFrames: Int { pace.framesToAPart.map { 4 * $0 } ?? LogParts.mostFrames }

  private func setFence() throws {
    log.fences.append(try LogFence(path, frames: db.framesInLog))
  }

  /// What a large sweep has left there.
  func bringRest(_ manners: Manners) throws {
    if !Connection.checkpointsAreSafe && db.framesInLog > Writer.fewFrames { try bringLog(manners) }
  }

  /// A checkpoint of the whole log ends with a sync of the database, under the lock: so the last fence
  /// is behind all but a small commit, and the database is synced before. That fence goes, and a new
  /// one stands, while nobody else can write: his checkpoint would wait for the disk as well.
  private func bringLog(_ manners: Manners) throws {
    try setFence()
    try group {
      try db.run("INSERT INTO cascade_quiet VALUES(0)")
      try db.run("DELETE FROM cascade_quiet WHERE id = 0")
    }
    while log.fences.count > 1 { try bringPart(manners) }
    try checkpoint(manners)
    log.databaseSync = nil
    db.syncDatabase()
    try checkpoint(manners, behind: { log.fences = [] }, then: { try? setFence() })
    (log.brought, log.left) = (0, db.framesInLog)
    try rest(manners)
  }

  /// Up to the oldest fence.
  private func bringPart(_ manners: Manners) throws {
    // Where the sweep had to give way, they are gone.
    defer { if !log.fences.isEmpty { log.fences.removeFirst() } }
    let end = log.fences.first?.frames ?? 0
    if end == log.brought { return }
    let (came, time) = try checkpoint(manners)
    if came == .part {
      pace.note(frames: end - log.brought, took: time)
      syncDatabaseMeanwhile()
    }
    log.brought = end
    // Another's checkpoint may have left nothing to do.
    if time > .milliseconds(1) { try rest(manners) }
  }

  /// Gives way to others for a while only: the next part would be the longer.
  @discardableResult
  private func checkpoint(
    _ manners: Manners, behind letGo: () -> Void = {}, then settle: () -> Void = {}
  ) throws -> (came: Connection.Checkpoint, took: Duration) {
    log.sync = nil
    for _ in 0..<30 {
      let (came, held) = try db.checkpoint(keptBy: keeper().db, behind: letGo, then: settle)
      if came != .gaveWay {
        holds.append(held)
        return (came, held)
      }
      try manners.pause(.microseconds(200))
    }
    return (.gaveWay, .zero)
  }

  func forgetFences() {
    log.fences = []
    log.brought = 0
    log.databaseSync = nil
  }

  /// Whose checkpoint waits for those who read, and so for our fences, has the lock that we wait for.
  func begin() throws {
    if !log.fences.isEmpty {
      db.setBusyTimeout(milliseconds: 100)
      defer { db.setBusyTimeout(milliseconds: busyMilliseconds) }
      if try db.beginUnlessBusy() { return }
      forgetFences()
    }
    try db.begin()
  }
}

// MARK: - Otherwise

extension Writer {
  /// Bounds the log, where SQLite must not do it by itself: early while nobody minds, in time while
  /// there is work or company. All of it comes at once, and is synced under the lock: so it is shorter
  /// than a part.
  package func tidy(atLeisure: Bool) throws {
    if Connection.checkpointsAreSafe { return }
    let most = atLeisure ? Writer.fewFrames : min(pace.frames / 3, 4 * Writer.fewFrames)
    if db.framesInLog > most { try db.checkpoint(keptBy: keeper().db) }
  }

  /// Leaves everything in the database file, for whoever copies that alone.
  package func finish() throws {
    if try db.checkpoint(keptBy: keeper().db).came == .whole { db.truncateLog() }
  }

  /// Where the log's file was removed, nobody else can write: what only it has goes into the database.
  package func saveLog() { db.truncateLog() }

  /// Where another log is there now, nothing of the old one may come into the database file.
  package func abandonLog() { db.keepLogOnClose() }

  /// Whether somebody wrote a copy over the database that never had a log. Whoever opens it now must have
  /// it alone, which an open log prevents.
  package var isOverwritten: Bool { db.isWithoutLog }

  /// There as long as there is work.
  private func keeper() throws -> Keeper {
    let keeper = try log.keeper ?? Keeper(path)
    log.keeper = keeper
    return keeper
  }

  /// 4 MB of 4 KB pages, as SQLite's own automatic checkpoint.
  private static let fewFrames = 1_000
}
