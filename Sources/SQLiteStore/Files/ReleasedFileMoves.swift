internal import CascadeModel
internal import CascadeSQLite
package import CascadeStore
internal import CascadeEngine
internal import SQLiteBinding
package import SQLiteTables
internal import SQLiteJournal
internal import SQLiteEdges
internal import SQLiteDeletion

/// Files that lost their last edge are moved into the trash of their root.
///
/// 1. Under the write lock, an edge to the file is looked for. If there is none, the file is moved.
///    Nothing is written meanwhile, so the lock is short.
/// 2. The move is made durable, without a lock.
/// 3. Under the lock again: if an edge was added meanwhile, the file goes back. Otherwise the
///    record of the release is deleted. Only then is a file removed that the trash does not keep.
///
/// If the daemon is killed in between, the record is still there, and the file is in one place or
/// the other. The same steps find it, and end as they would have.
extension Writer {
  func moveReleased(
    _ roots: FileRoots, at now: Int64, _ budget: Duration, _ work: inout FileWork
  ) throws {
    let files = try db.releasedFiles(after: files.lastTriedFile, at: now, limit: Writer.mostFiles)
    if files.isEmpty { return }
    var changed: [String: Set<String>] = [:]
    let mover = FileMover(roots: roots, now: now)
    let sights = try withNamedFiles(at: files.map(\.asked), budget, commits: false) { named in
      let start = ContinuousClock.now
      return files.map { file -> FileMover.MoveResult in
        if ContinuousClock.now - start > budget { return .notTried }
        return mover.move(file, isNamed: named.contains(file.id), &changed)
      }
    }
    guard let sights else { return work.hasMore = true }
    for (root, paths) in changed { try roots[root]?.sync(paths) }
    try finishMove(files, sights, mover, budget, &work)
  }

  private func finishMove(
    _ files: [ReleasedFile], _ sights: [FileMover.MoveResult], _ mover: FileMover,
    _ budget: Duration, _ work: inout FileWork
  ) throws {
    let done = try withNamedFiles(at: files.map(\.asked), budget, commits: true) { named in
      var done = FileWork()
      for (file, sight) in zip(files, sights) {
        try done.attempt {
          try finishMove(file, sight, isNamed: named.contains(file.id), mover, &$0)
        }
      }
      return done
    }
    guard let done else { return work.hasMore = true }
    work.add(done)
    // Skips files that wait until `retryFiles` is called. Ids may be given again once the last row
    // is deleted, so the position is taken from the rows that are left.
    let rest = sights.firstIndex(of: .notTried)
    let tried = rest.map { files[$0].id - 1 } ?? files.last!.id
    self.files.lastTriedFile =
      try db.integer("SELECT max(id) FROM cascade_released_file WHERE id <= ?", .integer(tried))
      ?? 0
    work.hasMore = files.count == Writer.mostFiles || rest != nil
  }

  private func finishMove(
    _ file: ReleasedFile, _ sight: FileMover.MoveResult, isNamed: Bool, _ mover: FileMover,
    _ work: inout FileWork
  ) throws {
    switch sight {
    case .notTried: return
    case .writtenRecently: return work.writtenRecently += 1
    case .waiting(let reason):
      work.waiting.insert(reason)
      return
    case .unmovable(let reason): work.unmovable.append("\(file.root):\(file.path): \(reason)")
    case .missing: work.missing += 1
    case .named, .moved:
      try finishTrashing(file, isNamed: sight == .named || isNamed, mover, &work)
    }
    try db.deleteReleased(file)
  }

  private func finishTrashing(
    _ file: ReleasedFile, isNamed: Bool, _ mover: FileMover, _ work: inout FileWork
  ) throws {
    if try isNamed && mover.restoreFromTrash(file) { return work.stillNamed += 1 }
    if model.trash == .zero {
      try mover.deleteFromTrash(file)
    } else {
      try db.run(
        "INSERT OR IGNORE INTO cascade_trash_file(batch, collection, path) VALUES(?, ?, ?)",
        .integer(file.batch), .integer(file.collection), .text(file.path))
    }
    work.moved += 1
  }

  // MARK: - Looking under the lock

  /// Finds out which files are named, and calls `body` while that is certain. Whole tables may be
  /// scanned, so that happens before the lock is taken. Nil if others commit too often for that.
  func withNamedFiles<T>(
    at files: [FileQuery], _ budget: Duration, commits: Bool, body: (Set<Int64>) throws -> T
  ) throws -> T? {
    for _ in 0..<5 {
      let others = try foreignCommits()
      let start = ContinuousClock.now
      let before = try db.snapshot { try db.named(files, binding) }
      let isQuick = ContinuousClock.now - start < budget
      let schema = binding.schemaVersion
      let result: T? = try locked(commits) {
        if try foreignCommits() == others { return try body(before) }
        if !isQuick || binding.schemaVersion != schema { return nil }
        return try body(db.named(files, binding))
      }
      if let result { return result }
      try adaptToSchema()
    }
    return nil
  }

  /// If nothing is written, nothing has to be committed.
  private func locked<T>(_ commits: Bool, _ body: () throws -> T?) throws -> T? {
    if commits { return try group(body) }
    try db.begin()
    defer { db.rollback() }
    let schema = try db.integer("PRAGMA main.schema_version") ?? 0
    if facts.hasTables && schema != binding.schemaVersion { return nil }
    return try body()
  }

  // MARK: - A part of the work

  /// The number of files to handle at a time.
  static let mostFiles = 64

  /// Does a part of the work on files; `hasMore` says whether to call it again. The write lock is
  /// held for at most `budget` while files are moved.
  package func processFiles(
    _ surroundings: StorePaths, at now: Int64, budget: Duration = .milliseconds(5)
  ) throws -> FileWork {
    var work = FileWork()
    if model.files.isEmpty || attachment.isDetached || isPartlyBound { return work }
    let hasWork = try hasFileWork()
    if !hasWork && files.areRootsRecorded { return work }
    try adaptToSchema()
    var roots = FileRoots(model, surroundings)
    try leaveOutUnmounted(&roots)
    let areOurs = try roots.leaveOutForeign(rootOwner(roots, surroundings), claims: true)
    var isTrashKnown = files.areRootsRecorded
    if !isTrashKnown { isTrashKnown = try takeOverUnknownTrash(roots, at: now, &work) }
    files.areRootsRecorded = areOurs && isTrashKnown
    if try !hasFileWork() && files.areRootsRecorded { return work }
    work.waiting.formUnion(roots.problems.filter { $0.kind == .fileRoot }.map(\.message))
    try restoreFiles(roots, &work)
    try moveReleased(roots, at: now, budget, &work)
    try deleteMarkedFiles(roots, budget, &work)
    return work
  }

  private func leaveOutUnmounted(_ roots: inout FileRoots) throws {
    func key(_ root: FileRoot) -> MetaKey { .fileRoot(root.name, path: root.path) }
    try roots.leaveOutUnmounted(known: { try db.meta(key($0)) }) { root, inode in
      try group { try db.setMeta(key(root), inode) }
    }
  }

  /// Tries the waiting files again: their time may have come, or their root may be back.
  package func retryFiles() { files.lastTriedFile = 0 }

  package var filesToMove: Int {
    get throws {
      try Int(
        db.integer(
          """
          SELECT (SELECT count(*) FROM cascade_released_file)
            + (SELECT count(*) FROM cascade_trash_file WHERE fate)
          """) ?? 0)
    }
  }

  private func hasFileWork() throws -> Bool {
    try db.integer(
      """
      SELECT EXISTS (SELECT 1 FROM cascade_released_file WHERE id > ?)
      OR EXISTS (SELECT 1 FROM cascade_trash_file WHERE fate)
      """, .integer(files.lastTriedFile)) == 1
  }
}
