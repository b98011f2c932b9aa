/// Where the tables stand in a picture: those that others refer to on the left.
struct Picture {
  struct Box {
    let table: Inspection.TableSize
    let x: Int
    let y: Int
    var isBroken = false
  }

  struct Line {
    let reference: InspectedRelationship
    let from: Box
    let to: Box
  }

  private(set) var boxes: [String: Box] = [:]
  let lines: [Line]
  let width: Int
  let height: Int
  /// The tables without a relationship, which are not drawn.
  let alone: [Inspection.TableSize]

  static let boxWidth = 200
  static let boxHeight = 44
  private static let columnGap = 110
  private static let rowGap = 22
  private static let margin = 16

  init(_ inspection: Inspection) {
    let tables = Set(inspection.tables.map(\.table))
    let drawn = inspection.relationships.filter {
      $0.found != .join && tables.contains($0.from) && tables.contains($0.to)
    }
    let ends = Set(drawn.flatMap { [$0.from, $0.to] })
    let levels = Picture.levels(ends.sorted(), drawn)
    var columns: [Int: [Inspection.TableSize]] = [:]
    for table in inspection.tables where ends.contains(table.table) {
      columns[levels[table.table] ?? 0, default: []].append(table)
    }
    let broken = Set(inspection.broken.map(\.from))
    // Every other column is lower by half a row, so that lines over it pass between its boxes.
    let pitch = Picture.boxHeight + Picture.rowGap
    for (column, tables) in columns {
      for (row, table) in tables.enumerated() {
        boxes[table.table] = Box(
          table: table,
          x: Picture.margin + column * (Picture.boxWidth + Picture.columnGap),
          y: Picture.margin + row * pitch + column % 2 * pitch / 2,
          isBroken: broken.contains(table.table))
      }
    }
    let boxes = boxes
    lines = drawn.compactMap { reference in
      guard let from = boxes[reference.from], let to = boxes[reference.to] else { return nil }
      return Line(reference: reference, from: from, to: to)
    }
    width = (boxes.values.map(\.x).max() ?? 0) + Picture.boxWidth + 2 * Picture.margin
    height = (boxes.values.map(\.y).max() ?? 0) + Picture.boxHeight + 2 * Picture.margin
    alone = inspection.tables.filter { !ends.contains($0.table) }
  }

  /// A table stands to the right of those that it refers to, as far as there is no circle.
  private static func levels(
    _ tables: [String], _ references: [InspectedRelationship]
  ) -> [String: Int] {
    var levels = Dictionary(uniqueKeysWithValues: tables.map { ($0, 0) })
    for _ in 0..<min(tables.count, 8) {
      var moved = false
      for reference in references where reference.from != reference.to {
        let wanted = (levels[reference.to] ?? 0) + 1
        if wanted <= 8, wanted > levels[reference.from] ?? 0 {
          levels[reference.from] = wanted
          moved = true
        }
      }
      if !moved { break }
    }
    // A circle pushes its tables to the right: leave no empty columns.
    let used = Set(levels.values).sorted()
    return levels.mapValues { used.firstIndex(of: $0) ?? 0 }
  }
}

extension Picture {
  /// As SVG. The style is that of the page, or the one that is given.
  func svg(style: String = "") -> String {
    let largest = boxes.values.map(\.table.rows).max() ?? 0
    let body =
      lines.map(Picture.path)
      + boxes.values.sorted { ($0.x, $0.y) < ($1.x, $1.y) }.map { $0.svg(largest: largest) }
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(height)" width="\(width)" \
      height="\(height)" role="img" aria-label="The tables and what they refer to">
      \(style)<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" \
      markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" class="tip"/></marker>\
      <marker id="redtip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" \
      markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" class="redtip"/></marker></defs>
      \(body.joined(separator: "\n"))
      </svg>
      """
  }

  private static func path(_ line: Line) -> String {
    let isBroken = line.reference.orphans > 0 && line.reference.isLikely
    let kind =
      (isBroken ? "edge broken" : "edge") + (line.reference.isLikely ? "" : " perhaps")
    let tip = isBroken ? "redtip" : "tip"
    let orphans =
      isBroken ? ": \(line.reference.orphans.groupedCount("orphan", "orphans"))" : ""
    let title = "\(line.reference.origin) → \(line.reference.destination)\(orphans)"
    return "<path class=\"\(kind)\" marker-end=\"url(#\(tip))\" d=\"\(curve(line))\">"
      + "<title>\(escaped(title))</title></path>"
  }

  private static func curve(_ line: Line) -> String {
    let middle = boxHeight / 2
    let (x, y) = (line.from.x, line.from.y + middle)
    if line.from.x == line.to.x {
      // To its own table, or to one above or below: around the left side.
      let isSelf = line.from.y == line.to.y
      let end = isSelf ? y - 12 : line.to.y + middle
      let start = isSelf ? y + 12 : y
      return "M\(x) \(start)C\(x - 46) \(start) \(x - 46) \(end) \(x) \(end)"
    }
    let isBackwards = line.to.x > x
    let start = isBackwards ? x + boxWidth : x
    let end = isBackwards ? line.to.x : line.to.x + boxWidth
    let bend = isBackwards ? 60 : -60
    let target = line.to.y + middle
    return "M\(start) \(y)C\(start + bend) \(y) \(end - bend) \(target) \(end) \(target)"
  }
}

extension Picture.Box {
  /// With a bar that shows its share of the largest table.
  fileprivate func svg(largest: Int) -> String {
    let (width, height) = (Picture.boxWidth, Picture.boxHeight)
    let bar = largest == 0 ? 0 : max(2, (width - 16) * table.rows / largest)
    let name = table.table.count > 21 ? table.table.prefix(20) + "…" : table.table
    return """
      <g class="\(isBroken ? "box broken" : "box")"><title>\(escaped(table.table))</title>\
      <rect x="\(x)" y="\(y)" width="\(width)" height="\(height)" rx="6"/>\
      <rect class="bar" x="\(x + 8)" y="\(y + height - 8)" width="\(bar)" height="3"/>\
      <text class="name" x="\(x + 8)" y="\(y + 17)">\(escaped(name))</text>\
      <text class="size" x="\(x + 8)" y="\(y + 32)">\
      \(table.rows.groupedCount("row", "rows"))</text></g>
      """
  }
}

/// A text in HTML and SVG, also within quotation marks.
func escaped(_ text: String) -> String {
  var escaped = ""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "&": escaped += "&amp;"
    case "<": escaped += "&lt;"
    case ">": escaped += "&gt;"
    case "\"": escaped += "&quot;"
    case _ where scalar.properties.generalCategory == .control: escaped += "\u{FFFD}"
    default: escaped.unicodeScalars.append(scalar)
    }
  }
  return escaped
}
