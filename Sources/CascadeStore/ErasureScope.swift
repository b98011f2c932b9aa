/// What is asked before something is erased: in which columns there may be more of it.
package struct ErasureScope: Sendable {
  /// The tables of collections.
  package var tables: [String: String] = [:]
  /// Columns that the model, or the ON DELETE of a foreign key, covers, as `table.column`.
  package var covered: Set<String> = []
  /// Of full-text indexes: what the database itself keeps beside its tables, and nothing here reaches.
  package var shadows: [String] = []

  package init() {}

  package mutating func cover(_ table: String, _ columns: [String]) {
    covered.formUnion(columns.map { "\(table).\($0)".lowercased() })
  }

  /// Those that seem to refer to a table of which something goes, and that nothing covers.
  package func uncovered(
    of evidence: [ColumnEvidence], deletingFrom collections: some Sequence<String>,
    accepted: Set<String>
  ) -> [ColumnEvidence] {
    let going = Set(collections.compactMap { tables[$0]?.lowercased() })
    let known = covered.union(accepted.map { $0.lowercased() })
    return evidence.filter { column in
      going.contains(column.to.lowercased())
        && !column.columns.allSatisfy { name in
          column.names.contains { known.contains("\($0).\(name)".lowercased()) }
        }
    }
  }
}

/// A column, or several, that seem to refer to a table, and why.
package struct ColumnEvidence: Sendable {
  package let table: String
  package let columns: [String]
  package let to: String
  package let evidence: String

  /// What the table may be called: also without its schema.
  fileprivate var names: [String] {
    [table] + (table.split(separator: ".").last.map { [String($0)] } ?? [])
  }

  package init(table: String, columns: [String], to: String, evidence: String) {
    (self.table, self.columns, self.to, self.evidence) = (table, columns, to, evidence)
  }
}
