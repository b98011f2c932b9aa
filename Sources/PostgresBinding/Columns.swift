package import CascadeModel
internal import CascadePostgres

/// The columns of a key or of a reference, in the order of the key.
///
/// In Cascade's own tables a key is one text: the value of its column, or a JSON array of the values
/// of several columns.
package struct Columns: Hashable {
  package struct Column: Hashable {
    /// Quoted.
    package let name: String
    /// Of the key that it is compared with.
    package let family: KeyFamily
    /// Whether it has texts that name keys of another kind, as the database writes these.
    package var isText = false
    /// What it has in a row that refers to nothing.
    package var empty = "NULL"

    package init(name: String, family: KeyFamily, isText: Bool = false) {
      (self.name, self.family, self.isText) = (name, family, isText)
    }

    /// That of stored edges to files.
    package static var path: Column { Column(name: "path", family: .text) }

    /// As a key; null if it can be none.
    package func value(_ row: String) -> String {
      isText ? family.value(ofText: "\(row).\(name)") : "\(row).\(name)"
    }

    /// The value that stands for a part of a key, as the column has it.
    fileprivate func part(_ text: String) -> String { isText ? text : text.cast(to: family) }

    /// A value as SQL; nil if the column cannot have it.
    package func written(_ value: Key) -> String? {
      let stored = isText ? KeyFamily.text : family
      return stored.text(value).map { "\(literal($0))::\(stored.type)" }
    }

    fileprivate func isNone(_ row: String, of none: [Key]) -> String? {
      let values = none.compactMap(written)
      return values.isEmpty ? nil : "\(row).\(name) IN (\(values.joined(separator: ", ")))"
    }

    fileprivate func equals(_ row: String, _ other: Column, _ otherRow: String) -> String {
      let (mine, its) = ("\(row).\(name)", "\(otherRow).\(other.name)")
      if isText == other.isText { return "\(mine) = \(its)" }
      // An index of either column can be used.
      return isText
        ? "\(mine) = \(its)::text AND \(value(row)) = \(its)"
        : "\(its) = \(mine)::text AND \(other.value(otherRow)) = \(mine)"
    }
  }

  package let all: [Column]

  package init(_ all: [Column]) { self.all = all }

  package var families: [KeyFamily] { all.map(\.family) }
  package var names: String { all.map(\.name).joined(separator: ", ") }

  private var single: Column? { all.count == 1 ? all[0] : nil }

  private func list(_ column: (Column) -> String, by separator: String = ", ") -> String {
    all.map(column).joined(separator: separator)
  }

  // MARK: - In SQL

  /// The values of a row as those of a key, as a list.
  package func values(_ row: String) -> String { list { $0.value(row) } }

  /// The same, as the columns have them.
  package func contents(_ row: String) -> String { list { "\(row).\($0.name)" } }

  /// The values of a row, as Cascade's tables have them.
  package func text(_ row: String) -> String {
    if let single { return "\(row).\(single.name)::text" }
    return "json_build_array(\(list { $0.family.json($0.value(row)) }))::text"
  }

  package func isComplete(_ row: String) -> String {
    list({ "\($0.value(row)) IS NOT NULL" }, by: " AND ")
  }

  /// Whether one of the columns has a value that means that there is no reference; nil if none can.
  func isNone(_ row: String, of none: [Key]) -> String? {
    let conditions = all.compactMap { $0.isNone(row, of: none) }
    return conditions.isEmpty ? nil : "(\(conditions.joined(separator: " OR ")))"
  }

  /// Whether they have what nullifying leaves in them.
  package func isEmpty(_ row: String) -> String {
    list({ "\(row).\($0.name) IS NOT DISTINCT FROM \($0.empty)" }, by: " AND ")
  }

  package func areDistinct(_ row: String, _ other: String) -> String {
    "(" + list({ "\(row).\($0.name) IS DISTINCT FROM \(other).\($0.name)" }, by: " OR ") + ")"
  }

  /// Whether the columns of two rows have the same values, and all have one.
  package func equal(_ row: String, _ other: Columns, _ otherRow: String) -> String {
    zip(all, other.all).map { $0.equals(row, $1, otherRow) }.joined(separator: " AND ")
  }

  /// Whether a row has the key that a text names.
  package func equal(_ row: String, text: String) -> String {
    zip(all, parts(of: text)).map { "\(row).\($0.name) = \($1)" }.joined(separator: " AND ")
  }

  /// The values that a text stands for.
  package func parts(of text: String) -> [String] {
    if let single { return [single.part(text)] }
    return all.enumerated().map { $0.element.part("((\(text))::json->>\($0.offset))") }
  }

  /// Whether a row has one of the keys of an array of texts.
  package func isAny(_ row: String, _ array: String) -> String {
    if let single {
      let family = single.isText ? .text : single.family
      return "\(row).\(single.name) = ANY\(array.array(of: family))"
    }
    return isIn(row, "SELECT unnest(\(array)::text[])")
  }

  /// Whether a row has one of the keys that a query returns as texts.
  package func isIn(_ row: String, _ texts: String) -> String {
    "(\(contents(row))) IN (SELECT \(parts(of: "k.key").joined(separator: ", ")) "
      + "FROM (\(texts)) k(key))"
  }

  // MARK: - In Swift

  package func key(_ text: String) -> Key {
    if let single { return single.family.key(text) }
    let parts = (try? JSON.parse(text))?.array ?? []
    return .composite(
      zip(all, parts).map { column, part in column.family.key(part.string ?? part.text) })
  }

  /// The text of a key as the database writes it; nil if no row can have it.
  package func text(_ key: Key) -> String? {
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
