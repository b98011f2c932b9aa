/// A column of whole numbers, after rows of its table came back.
///
/// An application may order rows by such numbers, as a nested set does, and renumber those that are left when
/// one is deleted. Then a row comes back with a number that another one has by now.
package protocol RestoredNumbers {
  /// As an operator knows it.
  var column: String { get }

  /// The numbers of the rows that came back, or of the first few of them.
  func restored(first: Int?) throws -> NumberCount
  /// The numbers of all rows, or of the first few of them.
  func all(first: Int?) throws -> NumberCount
  /// How many numbers are those of rows that came back, or of the first few of these, and of other rows, too.
  func countShared(first: Int?) throws -> Int
}

/// How many rows have a number, and how many numbers they have.
package struct NumberCount: Sendable {
  let rows: Int
  let numbers: Int

  package init(rows: Int, numbers: Int) { (self.rows, self.numbers) = (rows, numbers) }

  fileprivate var repeated: Int { rows - numbers }
}

extension RestoredNumbers {
  /// What an undo says of the column, if no two rows had the same number in it before the undo, and some
  /// have now. What is asked first costs least.
  package func remark() throws -> String? {
    let sample = RestoredNumber.sample
    if try restored(first: sample).repeated > 0 || countShared(first: sample) == 0 { return nil }
    let restored = try restored(first: nil)
    if try restored.repeated > 0 || all(first: sample).repeated > restored.rows { return nil }
    let (shared, all) = (try countShared(first: nil), try all(first: nil))
    // The numbers of one row alone say nothing.
    if all.repeated != shared || all.rows - restored.rows < 2 { return nil }
    return """
      "\(column)" was unique and is not any more: other rows have \(shared) of the numbers that came back. \
      If the application derives them, as those of a nested set, have it do so again
      """
  }
}

private enum RestoredNumber {
  /// Where numbers are not unique, so many rows mostly tell.
  static let sample = 10_000
}
