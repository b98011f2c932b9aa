/// When rows of a collection are gone for others although they are still there: they are marked.
package struct SoftDeletion: Hashable, Sendable {
  package enum Mark: Hashable, Sendable {
    /// Rows of which the column is not NULL.
    case column(String)
    /// Rows for which an SQL expression holds; `set` says what marks a row.
    case condition(String, set: [Assignment])
  }

  package struct Assignment: Hashable, Sendable {
    package let column: String
    /// A scalar.
    package let value: JSON
  }

  package let mark: Mark
  /// After how long a marked row is deleted; nil: it is not deleted because of that.
  package let keep: Duration?
  package let form: TimeForm?

  package init(_ mark: Mark, keep: Duration? = nil, as form: TimeForm? = nil) {
    (self.mark, self.keep, self.form) = (mark, keep, form)
  }

  /// The columns that are written to mark a row.
  package var columns: [String] {
    switch mark {
    case .column(let name): [name]
    case .condition(_, let set): set.map(\.column)
    }
  }

  /// When marked rows are deleted; nil if they are not deleted because of that.
  package var expiry: Expiry? {
    guard let keep else { return nil }
    if case .column(let name) = mark { return .marked(column: name, after: keep, form: form) }
    return .marked(column: nil, after: keep, form: nil)
  }
}

/// Reads `softDelete` of a collection.
struct SoftDeletionReader {
  static func read(_ entry: ModelValue) -> SoftDeletion? {
    guard let fields = Fields(entry, ["column", "keep", "as", "when", "set"]) else { return nil }
    let keep = fields["keep"]?.duration()
    if let when = fields["when"] {
      for key in ["column", "as"] {
        fields[key]?.addProblem("\"\(key)\" has no meaning beside \"when\"")
      }
      let set = fields.required("set").map(assignments)
      guard let text = when.condition(), let set else { return nil }
      return SoftDeletion(.condition(text, set: set), keep: keep)
    }
    fields["set"]?.addProblem("\"set\" has a meaning only beside \"when\"")
    guard let column = fields.required("column")?.name("a column") else { return nil }
    return SoftDeletion(.column(column), keep: keep, as: fields["as"]?.word())
  }

  private static func assignments(_ entry: ModelValue) -> [SoftDeletion.Assignment] {
    let members = entry.members() ?? []
    if members.isEmpty { entry.addProblem("names no column") }
    return members.compactMap { name, value in
      switch value.json {
      case .array, .object:
        value.addProblem("must be null, true, false, a number or a text")
        return nil
      case let scalar: return SoftDeletion.Assignment(column: name, value: scalar)
      }
    }
  }
}
