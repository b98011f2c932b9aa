internal import CascadeEngine
internal import CascadePostgres
internal import CascadeStore
internal import PostgresTables

/// Files in the trash of a root that the database knows nothing of. It is older than they are: a standby was
/// promoted that did not have their batch, or a backup was restored.
///
/// 1. One that an edge names comes back. Its row is there again.
/// 2. The others are taken over, under the number that their batch had, and kept as long as any trash.
/// 3. The numbers of these batches are not given again.
struct UnknownTrash {
  private let store: StoreConnection
  private var rows: FileRows { FileRows(store: store) }

  init(_ store: StoreConnection) { self.store = store }

  /// A named integer, as long as it has to be looked for.
  static let key = Timeline.trashKey
  private static let mostFiles = 64

  /// Numbers on the disk that were not given yet are those of an older database's future.
  func notice(_ roots: FileRoots) throws {
    let last = roots.all.compactMap { try? $0.batchesInTrash().last }.max() ?? 0
    let given = try store.db.run(
      "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM cascade.batch"
    ).integer!
    if last <= given { return }
    try store.transaction {
      try store.db.run("SELECT setval('cascade.batch', \(last))")
      try store.set(UnknownTrash.key, 1)
    }
  }

  /// Looks through the trash of a root. `settle` is called before a file is moved.
  func look(through root: FileRoot, _ work: inout FileWork, _ now: Int64, settle: () throws -> Void)
    throws
  {
    for batch in try root.batchesInTrash() {
      var paths = try root.filesInTrash(of: batch)[...]
      while !paths.isEmpty {
        let files = try unknown(Array(paths.prefix(UnknownTrash.mostFiles)), root, batch)
        paths = paths.dropFirst(UnknownTrash.mostFiles)
        if files.isEmpty { continue }
        let named = try rows.named(files)
        try settle()
        let left = try restore(files.filter { named.contains($0.id) }, root, &work)
        try takeOver(files.filter { !named.contains($0.id) } + left, now)
      }
    }
  }

  private func unknown(
    _ paths: [String], _ root: FileRoot, _ batch: Int64
  ) throws -> [ReleasedFile] {
    let known = Set(
      try store.db.run(
        """
        SELECT path FROM cascade.file WHERE root = $1 AND batch = \(batch) AND path = ANY($2::text[])
        """, [root.name, arrayText(paths)]
      ).texts)
    return paths.filter { !known.contains($0) }.enumerated().map { index, path in
      ReleasedFile(
        id: Int64(index), batch: batch, at: 0, collection: 0, root: root.name, path: path,
        isPathValid: true)
    }
  }

  /// Returns those in whose place something else is.
  private func restore(
    _ files: [ReleasedFile], _ root: FileRoot, _ work: inout FileWork
  ) throws -> [ReleasedFile] {
    var (left, changed): ([ReleasedFile], Set<String>) = ([], [])
    for file in files {
      try work.attempt { work in
        if try root.restore(file.path, batch: file.batch, changed: &changed) {
          work.restored += 1
        } else {
          left.append(file)
        }
      }
    }
    try root.sync(changed)
    return left
  }

  private func takeOver(_ files: [ReleasedFile], _ now: Int64) throws {
    guard let first = files.first else { return }
    let batch = first.batch
    try store.transaction {
      let isKnown = try store.db.run(
        "SELECT EXISTS (SELECT FROM cascade.ledger WHERE batch = \(batch))"
      ).bool
      if !isKnown { try Ledger(store).addSweep(batch, at: now) }
      try store.db.run(
        """
        INSERT INTO cascade.file(root, path, batch, state)
        SELECT $1, unnest($2::text[]), \(batch), \(FileState.trashed.rawValue)
        """, [first.root, arrayText(files.map(\.path))])
    }
  }
}
