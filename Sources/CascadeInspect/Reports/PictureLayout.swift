/// Where the tables of a picture stand: in columns, those that others refer to on the left. A line
/// that passes a column has a place of its own there, so that it crosses no table.
struct PictureLayout {
  struct Point: Equatable {
    var x: Int
    var y: Int
  }

  private enum Slot: Hashable {
    case table(String)
    /// A line, by its number.
    case line(Int)
  }

  private let references: [(from: String, to: String)]
  private let levels: [String: Int]
  private var columns: [[Slot]]
  /// Of each slot, what it is joined with in the column on the left.
  private var left: [Slot: [Slot]] = [:]
  private var right: [Slot: [Slot]] = [:]
  private var centres: [[Slot: Int]] = []

  static let boxWidth = 200
  static let boxHeight = 44
  private static let columnGap = 110
  private static let rowGap = 22
  private static let lineGap = 20
  static let margin = 16

  init(tables: [String], references: [(from: String, to: String)]) {
    self.references = references
    levels = PictureLayout.levels(tables, references)
    columns = Array(repeating: [], count: (levels.values.max() ?? 0) + 1)
    for table in tables { columns[levels[table]!].append(.table(table)) }
    for (number, reference) in references.enumerated() { join(number, reference) }
    order()
    centres = columns.map(PictureLayout.centres)
    let height = height
    for column in centres.indices {
      let shift = (height - PictureLayout.height(columns[column])) / 2
      centres[column] = centres[column].mapValues { $0 + shift + PictureLayout.margin }
    }
  }

  var height: Int { columns.map(PictureLayout.height).max() ?? 0 }
  var width: Int { columns.count * (Self.boxWidth + Self.columnGap) - Self.columnGap }

  /// The left upper corner of a table's box.
  func corner(_ table: String) -> Point {
    let level = levels[table]!
    return Point(
      x: x(level), y: centres[level][.table(table)]! - PictureLayout.boxHeight / 2)
  }

  /// Where a line passes the columns between its ends, from its source on.
  func stops(_ number: Int) -> [Point] {
    between(references[number]).map { Point(x: x($0), y: centres[$0][.line(number)]!) }
  }

  private func x(_ level: Int) -> Int {
    PictureLayout.margin + level * (PictureLayout.boxWidth + PictureLayout.columnGap)
  }

  // MARK: - Columns

  /// A table stands to the right of those that it refers to, as far as there is no circle.
  private static func levels(
    _ tables: [String], _ references: [(from: String, to: String)]
  ) -> [String: Int] {
    var levels = Dictionary(uniqueKeysWithValues: tables.map { ($0, 0) })
    for _ in 0..<min(tables.count, 8) {
      var moved = false
      for reference in references where reference.from != reference.to {
        let wanted = levels[reference.to]! + 1
        if wanted <= 8, wanted > levels[reference.from]! {
          levels[reference.from] = wanted
          moved = true
        }
      }
      if !moved { break }
    }
    // A circle pushes its tables to the right: leave no empty columns.
    let used = Set(levels.values).sorted()
    return levels.mapValues { used.firstIndex(of: $0)! }
  }

  /// The columns between the ends of a reference, from its source on.
  private func between(_ reference: (from: String, to: String)) -> [Int] {
    let (from, to) = (levels[reference.from]!, levels[reference.to]!)
    return from > to
      ? (to..<from).dropFirst().reversed() : from < to ? Array((from..<to).dropFirst()) : []
  }

  /// Gives a line its slots, and joins each with the next.
  private mutating func join(_ number: Int, _ reference: (from: String, to: String)) {
    let passed = between(reference)
    for column in passed { columns[column].append(.line(number)) }
    let slots =
      [Slot.table(reference.from)] + passed.map { _ in .line(number) } + [.table(reference.to)]
    let places = [levels[reference.from]!] + passed + [levels[reference.to]!]
    for index in places.indices.dropLast() where places[index] != places[index + 1] {
      let isLeft = places[index + 1] < places[index]
      let (one, other) = (slots[index], slots[index + 1])
      left[isLeft ? one : other, default: []].append(isLeft ? other : one)
      right[isLeft ? other : one, default: []].append(isLeft ? one : other)
    }
  }

  // MARK: - Rows

  /// Puts each slot near the middle of what it is joined with, so that few lines cross.
  private mutating func order() {
    for _ in 0..<4 {
      for column in columns.indices.dropFirst() { sort(column, by: left, in: column - 1) }
      for column in columns.indices.dropLast().reversed() {
        sort(column, by: right, in: column + 1)
      }
    }
  }

  private mutating func sort(_ column: Int, by joined: [Slot: [Slot]], in other: Int) {
    let centres = PictureLayout.centres(columns[other])
    let own = PictureLayout.centres(columns[column])
    func wish(_ slot: Slot) -> Int {
      let ends = (joined[slot] ?? []).compactMap { centres[$0] }
      return ends.isEmpty ? own[slot]! : ends.reduce(0, +) / ends.count
    }
    let wishes = columns[column].enumerated().map { ($0.element, wish($0.element), $0.offset) }
    columns[column] = wishes.sorted { ($0.1, $0.2) < ($1.1, $1.2) }.map(\.0)
  }

  private static func size(_ slot: Slot) -> Int {
    if case .table = slot { boxHeight + rowGap } else { lineGap }
  }

  private static func height(_ column: [Slot]) -> Int {
    column.reduce(0) { $0 + size($1) } - rowGap
  }

  /// The middle of each slot below the upper edge of its column.
  private static func centres(_ column: [Slot]) -> [Slot: Int] {
    var (centres, y) = ([Slot: Int](), 0)
    for slot in column {
      if case .table = slot { centres[slot] = y + boxHeight / 2 } else { centres[slot] = y }
      y += size(slot)
    }
    return centres
  }
}
