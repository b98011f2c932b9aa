package import CascadeModel
internal import CascadePostgres

/// Types whose values compare with each other, and are equal exactly when the texts are that the
/// database writes for them.
package struct KeyFamily: Hashable, CustomStringConvertible {
  /// To which a text is cast.
  package let type: String
  let kind: Kind

  enum Kind: Hashable {
    case integer, text, uuid, oid, bytes, date
    /// With blanks behind it that mean nothing, and that its text does not have.
    case padded
    /// With so many digits behind the point in each value.
    case number(scale: Int)
    /// A time in a time zone, or without one.
    case time(isZoned: Bool)
    /// A type that lists its values.
    case choice([String])
  }

  package var description: String {
    if case .number(let scale) = kind { return "numeric with a scale of \(scale)" }
    return kind == .padded ? "char" : type
  }

  package static let integer = KeyFamily(type: "bigint", kind: .integer)
  package static let text = KeyFamily(type: "text", kind: .text)

  private init(type: String, kind: Kind) { (self.type, self.kind) = (type, kind) }

  package init?(_ column: ColumnType) {
    guard column.isDeterministic, let kind = KeyFamily.kind(of: column) else { return nil }
    self.init(type: KeyFamily.type(kind, column), kind: kind)
  }

  private static func kind(of column: ColumnType) -> Kind? {
    if let labels = column.labels { return .choice(labels) }
    return switch column.name {
    case "smallint", "integer", "bigint": .integer
    case "text", "character varying": .text
    case "uuid": .uuid
    case "oid": .oid
    case "bytea": .bytes
    case "character": .padded
    case "date": .date
    case "timestamp without time zone": .time(isZoned: false)
    case "timestamp with time zone": .time(isZoned: true)
    case "numeric": column.scale.map { .number(scale: $0) }
    default: nil
    }
  }

  private static func type(_ kind: Kind, _ column: ColumnType) -> String {
    switch kind {
    case .integer: "bigint"
    case .text: "text"
    // Without a length, it cuts off nothing.
    case .padded: "bpchar"
    case .choice: column.qualifiedName
    case .uuid, .oid, .bytes, .date, .number, .time: column.name
    }
  }

  package static let supported = """
    smallint, integer, bigint, oid, numeric with a scale, text, varchar, char, uuid, bytea, date, \
    timestamp and enumerated types are supported
    """

  /// Whether its texts depend on what a session sets.
  var dependsOnSettings: Bool {
    switch kind {
    case .bytes, .date, .time: true
    case .integer, .text, .uuid, .oid, .padded, .number, .choice: false
    }
  }

  /// Whether a text or JSON can name its keys: only if it can be told that a text is one, before it is
  /// cast.
  package var isNamedByText: Bool {
    switch kind {
    case .date, .time: false
    case .integer, .text, .uuid, .oid, .bytes, .padded, .number, .choice: true
    }
  }

  /// Whether lists name its keys: JSON has them as the database writes them.
  package var isInLists: Bool {
    switch kind {
    case .integer, .text, .uuid, .choice: true
    case .oid, .bytes, .padded, .number, .date, .time: false
    }
  }

  // MARK: - In SQL

  /// Whether a text names a key.
  func isKey(_ text: String) -> String {
    switch kind {
    case .choice(let labels): "\(text) = ANY(\(literal(arrayText(labels)))::text[])"
    case .integer: KeyFamily.isNumber(text, digits: 19, "\(Int64.min) AND \(Int64.max)")
    case .oid: KeyFamily.isNumber(text, digits: 10, "0 AND \(UInt32.max)")
    default: "\(text) ~ \(literal(pattern))"
    }
  }

  /// Only the longest numbers can be beyond the bounds.
  private static func isNumber(_ text: String, digits: Int, _ bounds: String) -> String {
    """
    (CASE WHEN \(text) ~ '^(0|-?[1-9][0-9]{0,\(digits - 2)})$' THEN true
      WHEN \(text) ~ '^-?[1-9][0-9]{\(digits - 1)}$' THEN (\(text))::numeric BETWEEN \(bounds)
      ELSE false END)
    """
  }

  /// What the texts of its keys look like.
  private var pattern: String {
    switch kind {
    case .number(scale: 0): "^(0|-?[1-9][0-9]{0,250})$"
    case .number(let scale): #"^(?!-0\.0+$)-?(0|[1-9][0-9]{0,250})\.[0-9]{\#(scale)}$"#
    case .integer, .oid, .text, .date, .time, .choice: ""
    case .padded: "(^|[^ ])$"
    case .uuid: "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
    case .bytes: #"^\\x([0-9a-f]{2})*$"#
    }
  }

  /// The key that a text names; null if it names none.
  func value(ofText text: String) -> String {
    "CASE WHEN \(isKey(text)) THEN \(text.cast(to: self)) END"
  }

  /// A value as JSON.
  func json(_ value: String) -> String {
    switch kind {
    case .integer, .text, .uuid: value
    case .oid, .bytes, .padded, .number, .date, .time, .choice: "(\(value))::text"
    }
  }

  // MARK: - In Swift

  func key(_ text: String) -> Key {
    switch kind {
    case .integer, .oid, .number(scale: 0): Int64(text).map(Key.integer) ?? .text(text)
    default: .text(text)
    }
  }

  /// The text of a key as the database writes it; nil if no row can have it.
  package func text(_ key: Key) -> String? {
    guard let text = key.managedText else { return nil }
    if specialTexts.contains(text) { return text }
    switch kind {
    case .integer: return Int64(text).map { String($0) }
    case .oid: return UInt32(text).map { String($0) }
    case .text: return text.utf8.contains(0) ? nil : text
    case .padded:
      return text.utf8.contains(0) ? nil : String(text.reversed().drop { $0 == " " }.reversed())
    case .uuid: return KeyFamily.uuid(text)
    case .bytes: return KeyFamily.bytes(text)
    case .number(let scale): return KeyFamily.number(text, scale)
    case .date:
      let date = text.hasSuffix(" BC") ? text.dropLast(3) : text[...]
      return KeyFamily.isDate(date) ? text : nil
    case .time(let isZoned):
      if !text.hasSuffix(" BC") { return KeyFamily.time(text, isZoned) }
      return KeyFamily.time(String(text.dropLast(3)), isZoned).map { "\($0) BC" }
    case .choice(let labels): return labels.first { $0.hasBytes(of: text) }
    }
  }

  private var specialTexts: [String] {
    switch kind {
    case .date, .time: ["infinity", "-infinity"]
    case .number: ["NaN"]
    default: []
    }
  }

  private static func uuid(_ text: String) -> String? {
    let digits = Array(text.lowercased().filter { $0 != "-" })
    guard digits.count == 32, digits.allSatisfy(isHexDigit) else { return nil }
    return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }
      .joined(separator: "-")
  }

  private static func bytes(_ text: String) -> String? {
    let digits = text.dropFirst(2).lowercased()
    guard text.hasPrefix(#"\x"#), digits.utf8.count % 2 == 0, digits.allSatisfy(isHexDigit) else {
      return nil
    }
    return #"\x"# + digits
  }

  private static func isHexDigit(_ digit: Character) -> Bool { digit.isASCII && digit.isHexDigit }

  /// With the digits of the scale, as the column has it.
  private static func number(_ text: String, _ scale: Int) -> String? {
    let isNegative = text.hasPrefix("-")
    let parts = text.dropFirst(isNegative ? 1 : 0)
      .split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.allSatisfy({ !$0.isEmpty && isNumber($0) }) else { return nil }
    let whole = parts[0].drop { $0 == "0" }
    var places = parts.count > 1 ? String(parts[1]) : ""
    while places.utf8.count > scale, places.hasSuffix("0") { places.removeLast() }
    if places.utf8.count > scale || whole.utf8.count > 10_000 { return nil }
    places += String(repeating: "0", count: scale - places.utf8.count)
    let isZero = whole.isEmpty && places.allSatisfy { $0 == "0" }
    return (isNegative && !isZero ? "-" : "") + (whole.isEmpty ? "0" : whole)
      + (scale > 0 ? ".\(places)" : "")
  }

  private static func isNumber(_ text: some StringProtocol) -> Bool {
    text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  private static func isDate(_ text: some StringProtocol) -> Bool {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.dropFirst().map(\.utf8.count) == [2, 2], (4...7).contains(parts[0].utf8.count),
      parts.allSatisfy({ isNumber($0) })
    else { return false }
    let (year, month, day) = (Int(parts[0])!, Int(parts[1])!, Int(parts[2])!)
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return year > 0 && (1...12).contains(month) && (1...days[month - 1]).contains(day)
  }

  /// Also as in ISO 8601, in UTC.
  private static func time(_ text: String, _ isZoned: Bool) -> String? {
    var text = text
    for zone in ["Z", "+00:00", "+00"] where isZoned && text.hasSuffix(zone) {
      text.removeLast(zone.utf8.count)
      guard let local = time(text, false) else { return nil }
      return "\(local)+00"
    }
    let parts = text.split(omittingEmptySubsequences: false) { $0 == " " || $0 == "T" }
    guard !isZoned, parts.count == 2, isDate(parts[0]), let clock = clock(parts[1]) else {
      return nil
    }
    return "\(parts[0]) \(clock)"
  }

  private static func clock(_ text: Substring) -> String? {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    let fields = parts[0].split(separator: ":", omittingEmptySubsequences: false)
    guard fields.map(\.utf8.count) == [2, 2, 2], fields.allSatisfy({ isNumber($0) }),
      Int(fields[0])! < 24, Int(fields[1])! < 60, Int(fields[2])! < 60
    else { return nil }
    if parts.count == 1 { return String(parts[0]) }
    var fraction = parts[1]
    while fraction.hasSuffix("0") { fraction.removeLast() }
    if fraction.utf8.count > 6 || !isNumber(fraction) { return nil }
    return fraction.isEmpty ? String(parts[0]) : "\(parts[0]).\(fraction)"
  }
}

extension String {
  /// An array parameter of this family.
  func array(of family: KeyFamily) -> String { "(\(self)::text[]::\(family.type)[])" }
  func cast(to family: KeyFamily) -> String { "(\(self))::\(family.type)" }
}

extension Binding {
  /// What a function sets so that it writes keys as the daemon does; nothing if no key depends on that.
  package var settings: String {
    let families =
      tables.values.flatMap(\.key.families) + relations.flatMap { $0.columns?.families ?? [] }
    if !families.contains(where: \.dependsOnSettings) { return "" }
    return " SET DateStyle = 'ISO' SET TimeZone = 'UTC' SET bytea_output = 'hex'"
  }
}
