internal import Model
internal import SQLite

/// The write-ahead log, where a checkpoint must hold the write lock (`Connection.checkpointsAreSafe`).
///
/// A large sweep changes the same pages in step after step. The longer the log, the fewer of them go
/// into the database file; but the longer a checkpoint of it takes, ours or the one that SQLite has the
/// application's next commit take. So while nobody else writes we set fences in a long log: each is a
/// reader, and no checkpoint goes beyond what the oldest reader sees. The log goes into the database a
/// part after the other, and what was changed again behind a fence only once.
struct LogParts {
  fileprivate var keeper: Keeper?
  fileprivate var fences: [LogFence] = []
  /// How long the log was when it was last looked at.
  fileprivate var looked = 0

  /// SQLite has four places for what readers see, and others read too.
  fileprivate var isFull: Bool { fences.count == 2 }
}

/// A connection that holds the write lock during another's checkpoints, and waits for nobody.
private final class Keeper {
  let db: Connection

  init(_ path: String) throws {
    db = try Connection(path: path, access: .readWrite)
    try db.takeNoCheckpoints()
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
  private func rest(_ manners: Manners, behindPart: Bool = false) throws {
    let start = ContinuousClock.now
    behindPart ? db.syncDatabase() : db.syncLog()
    let breath = Neighbours.mayBe(at: path) ? pace.breath : .zero
    try manners.pause(max(.zero, breath - (.now - start)))
  }

  private func boundLog(_ manners: Manners) throws {
    let frames = db.framesInLog
    // Where it is shorter it was begun anew.
    if frames - (log.looked > frames ? 0 : log.looked) < pace.frames { return }
    try pace.isAlone && !log.isFull ? setFence() : bringLog(manners)
  }

  private func setFence() throws {
    log.looked = db.framesInLog
    log.fences.append(try LogFence(path, frames: log.looked))
  }

  /// What a large sweep has left there.
  func bringRest(_ manners: Manners) throws {
    if !Connection.checkpointsAreSafe && db.framesInLog > Writer.fewFrames { try bringLog(manners) }
  }

  /// A checkpoint of the whole log ends with a sync of the database, under the lock: so the last fence
  /// is behind all but a small commit.
  private func bringLog(_ manners: Manners) throws {
    try setFence()
    try group {
      try db.run("INSERT INTO cascade_quiet VALUES(0)")
      try db.run("DELETE FROM cascade_quiet WHERE id = 0")
    }
    var before = 0
    while let frames = log.fences.first?.frames {
      try bringPart(frames - before, manners)
      before = frames
      log.fences.removeFirst()
      try rest(manners, behindPart: true)
    }
    try bringPart(1, manners)
    log.looked = db.framesInLog
  }

  /// Gives way to others for a while only: the next part would be the longer.
  private func bringPart(_ frames: Int, _ manners: Manners) throws {
    for _ in 0..<20 {
      let came = try hold { try db.checkpoint(keptBy: keeper().db) }
      if came == .part { pace.note(frames: frames, took: holds.last ?? .zero) }
      if came != .gaveWay { return }
      try manners.pause(.milliseconds(5))
    }
  }

  func forgetFences() { log.fences = [] }

  /// Whose checkpoint waits for those who read, and so for our fences, has the lock that we wait for.
  func begin() throws {
    if log.fences.isEmpty { return try db.begin() }
    db.setBusyTimeout(milliseconds: 100)
    defer { db.setBusyTimeout(milliseconds: busyMilliseconds) }
    do {
      try db.begin()
    } catch {
      if !error.isBusy { throw error }
      forgetFences()
      db.setBusyTimeout(milliseconds: busyMilliseconds)
      try db.begin()
    }
  }
}

// MARK: - Otherwise

extension Writer {
  /// Bounds the log, where SQLite must not do it by itself: early while nobody minds, in time while
  /// there is work or company.
  package func tidy(atLeisure: Bool) throws {
    if Connection.checkpointsAreSafe { return }
    let most = atLeisure ? Writer.fewFrames : pace.frames
    if db.framesInLog > most { try db.checkpoint(keptBy: keeper().db) }
  }

  /// Leaves everything in the database file, for whoever copies that alone.
  package func finish() throws {
    if try db.checkpoint(keptBy: keeper().db) == .whole { db.truncateLog() }
  }

  /// Where the log's file was removed, nobody else can write: what only it has goes into the database.
  package func saveLog() { db.truncateLog() }

  /// Where another log is there now, nothing of the old one may come into the database file.
  package func abandonLog() { db.keepLogOnClose() }

  /// There as long as there is work.
  private func keeper() throws -> Keeper {
    let keeper = try log.keeper ?? Keeper(path)
    log.keeper = keeper
    return keeper
  }

  /// 4 MB of 4 KB pages, as SQLite's own automatic checkpoint.
  private static let fewFrames = 1_000
}
