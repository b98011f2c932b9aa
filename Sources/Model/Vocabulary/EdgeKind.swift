/// Where an edge lives (DESIGN 4), as listings say it.
package enum EdgeKind: String, Hashable, Sendable, CaseIterable {
  case stored, column, join, property, polymorphic, file
}

extension Origin {
  /// Of the edges that are rows of Cascade's own table.
  package var kind: EdgeKind {
    switch self {
    case .manual, .declared: .stored
    case .property: .property
    case .polymorphic: .polymorphic
    }
  }
}
