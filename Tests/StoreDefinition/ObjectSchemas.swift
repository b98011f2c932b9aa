package import CascadeModel
internal import CascadeStore

/// Objects whose values refer to others.
package func put(
  _ letters: String, _ value: String? = nil, type: String? = nil, edges: [DeclaredEdge]? = nil
) -> Change {
  .put(node(letters), type: type, value: value.map(JSONText.init(valid:)), edges: edges)
}

package func patch(_ letters: String, _ members: String, unset: [String] = []) -> Change {
  .patch(node(letters), set: JSONText(valid: members).members()!, unset: unset)
}

package func delete(_ letters: String) -> Change { .delete(node(letters)) }

extension StoreModel {
  /// Whose relationships these are, from "n" to "n", called "e", unless they say otherwise.
  package init(relationships: [String], collections: String = "") throws {
    let whole = relationships.map { text in
      var whole = text
      for (key, value) in [("name", "'e'"), ("from", "'n'"), ("to", "'n'")]
      where !text.contains("\(key):") {
        whole = "\(key): \(value), \(whole)"
      }
      return "{ \(whole) }"
    }
    try self.init(
      """
      { collections: { n: {}, m: {}, posts: { types: { photo: 'photos', text: 'texts' } } \
      \(collections) },
        files: { media: '/srv/media' }, relationships: [\(whole.joined(separator: ", "))] }
      """)
  }
}

extension StoreUnderTest {
  /// The value of a node, as JSON; nil where it is not there.
  package func value(_ letters: String) throws -> String? {
    try reader.node(node(letters)).value?.text
  }

  /// The single message of the refusal.
  package func refusal(_ changes: Change...) throws -> String {
    let reasons = try reasons(changes)
    return reasons.count == 1 ? reasons[0].message : "\(reasons)"
  }

  /// Why the changes are refused; nothing if they are not.
  package func messages(_ changes: Change...) throws -> [String] {
    try reasons(changes).map(\.message)
  }
}

extension Rules {
  /// As a model says them.
  package var list: String { "[\(names.map { "'\($0)'" }.joined(separator: ", "))]" }
}
