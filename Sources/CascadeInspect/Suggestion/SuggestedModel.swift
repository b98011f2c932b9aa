internal import CascadeModel
internal import CascadeSQLite
internal import SQLiteBinding

/// A model in JSON5 for a database that was inspected. It deletes nothing that the schema does not
/// ask for: what is only implied has no rules, and stands beside it as a comment.
package struct SuggestedModel {
  private let inspection: Inspection
  private let collections: SuggestedCollections

  package init(_ inspection: Inspection) {
    self.inspection = inspection
    collections = SuggestedCollections(inspection)
  }

  package var text: String {
    let relationships = SuggestedRelationships(inspection, collections)
    let lines =
      head + ["{", "  store: \(quotedText(inspection.file)),"] + SuggestedModel.exclusive
      + ["  collections: {"] + collections.lines + ["  },", "  relationships: ["]
      + relationships.lines + ["  ],", "}", ""]
    return lines.joined(separator: "\n")
  }

  private static var exclusive: [String] {
    comment(
      "For an application that locks its database while it runs, as Anki does, or that chooses the "
        + "journal mode: the daemon then works only while no other program has it open.", indent: 2)
      + ["  // exclusive: true,"]
  }

  private var head: [String] {
    comment(
      "A model for \(inspection.shortName.printable), suggested by cascadectl suggest "
        + "\(Release.version). It found \(inspection.sum).", indent: 0)
      + comment(
        "Rules stand where the schema declares ON DELETE. Everything else has no rules: a "
          + "deletion would leave it alone. The rule that would delete is a comment beside it.",
        indent: 0)
      + comment(
        "What is orphaned already stays until you approve its deletion: cascadectl status shows "
          + "the plan, if a rule applies to it.", indent: 0)
  }
}

/// Text as comments, in lines of at most 100 columns.
func comment(_ text: String, indent: Int) -> [String] {
  let mark = String(repeating: " ", count: indent) + "//"
  var lines = [mark]
  for word in text.split(whereSeparator: \.isWhitespace) {
    if lines[lines.count - 1].count + 1 + word.count > 100, lines[lines.count - 1] != mark {
      lines.append(mark)
    }
    lines[lines.count - 1] += " " + word
  }
  return lines
}

func quotedText(_ text: String) -> String { JSON.string(text).text }

/// The collections of a suggested model: the tables that take part in a relationship.
struct SuggestedCollections {
  private let inspection: Inspection
  private var keys: [String: [String]] = [:]
  private var withoutKey: [String] = []

  init(_ inspection: Inspection) {
    self.inspection = inspection
    let likely = inspection.relationships.filter(\.isLikely)
    let ends = Set(likely.flatMap { [$0.source, $0.to] })
    for table in inspection.schema where ends.contains(table.name) {
      if let key = SuggestedCollections.key(of: table, likely), !table.name.contains("/") {
        keys[table.name] = key
      } else {
        withoutKey.append(table.name)
      }
    }
  }

  /// The key that most relationships refer to, or else the primary key.
  private static func key(
    of table: Table, _ references: [InspectedRelationship]
  ) -> [String]? {
    let said = references.filter { $0.to == table.name && $0.found != .join }.map(\.toColumns)
    let counts = Dictionary(grouping: said, by: { $0 }).mapValues(\.count)
    let wanted = counts.sorted { ($0.value, $1.key.count) > ($1.value, $0.key.count) }.map(\.key)
    let others = [table.primaryKey] + table.uniqueKeys.map(\.columns)
    return (wanted + others).first { table.canBeKey($0) }
  }

  func key(of table: String) -> [String]? { keys[table] }

  var lines: [String] {
    var lines: [String] = []
    for table in inspection.schema {
      guard let key = keys[table.name] else { continue }
      lines.append(
        "    \(name(table.name)): { table: \(quotedText(table.name)), key: \(columnList(key)) },")
      if let column = table.timeOfExpiry { lines += expiry(of: table.name, column) }
      if let column = table.mark { lines += mark(column) }
    }
    for table in withoutKey {
      lines += comment(
        "\(table.printable) is no collection: it has no key by which SQLite alone tells its rows "
          + "apart.", indent: 4)
    }
    return lines
  }

  private func expiry(of table: String, _ column: String) -> [String] {
    comment(
      "Its rows seem to go by \(column.printable), and then what hangs on them; \"as\" says what the values "
        + "are, if not the type of the column:", indent: 6)
      + ["      // expires: { column: \(quotedText(column)), after: \"0s\" }"]
  }

  private func mark(_ column: String) -> [String] {
    comment(
      "Its rows seem to be gone for others when \(column.printable) is set; then so is what hangs on them:",
      indent: 6)
      + ["      // softDelete: { column: \(quotedText(column)), keep: \"30d\" }"]
  }

  /// As JSON5 wants names of members.
  private func name(_ text: String) -> String {
    let isPlain = text.utf8.enumerated().allSatisfy { index, byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "_"):
        true
      case UInt8(ascii: "0")...UInt8(ascii: "9"): index > 0
      default: false
      }
    }
    return isPlain && !text.isEmpty ? text : quotedText(text)
  }
}

/// One column, or a list of several.
func columnList(_ columns: [String]) -> String {
  if columns.count == 1 { return quotedText(columns[0]) }
  return "[\(columns.map(quotedText).joined(separator: ", "))]"
}

extension Table {
  /// A column that by its name says until when a row counts.
  fileprivate var timeOfExpiry: String? {
    columns.map(\.name).first { name in
      let folded = name.folded
      return ["expires", "expiry", "expiration"].contains {
        folded.hasPrefix($0) || folded.hasSuffix($0)
      }
        || folded.hasPrefix("expire_") || folded.hasSuffix("_until")
    }
  }

  /// A column that by its name says since when a row is only marked as deleted.
  fileprivate var mark: String? {
    columns.map(\.name).first { name in
      ["deleted_at", "deletedat", "deleted_on", "date_deleted", "removed_at", "trashed_at"]
        .contains(
          name.folded)
    }
  }

  /// Whether a collection may have this key: unique, and compared by what SQLite itself knows.
  fileprivate func canBeKey(_ columns: [String]) -> Bool {
    guard !columns.isEmpty, uniqueKey(of: columns) != nil else { return false }
    return canCompare(columns)
  }
}
