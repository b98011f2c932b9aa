package import CascadeModel
internal import CascadeStore
import Testing

extension StoreUnderTest {
  /// What is wrong with the changes, if something is, in the order of the alphabet.
  /// Where nodes are deleted and nothing else, a plan must know it beforehand.
  package func verdict(_ changes: [Change]) throws -> [String] {
    let planned = try planned(changes)?.verdict
    let found = try reasons(changes).verdict
    if let planned { #expect(planned == found) }
    return found
  }

  private func planned(_ changes: [Change]) throws -> [Reason]? {
    var deleted: [Node] = []
    for change in changes {
      guard case .delete(let node, _) = change else { return nil }
      deleted.append(node)
    }
    return try reader.plan(deleting: deleted).denials
  }
}

extension [Reason] {
  fileprivate var verdict: [String] {
    map { "\($0.code) \($0.node?.letters ?? "")" }.sorted()
  }
}
