/// What is known of a table before its rows are compared.
struct NamedTable {
  let name: String
  let columns: [String]
  /// The values of its column `type`, if they look like names of classes: the rows are of several.
  var classes: [String] = []
}

/// The names by which columns may call the tables of a database.
struct TableNames {
  private(set) var full: [String: Words] = [:]
  /// The same without a prefix that tables share: `moz_places` is `place`.
  private var short: [String: Words] = [:]
  /// The word with which all columns of a table begin: `rev` of MediaWiki's `revision`.
  private var prefixes: [String: String] = [:]
  /// Those of them that no other table has: they stand for the table.
  private(set) var nicknames: [String: Words] = [:]
  /// Those of them that are names of tables.
  private var toldPrefixes: Set<String> = []
  /// The classes whose objects are rows of a table.
  private(set) var classes: [String: [Words]] = [:]
  /// The names of a table's columns, without its prefix.
  private var columns: [String: Set<Words>] = [:]
  /// Tables of people.
  private(set) var people: Set<String> = []

  init(_ tables: [NamedTable]) {
    for table in tables {
      full[table.name] = Words(of: table.name).singular
      prefixes[table.name] = table.columns.sharedPrefix
      classes[table.name] = table.classes.map { Words(of: $0).singular }
    }
    short = TableNames.shortened(full)
    let uses = Dictionary(prefixes.values.map { ($0, 1) }, uniquingKeysWith: +)
    nicknames = prefixes.filter { uses[$0.value] == 1 }.mapValues { Words([$0]) }
    let known = Set(full.values.map(\.joined))
    toldPrefixes = Set(uses.keys.filter { known.contains(Words.singular($0)) })
    for table in tables {
      columns[table.name] = Set(table.columns.map { column($0, of: table.name).words })
    }
    people = findPeople(tables)
  }

  private static let marks: Set<String> = ["tbl", "tb", "t", "moz", "table"]

  private static func shortened(_ full: [String: Words]) -> [String: Words] {
    let long = full.filter { $0.value.list.count > 1 }
    let heads = Dictionary(grouping: long.values, by: { $0.list[0] })
    let alone = Set(full.values.filter { $0.list.count == 1 }.map(\.joined))
    return long.compactMapValues { words in
      let head = words.list[0]
      let isShared = (heads[head]?.count ?? 0) > 1 && !alone.contains(head)
      return isShared || marks.contains(head) ? words.dropFirst() : nil
    }
  }

  /// A table that refers to another table of people, as memberships and profiles do, is none.
  private func findPeople(_ tables: [NamedTable]) -> Set<String> {
    let named = tables.filter { table in
      names(of: table.name).contains { ColumnName.people.contains($0.joined) }
    }
    let own = named.filter { table in
      !table.columns.contains { column in
        self.column(column, of: table.name).readings.contains { reading in
          reading.key != nil
            && named.contains { other in
              other.name != table.name && names(of: other.name).contains(reading.base)
            }
        }
      }
    }
    return Set((own.isEmpty ? named : own).map(\.name))
  }

  func names(of table: String) -> [Words] { [full[table], short[table]].compactMap { $0 } }

  /// A column's name as its table lets it be read.
  func column(_ name: String, of table: String) -> ColumnName {
    guard let prefix = prefixes[table] else { return ColumnName(name) }
    return ColumnName(name, prefix: prefix, isPrefixTold: toldPrefixes.contains(prefix))
  }

  /// Whether two tables have the same prefix.
  func areOfOneModule(_ one: String, _ other: String) -> Bool {
    short[one] != nil && full[one]?.list.first == full[other]?.list.first
  }

  /// The table that a text names: a class, a type, a plural.
  func table(called text: String) -> String? {
    let name = text.split(whereSeparator: { ".\\/:".contains($0) }).last.map(String.init) ?? text
    let words = Words(of: name).singular.joined
    return full.keys.sorted().first { names(of: $0).contains { $0.joined == words } }
  }

  /// Whether a table is named after another one: `entry_tags` after `entries`, `pagelinks` after
  /// `page`.
  func isNamed(_ table: String, after parent: String) -> Bool {
    names(of: table).contains { own in
      names(of: parent).contains { name in
        own.begins(with: name)
          || name.joined.count > 3 && own.joined.count > name.joined.count
            && own.joined.hasPrefix(name.joined)
      }
    }
  }

  /// Whether the name of another table stands in a table's name.
  func contains(_ table: String, _ other: String) -> Bool {
    guard let own = full[table], let name = full[other] else { return false }
    return own != name && own.contains(name)
  }

  /// The share of a table's columns that another one has, too; 0 for fewer than `least` columns.
  func sharedColumns(of table: String, in other: String, least: Int = 2) -> Double {
    guard let own = columns[table], let others = columns[other], own.count >= least
    else { return 0 }
    return Double(own.intersection(others).count) / Double(own.count)
  }

  /// Whether a table has the name of another one and more, at its beginning or end.
  func isDetail(_ table: String, of parent: String) -> Bool {
    names(of: table).contains { own in
      names(of: parent).contains { own.begins(with: $0) || own.ends(with: $0) }
    }
  }
}

extension TableNames {
  /// Words for tables of rows that were taken out of another one.
  private static let archiveWords: Set<String> = [
    "archive", "archived", "deleted", "removed", "trash", "trashed", "old", "past", "backup",
    "recycle", "graveyard", "tombstone", "former", "expired", "purged", "moved", "legacy",
  ]

  /// Words for tables of what happened.
  private static let logWords: Set<String> = ["history", "log", "logging", "audit"]

  func isArchive(_ table: String) -> Bool {
    full[table]?.list.contains(where: TableNames.archiveWords.contains) == true
  }

  /// Whether a table has the name of another one, and a word for an archive.
  func isNamedAsArchive(_ table: String, of other: String) -> Bool {
    let words = full[table]?.list.filter { !TableNames.archiveWords.contains($0) }
    return words == full[other]?.list && table != other
  }

  /// A table of what is no more, or of what happened, may keep references to what is no more.
  func isOfThePast(_ table: String) -> Bool {
    isArchive(table) || full[table]?.list.contains(where: TableNames.logWords.contains) == true
  }
}
