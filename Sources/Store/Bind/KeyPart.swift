internal import CascadeModel
internal import CascadeSQLite
/// A part of a composite key in the list that stands for the key (`NodeTable.key`), so that it comes
/// out as it went in. SQLite's own words for JSON know no blob, write reals with 15 digits, and read
/// a text only up to a NUL. What begins with x' is a blob: a text that does has its x escaped.
enum KeyPart {
  /// The part for this column's value: of a real only as many digits as tell it from every other.
  static func written(_ column: String) -> String {
    """
    CASE typeof(\(column)) WHEN 'blob' THEN 'x''' || hex(\(column)) || ''''
      WHEN 'real' THEN iif(CAST(printf('%!.15g', \(column)) AS REAL) = \(column), \(column),
        json(replace(printf('%!.18g', \(column)), 'Inf', '9e999')))
      WHEN 'text' THEN iif(substr(\(column), 1, 2) = 'x''',
        json('"\\u0078' || substr(json_quote(\(column)), 3)), \(column))
      ELSE \(column) END
    """
  }

  /// The same of a value that is at hand.
  static func written(_ value: Value) -> String {
    guard case .text(let text) = value, text.utf8.starts(with: "x'".utf8) else {
      return value.json.text
    }
    return #""\u0078"# + JSON.string(String(text.unicodeScalars.dropFirst())).text.dropFirst()
  }

  /// The value of a part. Hardly any key is odd: it is asked as a whole first.
  static func read(_ place: Int, of key: String) -> String {
    let part = "(\(key) -> \(place))"
    return "iif(\(isOdd(key)) AND \(isOdd(part)), cascade_value\(part), \(key) ->> \(place))"
  }

  /// The same list, in which no part is a blob.
  static func asTexts(_ list: String) -> String {
    "replace(\(list), '\"x''', '\"\\u0078''')"
  }

  /// Whether SQLite's own words may read something else than was written.
  static func isOdd(_ list: String) -> String {
    #"(instr(\#(list), '"x''') OR instr(\#(list), '\u0000'))"#
  }

  /// `cascade_value`: what such a part stands for.
  static func value(_ part: String) -> Value {
    guard let text = try? JSON.parse(part).string else { return .null }
    return [UInt8](sqlBlob: text).map(Value.blob) ?? .text(text)
  }
}
