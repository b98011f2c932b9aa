package import CascadeModel

extension Rules {
  /// The rules that something follows from when an edge loses its source.
  package static let losingSource: Rules = [
    .notifyIfSourceDeleted, .deleteDestinationIfSourceDeleted,
    .deleteDestinationIfAllSourcesDeleted, .denySourceDeletion,
  ]

  /// The rules for which the removal of an edge is news: something follows, or a denial ends.
  package static let missingTheEdge: Rules = [.losingSource, .denyDestinationDeletion]

  /// The rules by which no reference to nothing is left.
  static let removingSource: Rules = [
    .deleteSourceIfDestinationDeleted, .nullifySourceIfDestinationDeleted,
  ]

  package static let losingDestination: Rules = [
    .notifyIfDestinationDeleted, .deleteSourceIfDestinationDeleted,
    .deleteSourceIfAllDestinationsDeleted, .nullifySourceIfDestinationDeleted,
  ]

  /// The rules by which a node goes with what was at the other end.
  package static let deletingDestination: Rules = [
    .deleteDestinationIfSourceDeleted, .deleteDestinationIfAllSourcesDeleted,
  ]
  package static let deletingSource: Rules = [
    .deleteSourceIfDestinationDeleted, .deleteSourceIfAllDestinationsDeleted,
  ]

  /// The rules that count the edges that are left.
  package static let counted: Rules = [
    .deleteDestinationIfAllSourcesDeleted, .deleteSourceIfAllDestinationsDeleted,
  ]

  /// The name of the rule with this number.
  package static func name(_ number: String) -> String? {
    Int64(number).flatMap { Rules(rawValue: $0).names.first }
  }
}
