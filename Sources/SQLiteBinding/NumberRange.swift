/// The ranges of the numbers by which a transaction tells nodes apart (see `NumberForm`).
///
/// | numbers | of what | how long |
/// |---|---|---|
/// | below 0 | rows of the application, by their position | as long as the row has its rowid |
/// | from 1 | rows of `cascade_node` | never used again |
/// | above `temporary` | nodes named by their keys | one transaction or plan; a batch's trash |
/// | above `sideEntries` | what the trash keeps beside nodes | as long as the batch |
package enum NumberRange {
  /// The first row of `temp.known` has this number and is no node. SQLite gives each further row
  /// the next number, so that these numbers are above all ids of `cascade_node`.
  package static let temporary: Int64 = 0x4000_0000_0000_0000

  /// The key of a row in `temp.known` that is no node, in collection 0. It is there if a sweep goes
  /// on with an earlier batch, and reserves the numbers that the batch has used. While it is there,
  /// no row is numbered by position, because another row may be in the place of one of the batch.
  package static let reservationKey = "resumed"

  /// Entries of the trash that are not nodes have numbers above this one. They count down from the
  /// highest number.
  package static let sideEntries: Int64 = 0x7000_0000_0000_0000

  /// How many rowids, from 0 on, a table can number by position. Every collection has a slot of
  /// this size below zero: `-(slot + 1) * rowsOfATable + rowid`.
  static let rowsOfATable: Int64 = 1 << 44

  /// How many collections can have a slot. A reader gives an unknown collection a negative number;
  /// its slot is behind those of the others.
  static let mostTables: Int64 = 1 << 17
}
