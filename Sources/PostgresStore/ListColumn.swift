internal import CascadePostgres

/// A column of the source that has a list of keys: an array, or a JSON array.
///
/// Each key is one edge, however often the list has it. In a JSON array, only an element of the
/// key's kind is one: a number for an integer, a text for others.
struct ListColumn: Hashable {
  /// Quoted.
  let name: String
  /// As PostgreSQL writes it: `integer[]`, `jsonb`.
  let type: String
  let family: KeyFamily

  private var isJSON: Bool { type == "jsonb" }

  /// What names the destination in an element.
  var value: Columns { Columns([Columns.Column(name: "value", family: family)]) }

  /// An element `e.value` for each key in the list of a row, for FROM.
  func elements(_ row: String) -> String {
    "LATERAL (SELECT DISTINCT \(key(of: "u.item")) FROM \(items(row)) u(item)) e(value)"
  }

  private func items(_ row: String) -> String {
    isJSON ? "jsonb_array_elements(\(array(row)))" : "unnest(\(row).\(name))"
  }

  private func array(_ row: String) -> String {
    "CASE jsonb_typeof(\(row).\(name)) WHEN 'array' THEN \(row).\(name) ELSE '[]' END"
  }

  /// The key that an item of the list names; null if it names none.
  private func key(of item: String) -> String {
    if !isJSON { return item.cast(to: family) }
    let text = "\(item) #>> '{}'"
    return "CASE WHEN jsonb_typeof(\(item)) = \(literal(kind)) AND \(text) ~ \(literal(form)) "
      + "THEN \(text.cast(to: family)) END"
  }

  private var kind: String { family == .integer ? "number" : "string" }

  private var form: String {
    switch family {
    case .integer: "^-?[0-9]{1,18}$"
    case .text: ""
    case .uuid: "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
    }
  }

  // MARK: - For an index

  /// Whether the list has a value. An index of the column finds the rows.
  func has(_ value: String, in row: String) -> String {
    isJSON
      ? "\(row).\(name) @> to_jsonb(\(value))"
      : "\(row).\(name) @> ARRAY[\(item(value))]"
  }

  /// Whether the list has one of the values that a query returns as `v`.
  func hasAny(_ values: String, in row: String) -> String {
    isJSON
      ? "\(row).\(name) @> ANY(ARRAY(SELECT to_jsonb(v) FROM (\(values)) q(v)))"
      : "\(row).\(name) && ARRAY(SELECT \(item("v")) FROM (\(values)) q(v))"
  }

  /// A key as an item of the array; null if the array cannot have it.
  private func item(_ value: String) -> String {
    let type = String(type.dropLast(2))
    guard family == .integer else { return "(\(value))::\(type)" }
    let bound = ["smallint": "32767", "integer": "2147483647"][type] ?? "9223372036854775807"
    return "(CASE WHEN \(value) BETWEEN -\(bound) AND \(bound) THEN \(value) END)::\(type)"
  }

  // MARK: - Without some keys

  /// The list without the items whose key `e.value` is so, in their order.
  func list(_ row: String, without condition: String) -> String {
    let items = "\(items(row)) WITH ORDINALITY u(item, place)"
    let isLeft = """
      NOT EXISTS (SELECT FROM (SELECT \(key(of: "u.item"))) e(value)
        WHERE e.value IS NOT NULL AND \(condition))
      """
    return isJSON
      ? "(SELECT coalesce(jsonb_agg(u.item ORDER BY u.place), '[]') FROM \(items) WHERE \(isLeft))"
      : "ARRAY(SELECT u.item FROM \(items) WHERE \(isLeft) ORDER BY u.place)"
  }
}
