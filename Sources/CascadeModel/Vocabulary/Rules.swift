/// What the loss of one end of an edge does to the other end.
package struct Rules: OptionSet, Hashable, Sendable {
  package let rawValue: Int64

  package init(rawValue: Int64) { self.rawValue = rawValue }

  package static let all = Rules(rawValue: 511)
  /// What is written where no rule is the reason.
  package static let none: Rules = []

  package static let notifyIfSourceDeleted = Rules(rawValue: 1)
  package static let notifyIfDestinationDeleted = Rules(rawValue: 2)
  package static let deleteSourceIfDestinationDeleted = Rules(rawValue: 4)
  package static let deleteDestinationIfSourceDeleted = Rules(rawValue: 8)
  package static let deleteSourceIfAllDestinationsDeleted = Rules(rawValue: 16)
  package static let deleteDestinationIfAllSourcesDeleted = Rules(rawValue: 32)
  package static let nullifySourceIfDestinationDeleted = Rules(rawValue: 64)
  package static let denyDestinationDeletion = Rules(rawValue: 128)
  package static let denySourceDeletion = Rules(rawValue: 256)

  /// In the order of their bits: bit `1 << index` has the name at `index`.
  package static let allNames = [
    "notifyIfSourceDeleted", "notifyIfDestinationDeleted",
    "deleteSourceIfDestinationDeleted", "deleteDestinationIfSourceDeleted",
    "deleteSourceIfAllDestinationsDeleted", "deleteDestinationIfAllSourcesDeleted",
    "nullifySourceIfDestinationDeleted", "denyDestinationDeletion", "denySourceDeletion",
  ]

  package init?(name: String) {
    guard let bit = Rules.allNames.firstIndex(of: name) else { return nil }
    self.init(rawValue: 1 << Int64(bit))
  }

  /// Its bits, as they are written in SQL.
  package var bits: Int64 { rawValue }

  package var names: [String] {
    Rules.allNames.enumerated().filter { rawValue & (1 << Int64($0.offset)) != 0 }.map(\.element)
  }

  /// The rules that an edge to a file may have.
  package static let forFiles: Rules = [
    .deleteDestinationIfSourceDeleted, .deleteDestinationIfAllSourcesDeleted,
  ]
}
