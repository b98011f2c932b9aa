package import CascadeModel
package import CascadeStore

/// What follows from rows that are marked as gone for others (`softDelete`), once for every engine.
///
/// 1. Triggers write down which rows are marked or unmarked. A job takes what was written down since the last one,
///    and owns it: while it waits for an approval, later marks are followed by later jobs.
/// 2. What was unmarked brings back first what was marked because of it alone.
/// 3. A job that has ended is kept until the next one begins: its batch tells what it did.
package protocol MarkFollowing: StoreWriting {
  var model: StoreModel { get }

  /// Whether marks were written down that none of these jobs owns.
  func hasMarks(besidesThoseOf jobs: [DeletionJob]) throws -> Bool

  /// Writes down a job that owns them. Returns its number.
  func insertJob(behind jobs: [DeletionJob], at now: Int64) throws -> Int64
}

extension DeletionJob.Request {
  /// Of a job that follows marks.
  package init(following marks: DeletionJob.Subject) {
    self.init(marks, by: "softDelete", isPartial: true)
  }
}

extension MarkFollowing {
  /// Begins to follow marks that no job owns. Returns the number of the job; nil if there are none.
  package func beginMarks(at now: Int64) throws -> Int64? {
    if isDetached || model.softDeletions.isEmpty { return nil }
    let open = try openJobs.filter { $0.lastMark != nil }
    if let running = open.first(where: { $0.state == .running }) { return running.number }
    return try hasMarks(besidesThoseOf: open) ? insertJob(behind: open, at: now) : nil
  }
}
