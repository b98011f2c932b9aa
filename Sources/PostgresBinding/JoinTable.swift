package import CascadeModel

/// A table of which each row is an edge. Its rows outlive both ends, and are removed with either.
package struct JoinTable {
  /// With its schema.
  package let name: String
  package let source: Columns
  package let destination: Columns
  /// Whether it is Cascade's own: edges that change files add.
  package var isStored = false
  /// The collection of its rows, if they are nodes, too.
  ///
  /// 1. Such a row goes with either end by rule 4. A relation of its own, a tie, says so for each end.
  /// 2. When it goes, its edge has lost its source, unless another row is the same edge.
  /// 3. An edge that lost its destination did so also if its row goes for another reason. But a change
  ///    that deletes the row has removed the edge, whatever happens to its destination.
  package var nodes: MappedTable?
  /// Whether a row may have null in place of an end.
  package var hasNulls = false

  package init(
    name: String, source: Columns, destination: Columns, isStored: Bool = false,
    nodes: MappedTable? = nil, hasNulls: Bool = false
  ) {
    (self.name, self.source, self.destination) = (name, source, destination)
    (self.isStored, self.nodes, self.hasNulls) = (isStored, nodes, hasNulls)
  }

  package var ends: Columns { Columns(source.all + destination.all) }

  package func columns(at end: EdgeEnd) -> Columns { end == .source ? source : destination }

  /// `added` of a stored edge of which no trigger saw the end go: its key has got another type.
  package static let unseen = -1

  /// Whether a change has added the edge of a row, and its source does not declare it; null if it is not stored.
  package func isManual(_ row: String) -> String {
    isStored ? "NOT \(row).is_declared" : "NULL::boolean"
  }

  /// Whether a row may have lost an end.
  package func mayBeLost(_ row: String) -> String {
    isStored ? "\(row).added <> \(JoinTable.unseen)" : "true"
  }

  /// Tells apart the tables of stored edges: an edge keeps its rules, whatever becomes of the model.
  package static func part(
    _ source: MappedTable, _ destination: MappedTable, rules: Rules
  ) -> String {
    part([source.key, destination.key], rules: rules)
  }

  package static func part(_ keys: [Columns], rules: Rules) -> String {
    let families = keys.map { $0.families.map(\.type).joined(separator: ", ") }
    return "stored: \(families.joined(separator: " -> ")); rules \(rules.rawValue)"
  }
}
