package import CascadeModel

extension ModelProblem {
  package static func path(of collection: String) -> String { "collections.\(collection)" }
}

/// What `attach` found and created.
package struct AttachReport: Sendable {
  package var collections: [String] = []
  /// Names of triggers that were missing, or had another text.
  package var triggersMade: [String] = []
  package var indexesMade: [String] = []
  /// Nil if none were asked for.
  package var constraints: OwnerReport?
  package var functions: OwnerReport?
  package var missingIndexes: [MissingIndex] = []
  package var problems: [ModelProblem] = []
  /// For some time the tables were not watched.
  package var hasWatchGap = false
  /// A collection is watched for the first time.
  package var hasFirstWatch = false

  package init() {}
}

/// What only an owner of tables may create: foreign keys that deny what the rules deny, functions that write rows.
package struct OwnerReport: Sendable {
  /// By name.
  package var made: [String] = []
  /// Statements that the daemon's role may not run.
  package var forOwner: [String] = []

  package init() {}
}

/// What `detach` removed, by name. `indexes` are those on the application's tables.
package struct DetachReport: Sendable {
  package let triggers: [String]
  package let tables: [String]
  package let indexes: [String]
  /// The number of files that are no longer tracked: files that were released and are still in
  /// place, and files that were to be restored and are still in the trash.
  package let files: Int64

  package init(triggers: [String], tables: [String], indexes: [String], files: Int64) {
    self.triggers = triggers
    self.tables = tables
    self.indexes = indexes
    self.files = files
  }
}

/// About how long it takes to create an index. SQLite cannot create one in parts.
package struct IndexEstimate: Sendable {
  package let index: MissingIndex
  package let time: Duration

  package init(index: MissingIndex, time: Duration) {
    self.index = index
    self.time = time
  }
}

/// Columns by which rows are looked up, and that no index begins with.
package struct MissingIndex: Hashable, Sendable, CustomStringConvertible {
  package let table: String
  package let columns: [String]

  /// The columns as one text.
  package var column: String { columns.joined(separator: ", ") }

  package var description: String { "\(table)(\(column))" }

  package init(table: String, columns: [String]) {
    self.table = table
    self.columns = columns
  }
}
