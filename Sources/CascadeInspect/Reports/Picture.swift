internal import CascadeModel

/// The tables of a database and what they refer to. A table without a relationship is not drawn.
struct Picture {
  struct Box {
    let table: Inspection.TableSize
    let corner: PictureLayout.Point
    let isBroken: Bool
  }

  struct Line {
    let reference: InspectedRelationship
    let from: PictureLayout.Point
    /// Where it passes columns between its ends.
    let stops: [PictureLayout.Point]
    let to: PictureLayout.Point

    var isBroken: Bool { reference.orphans > 0 && reference.isLikely }
  }

  let boxes: [Box]
  let lines: [Line]
  let width: Int
  let height: Int

  init(_ inspection: Inspection) {
    let tables = Set(inspection.tables.map(\.table))
    let drawn = inspection.relationships.filter {
      $0.found != .join && tables.contains($0.from) && tables.contains($0.to)
    }
    let ends = Set(drawn.flatMap { [$0.from, $0.to] })
    let shown = inspection.tables.filter { ends.contains($0.table) }
    let layout = PictureLayout(
      tables: shown.map(\.table), references: drawn.map { ($0.from, $0.to) })
    let broken = Set(inspection.broken.map(\.from))
    boxes = shown.map {
      Box(table: $0, corner: layout.corner($0.table), isBroken: broken.contains($0.table))
    }
    lines = drawn.enumerated().map { number, reference in
      Line(
        reference: reference, from: layout.corner(reference.from), stops: layout.stops(number),
        to: layout.corner(reference.to))
    }
    width = layout.width + 2 * PictureLayout.margin
    height = layout.height + 2 * PictureLayout.margin
  }
}

extension Picture {
  /// As SVG. The style is that of the page, or the one that is given.
  func svg(style: String = "") -> String {
    let largest = boxes.map(\.table.rows).max() ?? 0
    let body =
      lines.map(Picture.path) + boxes.map { $0.svg(largest: largest) } + lines.map(Picture.label)
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
    let kind =
      (line.isBroken ? "edge broken" : "edge") + (line.reference.isLikely ? "" : " perhaps")
    let tip = line.isBroken ? "redtip" : "tip"
    let orphans =
      line.isBroken ? ": \(line.reference.orphans.groupedCount("orphan", "orphans"))" : ""
    let title = "\(line.reference.origin) → \(line.reference.destination)\(orphans)"
    return "<path class=\"\(kind)\" marker-end=\"url(#\(tip))\" d=\"\(curve(line))\">"
      + "<title>\(escaped(title))</title></path>"
  }

  /// How many rows refer to nothing, in the middle of the line's first part.
  private static func label(_ line: Line) -> String {
    guard line.isBroken else { return "" }
    let (start, end) = sides(line)
    let next = line.stops.first.map { entry($0, from: start) } ?? end
    let isLoop = line.from.x == line.to.x
    let x = isLoop ? start.x - 36 : (start.x + next.x) / 2
    return "<text class=\"orphans\" x=\"\(x)\" y=\"\((start.y + next.y) / 2 + 4)\">"
      + "\(line.reference.orphans.grouped)</text>"
  }

  private typealias Point = PictureLayout.Point

  /// Where a line leaves its source and reaches its destination.
  private static func sides(_ line: Line) -> (start: Point, end: Point) {
    let (width, middle) = (PictureLayout.boxWidth, PictureLayout.boxHeight / 2)
    let isBackwards = line.to.x > line.from.x
    let isLoop = line.to.x == line.from.x
    return (
      Point(x: line.from.x + (isBackwards ? width : 0), y: line.from.y + middle),
      Point(x: line.to.x + (isBackwards || isLoop ? 0 : width), y: line.to.y + middle)
    )
  }

  /// The side on which a line comes into a column that it passes.
  private static func entry(_ stop: Point, from start: Point) -> Point {
    Point(x: start.x > stop.x ? stop.x + PictureLayout.boxWidth : stop.x, y: stop.y)
  }

  private static func curve(_ line: Line) -> String {
    let (start, end) = sides(line)
    if line.from.x == line.to.x {
      // To its own table, or to one above or below: around the left side.
      let shift = line.from.y == line.to.y ? 12 : 0
      return "M\(start.x) \(start.y + shift)C\(start.x - 46) \(start.y + shift) "
        + "\(end.x - 46) \(end.y - shift) \(end.x) \(end.y - shift)"
    }
    var path = "M\(start.x) \(start.y)"
    var last = start
    for stop in line.stops {
      let entry = entry(stop, from: last)
      path += bend(last, entry)
      last = Point(x: entry.x == stop.x ? stop.x + PictureLayout.boxWidth : stop.x, y: stop.y)
      path += "L\(last.x) \(last.y)"
    }
    return path + bend(last, end)
  }

  private static func bend(_ from: Point, _ to: Point) -> String {
    let middle = (from.x + to.x) / 2
    return "C\(middle) \(from.y) \(middle) \(to.y) \(to.x) \(to.y)"
  }
}

extension Picture.Box {
  /// With a bar that shows its share of the largest table.
  fileprivate func svg(largest: Int) -> String {
    let (width, height) = (PictureLayout.boxWidth, PictureLayout.boxHeight)
    let (x, y) = (corner.x, corner.y)
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
    case _ where scalar.isControlling: escaped += "\u{FFFD}"
    default: escaped.unicodeScalars.append(scalar)
    }
  }
  return escaped
}
