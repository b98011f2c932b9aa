internal import CascadeModel

/// A line of the report. What shows it decides how each emphasis looks.
package struct ReportLine: Sendable {
  package enum Emphasis: Sendable {
    case plain, title, soft, good, bad
  }

  package private(set) var parts: [(text: String, emphasis: Emphasis)] = []

  init(_ text: String = "", _ emphasis: Emphasis = .plain) { add(text, emphasis) }

  mutating func add(_ text: String, _ emphasis: Emphasis = .plain) {
    parts.append((text, emphasis))
  }

  package var text: String { parts.reduce("") { $0 + $1.text } }
}

extension Inspection {
  package func text(width: Int) -> String {
    lines(width: width).map(\.text).joined(separator: "\n")
  }

  /// For a terminal that has so many columns.
  package func lines(width: Int) -> [ReportLine] {
    var lines = [head, ReportLine()]
    if relationships.isEmpty {
      lines += [ReportLine("No table refers to another."), ReportLine()]
    } else {
      lines += TextTable(self, width: width).lines + [ReportLine()]
    }
    lines += unreferenced.map {
      ReportLine(
        "\($0.rows.groupedCount("row", "rows")) of \($0.table.printable): nothing refers to them")
    }
    if declaresKeys { lines.append(ReportLine(Inspection.enforcement, .soft)) }
    return lines + [ReportLine(sum, orphans > 0 ? .bad : .good)]
  }

  private var head: ReportLine {
    let rows = tables.reduce(0) { $0 + $1.rows }
    var line = ReportLine(shortName.printable, .title)
    line.add(
      ": \(tables.count.groupedCount("table", "tables")), \(rows.groupedCount("row", "rows"))")
    return line
  }
}

/// The relationships as a table of text.
private struct TextTable {
  private let cells: [[String]]
  private let widths: [Int]
  private let emphases: [(whole: ReportLine.Emphasis, orphans: ReportLine.Emphasis)]

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
    emphases = inspection.relationships.map {
      let whole: ReportLine.Emphasis = $0.isLikely ? .plain : .soft
      // The orphans of a join are those of its two references.
      return (whole, $0.isLikely && $0.found != .join && $0.orphans > 0 ? .bad : whole)
    }
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

  var lines: [ReportLine] {
    [line(TextTable.titles, .soft, .soft)]
      + zip(cells, emphases).flatMap { lines($0, $1.whole, $1.orphans) }
  }

  private func line(
    _ cells: [String], _ whole: ReportLine.Emphasis, _ orphans: ReportLine.Emphasis
  ) -> ReportLine {
    let names = "\(pad(cells[0], widths[0]))  \(pad(cells[1], widths[1]))  "
    var line = ReportLine("\(names)\(lead(cells[2], widths[2]))  ", whole)
    line.add(lead(cells[3], widths[3]), orphans)
    if !cells[4].isEmpty { line.add("  \(cells[4])", .soft) }
    return line
  }

  private func lines(
    _ cells: [String], _ whole: ReportLine.Emphasis, _ orphans: ReportLine.Emphasis
  ) -> [ReportLine] {
    if cells[4].count <= widths[4] { return [line(cells, whole, orphans)] }
    return [
      line(Array(cells[..<4]) + [""], whole, orphans), ReportLine("    \(cells[4])", .soft),
    ]
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
