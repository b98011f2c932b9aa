internal import CascadeModel
internal import CascadeSQLite
internal import SQLiteBinding

extension Int {
  /// With commas: `204,927`.
  package var grouped: String {
    var text = ""
    for (index, digit) in String(self).reversed().enumerated() {
      if index > 0, index % 3 == 0, digit != "-" { text.append(",") }
      text.append(digit)
    }
    return String(text.reversed())
  }

  func groupedCount(_ one: String, _ many: String) -> String {
    "\(grouped) \(self == 1 ? one : many)"
  }
}

extension Inspection {
  /// The last line of the text.
  package var sum: String {
    "\(orphans.groupedCount("orphaned row", "orphaned rows")) in "
      + broken.count.groupedCount("relationship", "relationships")
  }

  var declaresKeys: Bool { relationships.contains { $0.found == .foreignKey } }

  static let enforcement =
    "SQLite enforces declared keys only for programs that set PRAGMA foreign_keys=ON."

  var shortName: String { file.split(separator: "/").last.map(String.init) ?? file }
}

extension InspectedRelationship {
  var origin: String { "\(from).\(list(columns))" }
  var destination: String { toColumns.isEmpty ? to : "\(to).\(list(toColumns))" }

  private func list(_ columns: [String]) -> String {
    columns.count == 1 ? columns[0] : "(\(columns.joined(separator: ", ")))"
  }

  /// How it was found, and what else is to be known.
  var remarks: [String] {
    var remarks = [how]
    if let onDelete, onDelete != .noAction { remarks.append("ON DELETE \(onDelete.rawValue)") }
    if !none.isEmpty {
      let shown = none.prefix(3).map { $0.text(most: 40) }.joined(separator: ", ")
      remarks.append("\(shown) may mean \"none\"")
    }
    if let movedTo { remarks.append("rows were moved to \(movedTo)") }
    if !isIndexed, [.foreignKey, .name, .typed].contains(found), rows > 0 {
      remarks.append("no index")
    }
    return remarks
  }

  private var how: String {
    switch found {
    case .foreignKey: "declared"
    case .name: isLikely ? "implied" : "perhaps"
    case .join: "by \(join?.table ?? "")"
    case .typed: "where \(columns.last ?? "") is \(JSON.string(type ?? "").text)"
    case .list: isLikely ? "a JSON list" : "a JSON list, perhaps"
    case .path: "files"
    }
  }
}

extension Value {
  /// For people; long values are cut.
  func text(most: Int) -> String {
    let text: String
    switch self {
    case .null: text = "NULL"
    case .integer(let number): text = "\(number)"
    case .real(let number): text = "\(number)"
    case .text(let value): text = value.isEmpty ? "''" : value.printable
    case .blob: text = sql
    }
    return text.count > most ? text.prefix(most - 1) + "…" : text
  }
}
