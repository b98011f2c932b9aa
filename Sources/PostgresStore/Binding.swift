internal import CascadeModel
internal import CascadePostgres

/// The tables and columns of a model, as the database has them. Names are quoted for SQL.
struct Binding {
  var tables: [String: MappedTable] = [:]
  var relations: [ColumnRelation] = []
  var problems: [ModelProblem] = []

  func table(_ number: Int64) -> MappedTable? { tables.values.first { $0.number == number } }
  func relation(_ number: Int64) -> ColumnRelation? { relations.first { $0.number == number } }

  func relations(from table: MappedTable) -> [ColumnRelation] {
    relations.filter { $0.source.number == table.number }
  }

  func relations(to table: MappedTable) -> [ColumnRelation] {
    relations.filter { $0.destination.number == table.number }
  }

  func relations(with rules: Rules) -> [ColumnRelation] {
    relations.filter { !$0.rules.isDisjoint(with: rules) }
  }

  /// Whether the row `x` has an edge of the relation's name to a node that is there.
  func hasDestination(_ relation: ColumnRelation) -> String {
    relations(from: relation.source).filter { $0.name == relation.name }.map { alike in
      "EXISTS (SELECT FROM \(alike.destination.name) t "
        + "WHERE t.\(alike.destination.key) = x.\(alike.column))"
    }.joined(separator: " OR ")
  }

  /// Whether an edge of the relation may keep its destination: it denies, or it counts for a rule
  /// that any relation of its name may have.
  func mayKeepDestination(_ relation: ColumnRelation) -> Bool {
    relation.rules.contains(.denyDestinationDeletion)
      || relations(to: relation.destination).contains {
        $0.name == relation.name && $0.rules.contains(.deleteDestinationIfAllSourcesDeleted)
      }
  }

  var denies: Bool {
    !relations(with: [.denyDestinationDeletion, .denySourceDeletion]).isEmpty
  }
}

/// A collection, and its table.
struct MappedTable {
  let collection: String
  /// Its number in Cascade's own tables.
  let number: Int64
  /// With its schema.
  let name: String
  let key: String
  let family: KeyFamily

  func node(_ key: String) -> Node { Node(collection, family.key(key)) }
}

/// A relationship in one column.
struct ColumnRelation {
  let number: Int64
  let relationship: Relationship
  let source: MappedTable
  let destination: MappedTable
  let column: String

  var name: String { relationship.name }
  var rules: Rules { relationship.rules }

  func edge(_ from: String, _ to: String) -> Edge {
    Edge(
      name: name, source: source.node(from), destination: .node(destination.node(to)),
      rules: rules, origin: .declared, kind: .column)
  }
}

/// Types whose values are the same exactly when their texts are, and compare with each other.
enum KeyFamily: String {
  case integer = "bigint"
  case text
  case uuid

  init?(type: String, isDeterministic: Bool) {
    switch type {
    case "smallint", "integer", "bigint": self = .integer
    case "text", "character varying": self = .text
    case "uuid": self = .uuid
    default: return nil
    }
    if !isDeterministic { return nil }
  }

  static let supported = "smallint, integer, bigint, text, varchar and uuid are supported"

  func key(_ text: String) -> Key {
    self == .integer ? Int64(text).map(Key.integer) ?? .text(text) : .text(text)
  }

  /// The text of a key as the database writes it; nil if no row can have it.
  func text(_ key: Key) -> String? {
    guard let text = key.managedText else { return nil }
    switch self {
    case .integer: return Int64(text).map { String($0) }
    case .text: return text.utf8.contains(0) ? nil : text
    case .uuid:
      let digits = text.lowercased().filter { $0 != "-" }
      guard digits.utf8.count == 32, digits.allSatisfy(\.isHexDigit) else { return nil }
      return uuid(Array(digits))
    }
  }

  private func uuid(_ digits: [Character]) -> String {
    [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }.joined(separator: "-")
  }
}

extension String {
  /// An array parameter of this family.
  func array(of family: KeyFamily) -> String { "(\(self)::text[]::\(family.rawValue)[])" }
  func cast(to family: KeyFamily) -> String { "(\(self))::\(family.rawValue)" }
}
