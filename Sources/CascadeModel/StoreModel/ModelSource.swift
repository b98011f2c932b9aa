/// What a model file says, without its comments and spaces. It takes no part in comparisons: two
/// models are equal if they mean the same.
package struct ModelSource: Hashable, Sendable {
  /// The members of each object are in the order of their names.
  package let json: JSON

  init(_ file: JSON) { json = file.withSortedMembers }

  /// Differs if the files differ in more than comments, spaces and the order of members.
  package var fingerprint: String {
    let digits = String(Fingerprint(json.text).value, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }

  package static func == (one: ModelSource, other: ModelSource) -> Bool { true }
  package func hash(into hasher: inout Hasher) {}
}

extension JSON {
  fileprivate var withSortedMembers: JSON {
    switch self {
    case .array(let elements): .array(elements.map(\.withSortedMembers))
    case .object(let fields):
      .object(
        fields.sorted { $0.name < $1.name }.map { Field($0.name, $0.value.withSortedMembers) })
    default: self
    }
  }
}
