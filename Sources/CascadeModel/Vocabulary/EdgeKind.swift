/// Where an edge lives (DESIGN 4), as listings say it.
package enum EdgeKind: String, Hashable, Sendable, CaseIterable {
  case stored, column, join, property, polymorphic, file
}

extension Origin {
  /// Of an edge that is a row of Cascade's own table.
  package func kind(to destination: Destination) -> EdgeKind {
    switch (self, destination) {
    case (.manual, _), (.declared, _): .stored
    case (.property, .file): .file
    case (.property, .node): .property
    case (.polymorphic, _): .polymorphic
    }
  }
}
