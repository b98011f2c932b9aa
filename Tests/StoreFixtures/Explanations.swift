internal import CascadeModel
package import CascadeStore
internal import SQLiteStore
internal import StoreDefinition

/// What `why` says of a node, in letters.
extension TestStore {
  package func deletion(of letters: String) throws -> Why.Deletion? {
    if case .deleted(let deletion) = try reader.why(node(letters)) { deletion } else { nil }
  }

  package func chain(of letters: String) throws -> String? {
    try deletion(of: letters)?.chain.map(\.node.letters).joined(separator: " ")
  }

  package func isUnknown(_ letters: String) throws -> Bool {
    if case .unknown = try reader.why(node(letters)) { true } else { false }
  }
}
