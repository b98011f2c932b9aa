import Model
import Store

/// Objects whose values refer to others.
func put(
  _ letters: String, _ value: String? = nil, type: String? = nil, edges: [DeclaredEdge]? = nil
) -> Change {
  .put(node(letters), type: type, value: value.map(JSONText.init(valid:)), edges: edges)
}

func patch(_ letters: String, _ members: String, unset: [String] = []) -> Change {
  .patch(node(letters), set: JSONText(valid: members).members()!, unset: unset)
}

extension StoreModel {
  /// Whose relationships these are, from "n" to "n", called "e", unless they say otherwise.
  init(relationships: [String], collections: String = "") throws {
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

extension TestStore {
  convenience init(_ first: String, _ others: String...) throws {
    try self.init(model: StoreModel(relationships: [first] + others))
  }

  func value(_ letters: String) throws -> String? {
    try reader.node(node(letters)).value?.text
  }

  /// Why the changes are refused; nothing if they are not.
  func messages(_ changes: Change...) throws -> [String] { try reasons(changes).map(\.message) }
}

extension Rules {
  /// As a model says them.
  var list: String { "[\(names.map { "'\($0)'" }.joined(separator: ", "))]" }
}
