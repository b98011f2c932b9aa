internal import CascadeModel

/// Which column of a table is which, before and after others have changed it, where the engine has no
/// numbers of columns.
///
/// 1. Columns that were added at the end, and columns that were dropped, are what they seem.
/// 2. One statement that changes one name, and nothing else, has renamed the column.
/// 3. Names that changed places may have been dropped and added, or renamed: nothing tells which, so none
///    of these columns is known any more.
/// 4. In a table that was made anew, names decide.
package struct FollowedColumns {
  package struct Column: Hashable, Sendable {
    package let name: String
    package let type: String

    package init(name: String, type: String) { (self.name, self.type) = (name, type) }

    fileprivate var folded: String { name.folded }
  }

  package enum Change: Sendable {
    /// By so many statements at most.
    case altered(by: Int64)
    case madeAnew
  }

  /// For each column before, its place afterwards; nil if it is gone, or not known any more.
  package let places: [Int?]

  package init(from before: [Column], to after: [Column], _ change: Change) {
    let (old, new) = (before.map(\.folded), after.map(\.folded))
    if case .altered(let statements) = change {
      places =
        FollowedColumns.unmoved(old, new)
        ?? (statements == 1 ? FollowedColumns.renamed(before, after) : nil)
        ?? FollowedColumns.common(old, new)
    } else {
      places = old.map { new.firstIndex(of: $0) }
    }
  }

  /// Where those that are left come first, in their order, and others behind them. Nil if they do not.
  private static func unmoved(_ old: [String], _ new: [String]) -> [Int?]? {
    let left = old.filter(new.contains)
    if !new.starts(with: left) { return nil }
    // One that is gone, and one that came in its place: it may have been renamed.
    if left.count < old.count && left.count < new.count && old.count == new.count { return nil }
    return old.map { left.firstIndex(of: $0) }
  }

  private static func renamed(_ before: [Column], _ after: [Column]) -> [Int?]? {
    if before.count != after.count { return nil }
    let changed = before.indices.filter { before[$0].folded != after[$0].folded }
    guard changed.count == 1, before[changed[0]].type == after[changed[0]].type,
      !before.map(\.folded).contains(after[changed[0]].folded)
    else { return nil }
    return before.indices.map(Optional.some)
  }

  /// The columns before the first one that moved.
  private static func common(_ old: [String], _ new: [String]) -> [Int?] {
    let same = zip(old, new).prefix { $0 == $1 }.count
    return old.indices.map { $0 < same ? $0 : nil }
  }
}
