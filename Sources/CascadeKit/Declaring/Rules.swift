package import CascadeModel

/// What happens to one end of an edge when the other end goes.
///
/// Rules that answer the same event in two ways are illegal together; `cascaded --check-config`
/// names them.
public struct Rules: OptionSet, Hashable, Sendable {
  /// The bits, which are the same everywhere in Cascade.
  public let rawValue: UInt16
  /// Makes a set from its bits.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// The source goes: a notice for the destination.
  public static let notifyIfSourceDeleted = Rules(rawValue: 1)
  /// The destination goes: a notice for the source.
  public static let notifyIfDestinationDeleted = Rules(rawValue: 2)
  /// The destination goes: the source goes.
  public static let deleteSourceIfDestinationDeleted = Rules(rawValue: 4)
  /// The source goes: the destination goes.
  public static let deleteDestinationIfSourceDeleted = Rules(rawValue: 8)
  /// The last destination under this name goes: the source goes.
  public static let deleteSourceIfAllDestinationsDeleted = Rules(rawValue: 16)
  /// The last source under this name goes: the destination goes.
  public static let deleteDestinationIfAllSourcesDeleted = Rules(rawValue: 32)
  /// The destination goes: the reference becomes null, or is taken out of its list.
  public static let nullifySourceIfDestinationDeleted = Rules(rawValue: 64)
  /// The destination must stay while the source lives.
  public static let denyDestinationDeletion = Rules(rawValue: 128)
  /// The source must stay while the destination lives.
  public static let denySourceDeletion = Rules(rawValue: 256)

  private static let names = [
    "notifyIfSourceDeleted", "notifyIfDestinationDeleted", "deleteSourceIfDestinationDeleted",
    "deleteDestinationIfSourceDeleted", "deleteSourceIfAllDestinationsDeleted",
    "deleteDestinationIfAllSourcesDeleted", "nullifySourceIfDestinationDeleted",
    "denyDestinationDeletion", "denySourceDeletion",
  ]

  /// The names, in the order of the bits.
  public var names: [String] {
    Rules.names.indices.filter { rawValue & 1 << UInt16($0) != 0 }.map { Rules.names[$0] }
  }

  /// The rules with these names. Unknown names are left out.
  init(names: some Sequence<String>) {
    self = names.reduce(into: []) { rules, name in
      guard let bit = Rules.names.firstIndex(of: name) else { return }
      rules.insert(Rules(rawValue: 1 << UInt16(bit)))
    }
  }

  package var json: JSON { .array(names.map(JSON.string)) }
}
