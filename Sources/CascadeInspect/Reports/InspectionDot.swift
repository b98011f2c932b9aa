internal import CascadeModel

extension Inspection {
  /// For Graphviz: orphans are red, what is only perhaps so is dashed.
  package var dot: String {
    let broken = Set(broken.map(\.from))
    let numbers = Dictionary(
      uniqueKeysWithValues: tables.enumerated().map { ($0.element.table, $0.offset) })
    var lines = ["digraph database {", "  rankdir=RL;", "  node [shape=box, style=rounded];"]
    for (number, table) in tables.enumerated() {
      let label = "\(table.table.printable)\n\(table.rows.groupedCount("row", "rows"))"
      let colour = broken.contains(table.table) ? ", color=\"red\"" : ""
      lines.append("  t\(number) [label=\(label.quotedForGraphviz)\(colour)];")
    }
    for reference in relationships where reference.found != .join {
      guard let from = numbers[reference.from], let to = numbers[reference.to] else { continue }
      lines.append("  t\(from) -> t\(to) [\(attributes(of: reference))];")
    }
    return (lines + ["}"]).joined(separator: "\n")
  }

  private func attributes(of reference: InspectedRelationship) -> String {
    let orphans =
      reference.orphans > 0 ? "\n\(reference.orphans.groupedCount("orphan", "orphans"))" : ""
    let label = reference.columns.joined(separator: ", ").printable + orphans
    var attributes = ["label=\(label.quotedForGraphviz)"]
    if reference.orphans > 0, reference.isLikely {
      attributes += ["color=\"red\"", "fontcolor=\"red\""]
    }
    if !reference.isLikely { attributes.append("style=\"dashed\"") }
    return attributes.joined(separator: ", ")
  }
}
