internal import CascadePostgres

/// A column of the source that has a list of keys: an array, or a JSON value.
///
/// 1. Each key is one edge, however often the list has it. In JSON, only an element of the key's kind
///    is one: a number for an integer, a text for others. In place of a list there may be one key.
/// 2. In a JSON document, a path of names leads to the list.
/// 3. JSON may also be in a column of `json` or of text. A text that is no JSON has no keys.
package struct ListColumn: Hashable {
  /// Quoted.
  package let name: String
  /// As PostgreSQL writes it: `integer[]`, `jsonb`.
  package let type: String
  package let family: KeyFamily
  /// The names of the members that lead to the list.
  package var path: [String] = []
  /// A member of the document that has to have a value, for the list to be one of the relation.
  package var kind: Kind?

  /// The types of the objects whose lists are meant; nil: of all.
  package var objectTypes: [String]?

  package struct Kind: Hashable {
    package let path: [String]
    package let value: String

    package init(path: [String], value: String) { (self.path, self.value) = (path, value) }
  }

  package init(name: String, type: String, family: KeyFamily, path: [String] = []) {
    (self.name, self.type, self.family, self.path) = (name, type, family, path)
  }

  /// The types of JSON.
  package static let documents = ["jsonb", "json", "text", "character varying"]

  /// The column of a property of the model, and the members that lead to the value.
  package static func names(of property: String) -> [String] {
    property.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
  }

  /// The column of a property of the model.
  package static func column(of property: String) -> String {
    String(property.prefix { $0 != "." })
  }

  private enum Form { case array, binary, text }

  private var form: Form { type.hasSuffix("[]") ? .array : type == "jsonb" ? .binary : .text }

  /// Whether the JSON is a text, which no index looks into.
  package var isText: Bool { form == .text }

  /// What names the destination in an element.
  package var value: Columns { Columns([Columns.Column(name: "value", family: family)]) }

  // MARK: - Elements

  /// An element `e.value` for each key in the list of a row, for FROM.
  package func elements(_ row: String, as element: String = "e") -> String {
    "LATERAL (SELECT DISTINCT \(key(of: "u.item")) FROM \(items(row))) \(element)(value)"
  }

  /// The items `u.item` of the list, with their `u.place`, for FROM.
  private func items(_ row: String) -> String {
    if form == .array { return "unnest(\(row).\(name)) WITH ORDINALITY u(item, place)" }
    return """
      (SELECT \(json(row)) OFFSET 0) w(v), jsonb_array_elements(CASE jsonb_typeof(w.v)
        WHEN 'array' THEN w.v WHEN 'object' THEN '[]' ELSE jsonb_build_array(w.v) END)
        WITH ORDINALITY u(item, place)
      """
  }

  /// The whole document; null if the text is no JSON.
  package func document(_ row: String) -> String {
    form == .binary ? "\(row).\(name)" : "cascade.json(\(row).\(name)::text)"
  }

  /// What is at the path.
  private func json(_ row: String) -> String {
    let value = member(path, of: row)
    let isKind = kind.map {
      "\(member($0.path, of: row)) = to_jsonb(\(literal($0.value))::text)"
    }
    let isOfType = objectTypes.map { isOne(of: $0, row) }
    let conditions = [isKind, isOfType].compactMap(\.self)
    return conditions.isEmpty
      ? value : "(CASE WHEN \(conditions.joined(separator: " AND ")) THEN \(value) END)"
  }

  /// The same list in a row that is known to be of one of the types.
  package var ofKnownType: ListColumn {
    var list = self
    list.objectTypes = nil
    return list
  }

  private func member(_ path: [String], of row: String) -> String {
    path.reduce(document(row)) { "(\($0) -> \(literal($1)))" }
  }

  /// The key that an item of the list names; null if it names none.
  private func key(of item: String) -> String {
    if form == .array { return item.cast(to: family) }
    let text = "\(item) #>> '{}'"
    return "CASE WHEN jsonb_typeof(\(item)) = \(literal(jsonType)) AND \(family.isKey(text)) "
      + "THEN \(text.cast(to: family)) END"
  }

  private var jsonType: String { family == .integer ? "number" : "string" }

  /// Whether the lists of two rows differ.
  func isChanged(_ row: String, _ other: String) -> String {
    let values =
      form == .array ? ["\(row).\(name)", "\(other).\(name)"] : [json(row), json(other)]
    return values.joined(separator: " IS DISTINCT FROM ")
  }

  /// Whether they may differ, for a condition that the application's role evaluates.
  func mayBeChanged(_ row: String, _ other: String) -> String {
    if form != .text { return isChanged(row, other) }
    let isChanged = "\(row).\(name)::text IS DISTINCT FROM \(other).\(name)::text"
    return objectTypes == nil
      ? isChanged : "(\(isChanged) OR \(row).type IS DISTINCT FROM \(other).type)"
  }

  // MARK: - For an index

  /// Whether the list may have a value. An index of the column finds the rows.
  func mayHave(_ value: String, in row: String) -> String {
    switch form {
    case .text: "true"
    case .array: "\(row).\(name) @> ARRAY[\(item(value))]"
    case .binary where path.isEmpty: "\(row).\(name) @> to_jsonb(\(value))"
    case .binary: "\(row).\(name) @> ANY(ARRAY[\(documents(value).joined(separator: ", "))])"
    }
  }

  /// Whether it may have one of the values that a query returns as `v`.
  func mayHaveAny(_ values: String, in row: String) -> String {
    switch form {
    case .text: "true"
    case .array: "\(row).\(name) && ARRAY(SELECT \(item("v")) FROM (\(values)) q(v))"
    case .binary:
      "\(row).\(name) @> ANY(ARRAY(SELECT d FROM (\(values)) q(v), "
        + "unnest(ARRAY[\(documents("v").joined(separator: ", "))]) d))"
    }
  }

  /// What a document contains that has a value in the list, or in its place.
  private func documents(_ value: String) -> [String] {
    if path.isEmpty { return ["to_jsonb(\(value))"] }
    return ["to_jsonb(\(value))", "jsonb_build_array(\(value))"].map { list in
      path.reversed().reduce(list) { "jsonb_build_object(\(literal($1)), \($0))" }
    }
  }

  /// A key as an item of the array; null if the array cannot have it.
  private func item(_ value: String) -> String {
    let type = String(type.dropLast(2))
    // The name of an application's type is known only with its schema.
    if case .choice = family.kind { return value.cast(to: family) }
    guard family == .integer else { return "(\(value))::\(type)" }
    let bound = ["smallint": "32767", "integer": "2147483647"][type] ?? "9223372036854775807"
    return "(CASE WHEN \(value) BETWEEN -\(bound) AND \(bound) THEN \(value) END)::\(type)"
  }

  // MARK: - Without some keys

  /// The column without the items whose key `e.value` is so. The others stay in their order; in place
  /// of a single one there is null.
  package func list(_ row: String, without condition: String) -> String {
    let isLeft = """
      NOT EXISTS (SELECT FROM (SELECT \(key(of: "u.item"))) e(value)
        WHERE e.value IS NOT NULL AND \(condition))
      """
    let left = "FROM \(items(row)) WHERE \(isLeft)"
    if form == .array { return "ARRAY(SELECT u.item \(left) ORDER BY u.place)" }
    let list = """
      CASE jsonb_typeof(\(json(row)))
        WHEN 'array' THEN (SELECT coalesce(jsonb_agg(u.item ORDER BY u.place), '[]') \(left))
        ELSE coalesce((SELECT u.item \(left)), 'null') END
      """
    let way = literal(arrayText(path))
    let whole = path.isEmpty ? list : "jsonb_set(\(document(row)), \(way), \(list))"
    return form == .binary ? whole : "(\(whole))::text::\(type)"
  }
}
