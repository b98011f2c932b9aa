internal import CascadeModel
internal import CascadeStore

/// An `.ndjson` file with `batch`: it is applied in transactions of so many changes each. Each
/// transaction also commits the position in the file, so that a restart continues after it.
final class BatchFile {
  let file: PreparedFile
  private let lines: LineSource
  private let size: Int
  private var part: Int64
  private(set) var isFinished: Bool
  private(set) var total: Receipt

  /// All lines are checked first: nothing of an invalid file is applied.
  init(_ file: PreparedFile, resuming entry: LedgerEntry?) throws {
    self.file = file
    lines = file.lines!
    size = file.header.batch!
    part = entry.map { $0.part + 1 } ?? 0
    total = Receipt(id: file.id, outcome: .applied)
    total.author = file.author
    if entry == nil { try lines.judge() }
    try lines.rewind(toLine: Int(entry?.line ?? 0))
    isFinished = try !lines.hasNext()
  }

  func applyNext(to writer: any StoreWriting, at now: Int64) throws -> Receipt {
    var count = 0
    var submission = file.submission(at: now)
    submission.part = part
    let receipt = try writer.apply(submission, changes: { try self.take(&count) }) {
      // These are known only after the part was read: where the next part begins, and whether there
      // is one.
      $0.isLast = self.isFinished
      $0.line = Int64(self.lines.line)
    }
    part += 1
    add(receipt)
    return receipt
  }

  /// The next change of this part. One change is always read ahead, to know which part is the last.
  private func take(_ count: inout Int) throws -> Change? {
    guard count < size, let change = try lines.next() else { return nil }
    count += 1
    isFinished = try !lines.hasNext()
    return change
  }

  /// What came back of an archive.
  func add(_ restored: UndoResult?) {
    guard let restored else { return }
    if total.restored == nil { total.restored = restored } else { total.restored!.add(restored) }
  }

  private func add(_ receipt: Receipt) {
    total.batch = receipt.deletedCount > 0 || total.batch == nil ? receipt.batch : total.batch
    let room = Receipt.mostListed - total.deleted.count
    total.deleted += receipt.deleted.prefix(room)
    total.deletedCount += receipt.deletedCount
    total.deletedOwn += receipt.deletedOwn.prefix(Receipt.mostListed - total.deletedOwn.count)
    total.edgesAdded += receipt.edgesAdded
    total.edgesRemoved += receipt.edgesRemoved
    total.notices += receipt.notices
    total.skippedChanges += receipt.skippedChanges
  }
}
