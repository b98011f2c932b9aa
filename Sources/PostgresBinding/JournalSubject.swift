/// What a row of the journal is about: the values of `cascade.journal.what`.
package enum JournalSubject: Int {
  /// A node of the collection `subject` is gone.
  case gone = 1
  /// An edge of the relation `subject`, from `key` to `other`, lost its source or was removed.
  case lost = 2
  /// An edge came of which an end was not there.
  case arrived = 3
  /// An edge of the relation `subject`, from `key` to `other`, lost its destination.
  case widowed = 4
  /// The row of an edge of the relation `subject`, from `key` to `other`, went by a rule. Should the
  /// batch delete the destination, too, the edge has lost it.
  case rowless = 5
  /// A row came under the key of a node of the collection `subject` that was deleted.
  case reused = 6
}
