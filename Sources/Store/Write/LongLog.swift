internal import CascadeModel
internal import CascadeSQLite
internal import CascadeSystem
/// The write-ahead log, where SQLite's own checkpoints are not to be trusted
/// (`Connection.checkpointsAreSafe`).
///
/// A large sweep changes the same pages in step after step. The longer the log, the fewer of them go
/// into the database file. But SQLite has the application's next commit bring whatever is in the log,
/// and wait for the disk. So a fence of ours stands in it, which is a reader: no checkpoint goes beyond
/// what the oldest reader sees, and no commit begins a log anew in which somebody reads.
///
/// 1. From before the first step on there is a fence, and nothing of ours in front of it that is not in
///    the database: an application's checkpoint finds nothing to bring. One that stands in front of all
///    frames keeps it from that only at the last moment: behind the first step another takes its place.
/// 2. While a fence stands behind some frames, a checkpoint of ours up to there needs no lock: it cannot
///    meet a commit that begins the log anew, which is what corrupts.
/// 3. What remains behind that is small. It is brought while nobody else can write, so that the next
///    commit begins the log anew; and before the lock is given back, a new fence stands.
struct LongLog: ~Copyable {
  fileprivate var keeper: Keeper?
  fileprivate var fence: LogFence?
  /// Frames that stayed although all was to be brought: somebody reads them.
  fileprivate var left = 0
  /// What the last step wrote, on its way to the disk.
  fileprivate var sync: BackgroundWork?
}

/// A connection that holds the write lock during another's checkpoints.
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
  /// Whether there are frames in front of it that no checkpoint brought before it stood there.
  let isInLog: Bool

  init(_ path: String, isInLog: Bool) throws {
    db = try Connection(path: path, access: .readOnly)
    db.keepLogOnClose()
    try db.execute("BEGIN; PRAGMA data_version")
    self.isInLog = isInLog
  }
}

// MARK: - Between the steps of a sweep

extension Writer {
  /// Leaves the lock to others.
  func breathe(_ manners: Manners) throws {
    try rest(manners)
    if Connection.checkpointsAreSafe { return }
    let frames = db.framesInLog
    if frames < log.left { log.left = 0 }
    if log.fence?.isInLog == false { _ = try bringFenced(manners) }
    if frames - log.left <= pace.mostFrames { return }
    try bringLog(manners)
    try rest(manners)
  }

  /// Meanwhile what a checkpoint, or an application's commit, would have to sync goes to the disk.
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

  /// Nobody could bring what came into the log behind a snapshot, and whoever does so next syncs it.
  ///
  /// Others write on at its end meanwhile. A page that is on its way to the disk cannot be written to, and
  /// a disk that has much to do keeps waiting who makes a file longer: so it goes in parts, and the end
  /// of it last.
  func syncLongLog() {
    if let file = try? FileDescriptor.open("\(path)-wal") {
      for start in stride(from: 0, to: Writer.mostSynced, by: Writer.partOfLog) {
        let end = start + Writer.partOfLog
        guard let size = try? file.status().size, size > end else { break }
        file.writeOut(start..<end)
      }
    }
    db.syncLog()
  }

  /// The next plan of a sweep finds that of the last.
  func setFirstFence() throws {
    if Connection.checkpointsAreSafe || log.fence != nil { return }
    log.fence = try LogFence(path, isInLog: false)
  }

  /// What a large sweep has left there.
  func bringRest(_ manners: Manners) throws {
    if Connection.checkpointsAreSafe || db.framesInLog <= Writer.fewFrames { return }
    try bringLog(manners)
    forgetPages()
  }

  /// The next commit begins the log anew, and gives back what is too long of its file: of 400 MB that
  /// the kernel has in memory that takes a tenth of a second.
  private func forgetPages() {
    let limit = Connection.LogLimit.ordinary.rawValue
    try? FileDescriptor.open("\(path)-wal").forgetPages(behind: limit)
  }

  /// Most of it, and what others write meanwhile, comes without the lock. A checkpoint of the whole log
  /// ends with a sync of the database: of little, where that is synced already.
  private func bringLog(_ manners: Manners) throws {
    log.sync = nil
    var done = 0
    for _ in 0..<Writer.mostPasses {
      guard let brought = try bringFenced(manners) else { return }
      if brought.done == done { break }
      db.syncDatabase()
      if brought.done - done < Writer.fewFrames { break }
      done = brought.done
    }
    try bringTail(manners)
    log.left = db.framesInLog
  }

  /// Up to a new fence, which stands behind the old one. Nil where others are at work with the log.
  ///
  /// Another's checkpoint looks at every place where a new one could stand, and may leave it only that of
  /// the old one: so it comes while there is none.
  private func bringFenced(_ manners: Manners) throws -> Connection.Brought? {
    var hasMoved = false
    return try trying(manners) {
      if !hasMoved, let next = try? LogFence(path, isInLog: true) {
        log.fence = next
        hasMoved = true
      }
      return hasMoved ? try db.bringLog() : nil
    }
  }

  private func bringTail(_ manners: Manners) throws {
    let tail = try trying(manners) {
      try db.checkpoint(
        keptBy: keeper().db, at: path, behind: { log.fence = nil },
        then: { log.fence = try? LogFence(path, isInLog: false) })
    }
    if let tail { holds.append(tail.held) }
  }

  /// Gives way to others for a while only: the next time there would be more.
  private func trying<T>(_ manners: Manners, _ body: () throws -> T?) throws -> T? {
    for _ in 0..<30 {
      if let result = try Neighbours.withoutCheckpoints(at: path, body) { return result }
      try manners.pause(.microseconds(200))
    }
    return nil
  }

  func forgetFence() { log.fence = nil }

  /// Whose checkpoint waits for those who read, and so for our fence, has the lock that we wait for.
  func begin() throws { try db.begin(besideOthersAt: path, orElse: forgetFence) }
}

// MARK: - Otherwise

extension Writer {
  /// Bounds the log, where SQLite must not do it by itself: early where there is nothing else to do.
  package func tidy(atLeisure: Bool) throws {
    let most = atLeisure ? Writer.fewFrames : 4 * Writer.fewFrames
    if Connection.checkpointsAreSafe || db.framesInLog <= most { return }
    try bringLog(.none)
    forgetPages()
    forgetFence()
  }

  /// Leaves everything in the database file, for whoever copies that alone.
  package func finish() throws {
    let came = try db.checkpoint(keptBy: keeper().db, at: path)
    if came?.brought.isWhole == true { db.truncateLog() }
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
  /// 4 MB at a time, up to 4 GB: others may write faster than the disk.
  private static let partOfLog = 4 << 20
  private static let mostSynced = 4 << 30
  private static let mostPasses = 4
}
