/// The deletions that one cause brought about.
package struct Batch: Sendable {
  package let batch: Int64
  package let at: Int64
  package let author: String?
  package let id: String
  package let kind: Submission.Kind
  package let deletedCount: Int
  /// Counts of what is or was in the trash; empty if the trash has nothing more of it.
  package var byCollection: [String: Int]
  package let undone: Undone?
  /// Until when it can be undone; nil if it cannot.
  package let undoUntil: Int64?

  package struct Undone: Sendable {
    package let at: Int64
    package let by: String
    /// Whether the trash still has something of it.
    package let isPartly: Bool

    package init(at: Int64, by: String, isPartly: Bool) {
      self.at = at
      self.by = by
      self.isPartly = isPartly
    }
  }

  package init(
    batch: Int64, at: Int64, author: String?, id: String, kind: Submission.Kind, deletedCount: Int,
    byCollection: [String: Int], undone: Undone?, undoUntil: Int64?
  ) {
    self.batch = batch
    self.at = at
    self.author = author
    self.id = id
    self.kind = kind
    self.deletedCount = deletedCount
    self.byCollection = byCollection
    self.undone = undone
    self.undoUntil = undoUntil
  }
}
