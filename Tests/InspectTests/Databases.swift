import RegexBuilder
import CascadeInspect
import CascadeSQLite
import CascadeSystem
import TestSupport

/// A database that a test makes, in a directory of its own.
final class TestDatabase {
  private let scratch: Scratch
  let path: String

  init(_ sql: String, name: String = "app.db", journalMode: String = "delete") throws {
    scratch = try Scratch()
    path = scratch.path(name)
    let db = try Connection(path: path, access: .create)
    try db.execute("PRAGMA journal_mode = \(journalMode); \(sql)")
  }

  /// Gives a column a collation that is not known here, as an application's database has it.
  func hideCollation(_ collation: String, of table: String, column: String) throws {
    let db = try Connection(path: path, access: .readWrite)
    try db.execute(
      """
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = replace(sql, '\(column)', '\(column) COLLATE \(collation)')
      WHERE name = '\(table)';
      """)
  }

  /// What is in the directory, with the number, the size and the time of each file.
  func files() throws -> [String: [Int64]] {
    var found: [String: [Int64]] = [:]
    for name in try scratch.directory.names() {
      guard let status = try scratch.directory.status(of: name) else { continue }
      found[name.description] = [
        Int64(status.inode), status.size, status.modifiedMilliseconds,
      ]
    }
    return found
  }

  func path(_ name: String) -> String { scratch.path(name) }

  func write(_ name: FileName, _ text: String) throws { try scratch.write(name, text) }

  func makeDirectory(_ name: String) throws -> String {
    _ = try Directory.openOrMake(scratch.path(name))
    return scratch.path(name)
  }

  func copy(_ name: String, to other: String) throws {
    let bytes = try FileDescriptor.open(scratch.path(name)).readWhole(limit: 1 << 28) ?? []
    try FileDescriptor.open(scratch.path(other), .createNew).writeAll(bytes)
  }

  func inspect(root: String? = nil, examples: Bool = false) throws -> Inspection {
    var options = Inspect.Options()
    options.root = root
    options.wantsExamples = examples
    return try Inspect.file(path, options)
  }
}

/// The rows 1 to `count` of a query that uses `i`.
func rows(_ count: Int, into table: String, _ values: String) -> String {
  """
  INSERT INTO \(table)
  WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n LIMIT \(count))
  SELECT \(values) FROM n;
  """
}

/// Slots that belong to payments and accounts, by random identifiers alone; two belong to nothing.
let slots = """
  CREATE TABLE account(guid TEXT PRIMARY KEY, name TEXT);
  CREATE TABLE payment(guid TEXT PRIMARY KEY, note TEXT);
  CREATE TABLE slot(id INTEGER PRIMARY KEY, obj TEXT NOT NULL);
  \(rows(10, into: "account", "hex(randomblob(16)), 'x'"))
  \(rows(20, into: "payment", "hex(randomblob(16)), 'x'"))
  INSERT INTO slot(obj) SELECT guid FROM account UNION ALL SELECT guid FROM payment;
  \(rows(2, into: "slot(obj)", "hex(randomblob(16))"))
  INSERT INTO slot(obj) VALUES('');
  """

extension Inspection {
  /// The relationships of a column.
  func found(_ from: String, _ columns: String...) -> [InspectedRelationship] {
    relationships.filter { $0.from == from && $0.columns == columns && $0.found != .join }
  }

  func likely(_ from: String, _ columns: String...) -> InspectedRelationship? {
    relationships.first {
      $0.from == from && $0.columns == columns && $0.isLikely && $0.found != .join
    }
  }
}

/// The schemas of applications, as SQL files beside these tests.
enum Application: String, CaseIterable {
  case anki, beets, calibre, chinook, django, gnucash, newsboat, places, reader

  var sql: String {
    get throws {
      let folder = #filePath.split(separator: "/").dropLast().joined(separator: "/")
      let path = "/\(folder)/Schemas/\(rawValue).sql"
      let bytes = try FileDescriptor.open(path).readWhole(limit: 1 << 20) ?? []
      return String(decoding: bytes, as: UTF8.self).replacing(/--[^\n]*/, with: "")
    }
  }

  /// The same without its foreign keys.
  var sqlWithoutKeys: String {
    get throws {
      let action = /(?:\s+ON\s+(?:DELETE|UPDATE)\s+(?:CASCADE|SET NULL|NO ACTION|RESTRICT))*/
      let references = Regex {
        /(?:,\s*FOREIGN KEY\s*\([^)]*\)\s*)?REFERENCES\s+"?\w+"?\s*\([^)]*\)/
        action
      }
      return try sql.replacing(references, with: "")
    }
  }
}
