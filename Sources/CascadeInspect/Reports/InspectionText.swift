internal import CascadeModel

extension Inspection {
  /// For a terminal that has so many columns.
  package func text(width: Int) -> String {
    let rows = tables.reduce(0) { $0 + $1.rows }
    var lines = [
      "\(shortName.printable): \(tables.count.groupedCount("table", "tables")), "
        + rows.groupedCount("row", "rows"), "",
    ]
    if relationships.isEmpty {
      lines += ["No table refers to another.", ""]
    } else {
      lines += TextTable(self, width: width).lines + [""]
    }
    lines += unreferenced.map {
      "\($0.rows.groupedCount("row", "rows")) of \($0.table.printable): nothing refers to them"
    }
    if declaresKeys { lines.append(Inspection.enforcement) }
    return (lines + [sum]).joined(separator: "\n")
  }
}

/// The relationships as a table of text.
private struct TextTable {
  private let cells: [[String]]
  private let widths: [Int]

  private static let titles = ["FROM", "TO", "ROWS", "ORPHANS", ""]
  /// Two blanks between the columns.
  private static let gaps = 2 * 4
  private static let narrowest = 12

  init(_ inspection: Inspection, width: Int) {
    let cells = inspection.relationships.map { reference in
      [
        (reference.isLikely ? "" : "? ") + reference.origin.printable,
        reference.destination.printable, reference.rows.grouped,
        reference.orphans == 0 ? "-" : reference.orphans.grouped,
        reference.remarks.joined(separator: ", ").printable,
      ]
    }
    self.cells = cells
    let wanted = TextTable.titles.indices.map { column in
      ([TextTable.titles] + cells).map { $0[column].count }.max() ?? 0
    }
    widths = TextTable.fit(wanted, into: max(width, 60))
  }

  /// Cuts the names where they are longer than what is left, and puts the remarks below if they
  /// have no room.
  private static func fit(_ wanted: [Int], into width: Int) -> [Int] {
    var widths = wanted
    let numbers = wanted[2] + wanted[3]
    let left = max(2 * narrowest, width - numbers - gaps)
    let names = wanted[0] + wanted[1]
    if names > left {
      widths[0] = max(narrowest, left * wanted[0] / names)
      widths[1] = max(narrowest, left - widths[0])
    }
    widths[4] = width - widths[0] - widths[1] - numbers - gaps
    return widths
  }

  var lines: [String] { [line(TextTable.titles)] + cells.flatMap(lines) }

  private func line(_ cells: [String]) -> String {
    let line = [
      pad(cells[0], widths[0]), pad(cells[1], widths[1]), lead(cells[2], widths[2]),
      lead(cells[3], widths[3]), cells[4],
    ].joined(separator: "  ")
    return String(line.reversed().drop { $0 == " " }.reversed())
  }

  private func lines(_ cells: [String]) -> [String] {
    if cells[4].count <= widths[4] { return [line(cells)] }
    return [line(Array(cells[..<4]) + [""]), "    " + cells[4]]
  }

  private func pad(_ text: String, _ width: Int) -> String {
    let text = shortened(text, width)
    return text + String(repeating: " ", count: max(0, width - text.count))
  }

  private func lead(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }

  /// Cut in the middle: the ends of names say most.
  private func shortened(_ text: String, _ width: Int) -> String {
    if text.count <= width { return text }
    let tail = (width - 1) / 2
    return text.prefix(width - 1 - tail) + "…" + text.suffix(tail)
  }
}
