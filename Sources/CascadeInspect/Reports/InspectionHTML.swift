internal import CascadeModel
internal import CascadeSQLite

extension Inspection {
  /// One file that needs no other, so that it can be sent on.
  package var html: String {
    let picture = Picture(self)
    return """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
      <title>\(escaped(shortName)): \(escaped(sum))</title>
      <style>\(Inspection.style)</style>
      </head>
      <body>
      <header><h1>\(escaped(shortName))</h1>
      <p class="sum\(orphans > 0 ? " broken" : "")">\(escaped(sum))</p>
      <p class="file">\(escaped(file))</p></header>
      <main>
      \(section("Picture", picture.lines.isEmpty ? "" : scrolling(picture.svg()) + legend))
      \(section("Orphans", broken.map(orphanTable).joined()))
      \(section("Relationships", relationshipTable))
      \(section("Rows that nothing refers to", unreferencedList))
      \(section("Tables", sizeTable))
      </main>
      <footer>\(declaresKeys ? escaped(Inspection.enforcement) : "")
      Made by cascadectl \(Release.version).</footer>
      </body>
      </html>

      """
  }

  /// The picture alone, in its own colours.
  package var svg: String { Picture(self).svg(style: "<style>\(Inspection.style)</style>") + "\n" }

  private func section(_ title: String, _ content: String) -> String {
    content.isEmpty ? "" : "<section><h2>\(title)</h2>\n\(content)</section>"
  }

  private func scrolling(_ content: String) -> String {
    "<div class=\"scroll\" tabindex=\"0\">\(content)</div>\n"
  }

  private var legend: String {
    "<p class=\"note\">An arrow leads from the table with the reference to the one that it refers "
      + "to. Red: so many rows refer to nothing. Dashed: the names or values speak for it, but not "
      + "enough. A bar shows a table's share of the largest.</p>\n"
  }

  private func table(_ titles: [String], _ rows: [[String]], numbers: Set<Int> = []) -> String {
    let head = titles.enumerated().map { cell("th", $0.element, numbers.contains($0.offset)) }
    let body = rows.map { row in
      let cells = row.enumerated().map { cell("td", $0.element, numbers.contains($0.offset)) }
      return "<tr>\(cells.joined())</tr>"
    }
    return scrolling(
      "<table><thead><tr>\(head.joined())</tr></thead>\n<tbody>\(body.joined(separator: "\n"))"
        + "</tbody></table>")
  }

  private func cell(_ tag: String, _ content: String, _ isNumber: Bool) -> String {
    "<\(tag)\(isNumber ? " class=\"number\"" : "")>\(content)</\(tag)>"
  }

  private var sizeTable: String {
    table(
      ["table", "rows", "key"],
      tables.map {
        [escaped($0.table), $0.rows.grouped, escaped($0.key.joined(separator: ", "))]
      }, numbers: [1])
  }

  private var relationshipTable: String {
    let rows = relationships.map { reference in
      let orphans = reference.orphans == 0 ? "–" : reference.orphans.grouped
      return [
        escaped((reference.isLikely ? "" : "? ") + reference.origin),
        escaped(reference.destination), reference.rows.grouped,
        reference.orphans > 0 && reference.isLikely && reference.found != .join
          ? "<b class=\"broken\">\(orphans)</b>" : orphans,
        escaped(reference.remarks.joined(separator: ", ")) + evidence(reference),
      ]
    }
    if rows.isEmpty { return "<p>No table refers to another.</p>" }
    return table(
      ["from", "to", "rows", "orphans", "why"], rows, numbers: [2, 3])
  }

  private func evidence(_ reference: InspectedRelationship) -> String {
    if reference.found == .foreignKey { return "" }
    return "<div class=\"note\">\(escaped(reference.evidence))</div>"
  }

  private func orphanTable(_ reference: InspectedRelationship) -> String {
    let title =
      "<h3>\(escaped(reference.origin)) → \(escaped(reference.destination)): "
      + "<b class=\"broken\">\(reference.orphans.grouped)</b> of \(reference.rows.grouped)</h3>\n"
    guard let first = reference.examples.first else { return title }
    let rows = reference.examples.map { example in
      example.map { column, value in
        let text = escaped(value.text(most: 80))
        return reference.columns.contains(column) ? "<b class=\"broken\">\(text)</b>" : text
      }
    }
    return title + table(first.map { escaped($0.column) }, rows)
  }

  private var unreferencedList: String {
    if unreferenced.isEmpty { return "" }
    let items = unreferenced.map {
      "<li>\($0.rows.groupedCount("row", "rows")) of \(escaped($0.table))</li>"
    }
    return "<ul>\(items.joined())</ul>\n"
  }
}

extension Inspection {
  fileprivate static let style = """
    :root { color-scheme: light dark; --back: #fff; --text: #1c1e21; --soft: #62676d;
      --line: #d5d9dd; --box: #f5f7f9; --bar: #4a7ebb; --red: #c0262d; --redback: #fdecec; }
    @media (prefers-color-scheme: dark) {
      :root { --back: #16181b; --text: #e6e8ea; --soft: #9aa1a8; --line: #363b41; --box: #1f2327;
        --bar: #6ea3e0; --red: #ff7b7b; --redback: #3a2022; } }
    body { margin: 0 auto; max-width: 76rem; padding: 1rem; background: var(--back);
      color: var(--text); font: 15px/1.45 system-ui, sans-serif; }
    h1 { margin: 0; font-size: 1.5rem; overflow-wrap: anywhere; }
    h2 { margin: 2rem 0 .5rem; font-size: 1.15rem; }
    h3 { margin: 1rem 0 .4rem; font-size: 1rem; overflow-wrap: anywhere; }
    .sum { margin: .3rem 0; font-size: 1.2rem; font-weight: 600; }
    .file, .note, footer { color: var(--soft); font-size: .9rem; overflow-wrap: anywhere; }
    .broken { color: var(--red); }
    .scroll { overflow-x: auto; }
    table { border-collapse: collapse; font-size: .9rem; }
    th, td { padding: .3rem .7rem .3rem 0; border-bottom: 1px solid var(--line); text-align: left;
      vertical-align: top; }
    th { color: var(--soft); font-weight: 600; white-space: nowrap; }
    td { max-width: 30rem; overflow-wrap: break-word; }
    th:last-child, td:last-child { padding-right: 0; }
    td:has(.note) { min-width: 14rem; }
    tbody tr:hover { background: var(--box); }
    .number { text-align: right; font-variant-numeric: tabular-nums; }
    footer { margin-top: 2.5rem; }
    svg { background: var(--back); font: 13px system-ui, sans-serif; }
    svg .box rect { fill: var(--box); stroke: var(--line); }
    svg .box.broken rect { fill: var(--redback); stroke: var(--red); }
    svg .box .bar, svg .box.broken .bar { fill: var(--bar); stroke: none; }
    svg .name { fill: var(--text); font-weight: 600; }
    svg .size { fill: var(--soft); font-size: 11px; }
    svg .edge { fill: none; stroke: var(--soft); stroke-width: 1.3; }
    svg .edge.broken { stroke: var(--red); stroke-width: 2; }
    svg .edge.perhaps { stroke-dasharray: 4 4; }
    svg .orphans { fill: var(--red); font-size: 12px; font-weight: 600; text-anchor: middle;
      paint-order: stroke; stroke: var(--back); stroke-width: 5px; }
    svg .tip { fill: var(--soft); }
    svg .redtip { fill: var(--red); }
    """
}
