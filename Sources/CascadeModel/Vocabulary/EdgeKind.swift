/// Where an edge is stored, as listings show it.
package enum EdgeKind: String, Hashable, Sendable, CaseIterable {
  case stored, column, join, property, polymorphic, file
}

extension Origin {
  /// The kind of an edge that is a row of Cascade's own table.
  package func kind(to destination: Destination) -> EdgeKind {
    switch (self, destination) {
    case (.manual, _), (.declared, _): .stored
    case (.property, .file): .file
    case (.property, .node): .property
    case (.polymorphic, _): .polymorphic
    }
  }
}
