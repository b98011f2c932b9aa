/// When the rows of a collection go because of their age.
package enum Expiry: Hashable, Sendable {
  /// The time in the column is further back than `after`.
  case age(column: String, after: Duration, form: TimeForm?)
  /// An SQL expression says so.
  case condition(String)
  /// The row has been marked for so long: since the time in the column, or since the mark was seen.
  case marked(column: String?, after: Duration, form: TimeForm?)

  package var column: String? {
    switch self {
    case .age(let column, _, _): column
    case .marked(let column, _, _): column
    case .condition: nil
    }
  }

  /// How old a row becomes; nil for a condition.
  package var age: Duration? {
    switch self {
    case .age(_, let age, _), .marked(_, let age, _): age
    case .condition: nil
    }
  }

  package var isOfMarks: Bool { if case .marked = self { true } else { false } }
}

/// What the values of a column say as times.
package enum TimeForm: String, Hashable, Sendable, CaseIterable {
  /// Seconds, milliseconds, microseconds since 1970.
  case unix, unixms, unixus
  /// A text; without an offset it is UTC.
  case iso
  /// Days since noon of 24 November 4714 BC, with a fraction.
  case julian
}

/// Reads `expires` of a collection.
struct ExpiryReader {
  static func read(_ entry: ModelValue) -> Expiry? {
    guard let fields = Fields(entry, ["column", "after", "as", "when"]) else { return nil }
    if let when = fields["when"] {
      for key in ["column", "after", "as"] {
        fields[key]?.addProblem("\"\(key)\" has no meaning beside \"when\"")
      }
      return when.condition().map(Expiry.condition)
    }
    let column = fields.required("column")?.name("a column")
    let after = fields.required("after")?.duration()
    guard let column, let after else { return nil }
    return .age(column: column, after: after, form: fields["as"]?.word())
  }
}

extension ModelValue {
  /// An SQL expression about a row. The database checks it where it is used.
  func condition() -> String? {
    guard let text = string("an SQL expression") else { return nil }
    do {
      guard let variable = try SQLExpression(text).variables.first else { return text }
      addProblem("\"$\(variable.base)\" is not allowed here")
    } catch {
      addProblem(error.description)
    }
    return nil
  }
}

// MARK: - As JSON

extension Expiry {
  /// As a store keeps it: equal if it is the same.
  package var json: JSON {
    switch self {
    case .age(let column, let after, let form):
      [
        "column": .string(column), "after": .integer(after.inMilliseconds),
        "as": form.map { .string($0.rawValue) } ?? .null,
      ]
    case .condition(let text): ["when": .string(text)]
    case .marked(let column, let age, let form):
      [
        "marked": column.map { .string($0) } ?? .null, "after": .integer(age.inMilliseconds),
        "as": form.map { .string($0.rawValue) } ?? .null,
      ]
    }
  }

  package init?(_ json: JSON) {
    if let text = json["when"]?.string {
      self = .condition(text)
      return
    }
    guard let after = json["after"]?.integer.map({ Duration.milliseconds($0) }) else { return nil }
    let form = json["as"]?.string.flatMap(TimeForm.init(rawValue:))
    if let mark = json["marked"] {
      self = .marked(column: mark.string, after: after, form: form)
    } else if let column = json["column"]?.string {
      self = .age(column: column, after: after, form: form)
    } else {
      return nil
    }
  }
}
