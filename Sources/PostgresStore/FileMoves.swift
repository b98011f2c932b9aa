package import CascadeModel
internal import CascadeEngine
internal import CascadePostgres
package import CascadeStore
internal import CascadeSystem
internal import PostgresSweeps
internal import PostgresTables

/// Files that lost their last edge are moved into the trash of their root, after the commit.
///
/// 1. A file that no edge names is moved. Writers do not wait meanwhile, so an edge may come that is
///    not committed yet.
/// 2. When all transactions that were open at the move have ended, an edge is looked for once more. If
///    one names the file, it goes back. Only then is it left to the trash, or deleted.
///
/// If the daemon is killed in between, the row of the file is still there, and the file is in one
/// place or the other. The same steps find it.
///
/// What was read of the rows is settled before a file is touched (`Settlement`).
extension PostgresWriter {
  private static let mostFiles = 64

  private var rows: FileRows { FileRows(store: store) }

  package func processFiles(
    _ paths: StorePaths, at now: Int64, budget: Duration
  ) throws -> FileWork {
    var work = FileWork()
    if model.files.isEmpty || isDetached { return work }
    let hasWork = try hasFileWork
    if !hasWork && areRootsRecorded { return work }
    var roots = FileRoots(model, StorePaths(store: paths.spool, spool: paths.spool))
    try leaveOutUnmounted(&roots)
    let areOurs = try roots.leaveOutForeign(store.rootOwner, claims: true)
    if !areRootsRecorded { try UnknownTrash(store).notice(roots) }
    areRootsRecorded = areOurs
    if try areOurs && !hasWork && !hasFileWork { return work }
    work.waiting.formUnion(roots.problems.filter { $0.kind == .fileRoot }.map(\.message))
    do {
      try process(roots, now, &work)
    } catch let unsettled as StoreAway {
      work.waiting.insert(unsettled.description)
    }
    return work
  }

  private func process(_ roots: FileRoots, _ now: Int64, _ work: inout FileWork) throws {
    try restoreUnknown(roots, now, &work)
    try restoreFiles(roots, &work)
    try moveReleased(FileMover(roots: roots, now: now), &work)
    try settleMoved(FileMover(roots: roots, now: now), &work)
    try deleteMarked(roots, &work)
  }

  /// A root that is not there now is looked through when it is.
  private func restoreUnknown(_ roots: FileRoots, _ now: Int64, _ work: inout FileWork) throws {
    if try store[meta: UnknownTrash.key] == nil { return }
    for root in roots.all where !rootsLookedThrough.contains(root.name) {
      try work.attempt { work in
        let waiting = work.waiting
        try UnknownTrash(store).look(through: root, &work, now, settle: settleWhatWasRead)
        if work.waiting == waiting { rootsLookedThrough.insert(root.name) }
      }
    }
    if model.files.keys.contains(where: { !rootsLookedThrough.contains($0) }) { return }
    try store.set(UnknownTrash.key, nil)
    rootsLookedThrough = []
  }

  private func settleWhatWasRead() throws {
    try settlement?.settle(upTo: Settlement.everything)
  }

  private var hasFileWork: Bool {
    get throws {
      try db.run(
        """
        SELECT EXISTS (SELECT FROM cascade.file
          WHERE state <> \(FileState.trashed.rawValue) AND batch IS NOT NULL
          AND (id > \(lastTriedFile) OR state <> \(FileState.released.rawValue)))
          OR EXISTS (SELECT FROM cascade.meta WHERE key = '\(UnknownTrash.key)')
        """
      ).bool
    }
  }

  package var filesToMove: Int {
    get throws {
      try Int(
        db.run(
          """
          SELECT count(*) FROM cascade.file
          WHERE batch IS NOT NULL AND state <> \(FileState.trashed.rawValue)
          """
        ).integer ?? 0)
    }
  }

  /// Tries the waiting files again: their time may have come, or their root may be back.
  package func retryFiles() { lastTriedFile = 0 }

  /// Gives what lost an edge a batch of its own, where no other kind of sweep did.
  func sweepFiles(_ now: Int64, _ result: inout SweepResult) throws {
    if try model.files.isEmpty || !db.run("SELECT \(FileRows.areNew)").bool { return }
    let (batch, files) = try store.transaction {
      let batch = try db.run("SELECT nextval('cascade.batch')").integer!
      let files = try rows.take(into: batch)
      try Ledger(store).addSweep(batch, at: now)
      return (batch, files)
    }
    result.files += files
    result.batch = result.batch ?? batch
    result.outcome = .done
  }

  // MARK: - Into the trash

  private func moveReleased(_ mover: FileMover, _ work: inout FileWork) throws {
    let files = try rows.rows(.released, after: lastTriedFile, limit: PostgresWriter.mostFiles)
    guard let last = files.last else { return }
    var changed: [String: Set<String>] = [:]
    let named = try rows.named(files)
    try settleWhatWasRead()
    var (moved, settled): ([ReleasedFile], [ReleasedFile]) = ([], [])
    for file in files {
      switch mover.move(file, isNamed: named.contains(file.id), &changed) {
      case .notTried: break
      case .writtenRecently: work.writtenRecently += 1
      case .waiting(let reason): work.waiting.insert(reason)
      case .moved: moved.append(file)
      case .named:
        // It may have been moved before a crash.
        try work.attempt { work in
          if try mover.restoreFromTrash(file) { settled.append(file) } else { moved.append(file) }
          work.stillNamed += 1
        }
      case .missing:
        work.missing += 1
        settled.append(file)
      case .unmovable(let reason):
        work.unmovable.append("\(file.root):\(file.path): \(reason)")
        settled.append(file)
      }
    }
    for (root, paths) in changed { try mover.roots[root]?.sync(paths) }
    try store.transaction {
      try rows.set(.moved, moved)
      try rows.remove(settled)
    }
    work.moved += moved.count
    lastTriedFile = last.id
    work.hasMore = true
  }

  private func settleMoved(_ mover: FileMover, _ work: inout FileWork) throws {
    let all = try rows.moved(limit: PostgresWriter.mostFiles)
    // Whether its time has come was found first: what is committed by then is seen now.
    let named = try rows.named(all.map(\.file))
    if !all.isEmpty { try settleWhatWasRead() }
    var (trashed, settled): ([ReleasedFile], [ReleasedFile]) = ([], [])
    for (file, isDue) in all {
      try work.attempt { work in
        if named.contains(file.id), try mover.restoreFromTrash(file) {
          work.stillNamed += 1
          settled.append(file)
        } else if !isDue {
          work.writtenRecently += 1
        } else if model.trash == .zero {
          try mover.deleteFromTrash(file)
          settled.append(file)
        } else {
          trashed.append(file)
        }
      }
    }
    if settled.isEmpty && trashed.isEmpty { return }
    try store.transaction {
      try rows.set(.trashed, trashed)
      try rows.remove(settled)
    }
    work.hasMore = all.count == PostgresWriter.mostFiles || work.hasMore
  }

  // MARK: - Out of the trash

  package func filesToRestore(of batch: Int64) throws -> [Destination] {
    try db.run(
      """
      SELECT root, path FROM cascade.file
      WHERE batch = \(batch) AND state = \(FileState.toRestore.rawValue) ORDER BY 1, 2
      """
    ).rows.map { .file(root: $0[0]!, path: $0[1]!) }
  }

  private func restoreFiles(_ roots: FileRoots, _ work: inout FileWork) throws {
    var changed: [String: Set<String>] = [:]
    var (done, left): ([ReleasedFile], [(file: ReleasedFile, why: String)]) = ([], [])
    let files = try rows.rows(.toRestore, limit: PostgresWriter.mostFiles)
    if !files.isEmpty { try settleWhatWasRead() }
    for file in files {
      guard let root = roots[file.root] else { continue }
      try work.attempt { work in
        if try !root.isInTrash(file.path, batch: file.batch) {
          if (try? root.file(file.path)) != nil { return done.append(file) }
          work.missing += 1
          return left.append((file, "it is neither in the trash nor in its place"))
        }
        let isBack = try root.restore(
          file.path, batch: file.batch, changed: &changed[file.root, default: []])
        if !isBack { return left.append((file, "something else is in its place")) }
        work.restored += 1
        done.append(file)
      }
    }
    for (root, paths) in changed { try roots[root]?.sync(paths) }
    if done.isEmpty && left.isEmpty { return }
    try store.transaction {
      try rows.remove(done)
      try rows.set(.trashed, left.map(\.file))
    }
    work.left += left.map {
      LeftFile(
        batch: $0.file.batch, file: .file(root: $0.file.root, path: $0.file.path), reason: $0.why)
    }
    work.hasMore = true
  }

  /// Deletes for good what the trash kept long enough; what an edge names again goes back.
  private func deleteMarked(_ roots: FileRoots, _ work: inout FileWork) throws {
    let files = try rows.rows(.toDelete, limit: PostgresWriter.mostFiles)
      .filter { roots[$0.root] != nil }
    let named = try rows.named(files)
    if !files.isEmpty { try settleWhatWasRead() }
    let wanted = files.filter { file in
      named.contains(file.id) && ((try? roots[file.root]?.file(file.path)) ?? nil) == nil
    }
    var done: [ReleasedFile] = []
    for file in files where !wanted.contains(where: { $0.id == file.id }) {
      try work.attempt { work in
        try roots[file.root]?.deleteFromTrash(file.path, batch: file.batch)
        done.append(file)
      }
    }
    if done.isEmpty && wanted.isEmpty { return }
    try store.transaction {
      try rows.remove(done)
      try rows.set(.toRestore, wanted)
    }
    work.deletedFromTrash += done.count
    work.hasMore = true
  }

  // MARK: - Roots

  private func leaveOutUnmounted(_ roots: inout FileRoots) throws {
    func key(_ root: FileRoot) -> String { "root.\(root.name):\(root.path)" }
    try roots.leaveOutUnmounted(known: { try store[meta: key($0)] }) { root, inode in
      try store.set(key(root), inode)
    }
  }
}
