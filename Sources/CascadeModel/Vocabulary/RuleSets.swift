/// Rules that are asked for together.
extension Rules {
}

extension Rules {
  package static let cascading: Rules = [
    .deleteSourceIfDestinationDeleted, .deleteDestinationIfSourceDeleted,
  ]

  package static let counting: Rules = [
    .deleteSourceIfAllDestinationsDeleted, .deleteDestinationIfAllSourcesDeleted,
  ]

  package static let denying: Rules = [.denyDestinationDeletion, .denySourceDeletion]

  package static let notifying: Rules = [.notifyIfSourceDeleted, .notifyIfDestinationDeleted]

  /// The rules that delete a destination after its source.
  package static let ofLostSource: Rules = [
    .deleteDestinationIfSourceDeleted, .deleteDestinationIfAllSourcesDeleted,
  ]

  /// The rules that delete a source after its destination.
  package static let ofLostDestination: Rules = [
    .deleteSourceIfDestinationDeleted, .deleteSourceIfAllDestinationsDeleted,
  ]
}
