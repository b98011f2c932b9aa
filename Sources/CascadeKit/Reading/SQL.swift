/// A piece of SQL with the values that are bound to it. Identifiers are quoted, and values are never
/// part of the text.
struct SQL: Sendable, ExpressibleByStringInterpolation {
  private(set) var text: String
  private(set) var values: [SQLValue]

  init(stringLiteral text: String) { (self.text, values) = (text, []) }

  init(stringInterpolation: StringInterpolation) {
    text = stringInterpolation.text
    values = stringInterpolation.values
  }

  /// Text that the application wrote as SQL.
  init(written text: String, _ values: [SQLValue] = []) {
    (self.text, self.values) = (text, values)
  }

  struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""
    fileprivate var values: [SQLValue] = []

    init(literalCapacity: Int, interpolationCount: Int) {}

    mutating func appendLiteral(_ literal: String) { text += literal }

    mutating func appendInterpolation(_ sql: SQL) {
      text += sql.text
      values += sql.values
    }

    mutating func appendInterpolation(value: SQLValue) {
      text += "?"
      values.append(value)
    }

    mutating func appendInterpolation(list: [SQLValue]) {
      text += Array(repeating: "?", count: list.count).joined(separator: ", ")
      values += list
    }

    mutating func appendInterpolation(name: String) {
      text += "\"\(name.replacing("\"", with: "\"\""))\""
    }

    /// The path of a member of an object, as SQLite's functions for JSON take it.
    mutating func appendInterpolation(member: String) {
      let path = "$.\"\(member)\"".replacing("'", with: "''")
      text += "'\(path)'"
    }
  }
}

extension String {
  /// The text with each occurrence of a character replaced.
  fileprivate func replacing(_ character: Character, with text: String) -> String {
    reduce(into: "") { $0 += $1 == character ? text : String($1) }
  }
}

extension Sequence<SQL> {
  func joined(_ separator: SQL) -> SQL {
    var result: SQL = ""
    for (index, part) in enumerated() {
      result = index == 0 ? part : "\(result)\(separator)\(part)"
    }
    return result
  }
}

// MARK: - What a model is in SQL

extension Model {
  /// A property. The table or view of the model is called `t`.
  static func sql(_ path: PartialKeyPath<Self>) -> SQL { sql(columns.property(path)) }

  static func sql(_ property: StoredProperty<Self>) -> SQL {
    if collection.table != nil { return "t.\(name: property.column)" }
    return property.column == collection.key ? "t.key" : "t.value->>\(member: property.column)"
  }

  /// The key of a value.
  static var sqlKey: SQL { collection.table == nil ? "t.key" : "t.\(name: collection.key)" }

  /// What is compared with the key: the keys of objects are text.
  static func sqlKey(_ id: ID<Self>) -> SQLValue {
    collection.table == nil ? .text(id.description) : id.sqlValue
  }

  /// What is read.
  static func sqlColumns(_ t: SQL = "t") -> SQL {
    if collection.table == nil { return "\(t).key, \(t).value" }
    return columns.all.map { "\(t).\(name: $0.column)" as SQL }.joined(", ")
  }

  static func sqlTable(_ t: SQL = "t") -> SQL {
    collection.table.map { "\(name: $0) AS \(t)" } ?? "cascade_object AS \(t)"
  }

  /// What tells the model's values from others of the same table; nil for a table of its own.
  static func sqlCondition(_ t: SQL = "t") -> SQL? {
    if collection.table != nil { return nil }
    let condition: SQL = "\(t).collection = \(value: .text(collection.name))"
    return collection.type.map { "\(condition) AND \(t).type = \(value: .text($0))" } ?? condition
  }
}
