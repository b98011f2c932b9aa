internal import CascadeModel
internal import CascadePostgres

/// The columns of a key or of a reference, in the order of the key.
///
/// In Cascade's own tables a key is one text: the value of its column, or a JSON array of the values
/// of several columns.
struct Columns: Hashable {
  struct Column: Hashable {
    /// Quoted.
    let name: String
    let family: KeyFamily
  }

  let all: [Column]

  init(_ all: [Column]) { self.all = all }

  var families: [KeyFamily] { all.map(\.family) }
  var names: String { all.map(\.name).joined(separator: ", ") }

  private var single: Column? { all.count == 1 ? all[0] : nil }

  private func list(_ column: (Column) -> String, by separator: String = ", ") -> String {
    all.map(column).joined(separator: separator)
  }

  // MARK: - In SQL

  /// The values of a row, as a list.
  func values(_ row: String) -> String { list { "\(row).\($0.name)" } }

  /// The values of a row, as Cascade's tables have them.
  func text(_ row: String) -> String {
    if let single { return "\(row).\(single.name)::text" }
    return "json_build_array(\(values(row)))::text"
  }

  func isComplete(_ row: String) -> String {
    list({ "\(row).\($0.name) IS NOT NULL" }, by: " AND ")
  }

  func areDistinct(_ row: String, _ other: String) -> String {
    "(" + list({ "\(row).\($0.name) IS DISTINCT FROM \(other).\($0.name)" }, by: " OR ") + ")"
  }

  /// Whether the columns of two rows have the same values, and all have one.
  func equal(_ row: String, _ other: Columns, _ otherRow: String) -> String {
    zip(all, other.all).map { "\(row).\($0.name) = \(otherRow).\($1.name)" }
      .joined(separator: " AND ")
  }

  /// Whether a row has the key that a text names.
  func equal(_ row: String, text: String) -> String {
    zip(all, parts(of: text)).map { "\(row).\($0.name) = \($1)" }.joined(separator: " AND ")
  }

  /// The values that a text stands for.
  func parts(of text: String) -> [String] {
    if let single { return [text.cast(to: single.family)] }
    return all.enumerated().map {
      "((\(text))::json->>\($0.offset))".cast(to: $0.element.family)
    }
  }

  /// Whether a row has one of the keys of an array of texts.
  func isAny(_ row: String, _ array: String) -> String {
    if let single { return "\(row).\(single.name) = ANY\(array.array(of: single.family))" }
    return isIn(row, "SELECT unnest(\(array)::text[])")
  }

  /// Whether a row has one of the keys that a query returns as texts.
  func isIn(_ row: String, _ texts: String) -> String {
    "(\(values(row))) IN (SELECT \(parts(of: "k.key").joined(separator: ", ")) "
      + "FROM (\(texts)) k(key))"
  }

  // MARK: - In Swift

  func key(_ text: String) -> Key {
    if let single { return single.family.key(text) }
    let parts = (try? JSON.parse(text))?.array ?? []
    return .composite(
      parts.map { part in part.integer.map(Key.integer) ?? .text(part.string ?? part.text) })
  }

  /// The text of a key as the database writes it; nil if no row can have it.
  func text(_ key: Key) -> String? {
    if let single { return single.family.text(key) }
    guard case .composite(let parts) = key, parts.count == all.count else { return nil }
    let texts = zip(all, parts).compactMap { column, part in
      column.family.text(part).map { column.family == .integer ? $0 : Columns.json($0) }
    }
    return texts.count == all.count ? "[\(texts.joined(separator: ", "))]" : nil
  }

  /// A JSON string with the escapes that PostgreSQL writes.
  private static func json(_ text: String) -> String {
    "\"\(text.unicodeScalars.map(escaped).joined())\""
  }

  private static func escaped(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\"": return #"\""#
    case "\\": return #"\\"#
    case "\u{8}": return #"\b"#
    case "\u{C}": return #"\f"#
    case "\n": return #"\n"#
    case "\r": return #"\r"#
    case "\t": return #"\t"#
    case "\0"..."\u{1F}":
      let digits = String(scalar.value, radix: 16)
      return #"\u00"# + (digits.utf8.count == 1 ? "0" : "") + digits
    default: return String(scalar)
    }
  }
}
