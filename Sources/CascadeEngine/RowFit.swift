/// How a kept row fits the table as it is now. No value ever comes into another column than its own.
///
/// Which column a value belongs to, in the order of the evidence:
/// 1. In the very table: what the engine knows the column by, else `was` of the model. A column that only
///    has the same name is another one.
/// 2. In a table that was made anew: `was` of the model, else the name that the column had last in the one
///    before.
/// 3. Where nothing says it, nothing is guessed: the value is left out.
package struct RowFit: Hashable, Sendable {
  /// A kept value that comes back.
  package struct Filling: Hashable, Sendable {
    package let column: TableShape.Column
    /// The position of the value.
    package let place: Int
    /// The type that the value had, if it is another one: then it comes back only if it can be
    /// converted, and back again without a change.
    package let oldType: String?
  }

  package private(set) var fillings: [Filling] = []
  /// The values that have no column any more.
  package private(set) var remarks: [String] = []
  /// Why no such row can come back; nil if one can.
  package private(set) var refusal: String?

  package var isExact: Bool {
    remarks.isEmpty && refusal == nil && fillings.allSatisfy { $0.oldType == nil }
  }

  /// Of no row.
  package static let none = RowFit()
  private init() {}

  fileprivate init(_ kept: KeptShape, _ now: TableShape) {
    if kept.isOfAnother(than: now) {
      refusal = "it was kept of the table \(kept.table), and the model names \(now.table)"
      return
    }
    for (place, value) in kept.columns.enumerated() {
      guard let column = now.column(of: value, isSameTable: kept.isOf(now)) else {
        remarks.append("\(now.table) has no column any more for \"\(value.name)\"")
        continue
      }
      // The database makes the value.
      if column.isGenerated { continue }
      let oldType = value.type == column.type ? nil : value.type
      fillings.append(Filling(column: column, place: place, oldType: oldType))
    }
    let filled = Set(fillings.map(\.column))
    let missing = now.columns.first { !$0.isGenerated && !$0.isOptional && !filled.contains($0) }
    if let missing { refusal = "\"\(missing.name)\" of \(now.table) needs a value" }
    let key = now.columns.first { $0.isKey && !$0.isGenerated && !filled.contains($0) }
    if let key { refusal = "the key of \(now.table) has no value for \"\(key.name)\"" }
  }

  package static func unfit(_ column: String, of table: String) -> String {
    "a value does not fit the type of \"\(column)\" of \(table)"
  }
}

extension KeptShape {
  package func fit(_ now: TableShape) -> RowFit { RowFit(self, now) }

  /// Whether it is the very table, and no other one of its name.
  fileprivate func isOf(_ now: TableShape) -> Bool { identity != nil && identity == now.identity }

  /// Whether it is neither the very table nor one that was made in its place.
  fileprivate func isOfAnother(than now: TableShape) -> Bool {
    !isOf(now) && table != now.table && table != now.tableWas
  }
}

extension TableShape {
  fileprivate func column(of kept: KeptShape.Column, isSameTable: Bool) -> Column? {
    let renamed = columns.first { was[$0.name] == kept.lastName ?? kept.name }
    if isSameTable {
      if let same = columns.first(where: { $0.identity != nil && $0.identity == kept.identity }) {
        return same
      }
      return renamed
    }
    return renamed ?? columns.first { $0.name == kept.lastName && was[$0.name] == nil }
  }
}
