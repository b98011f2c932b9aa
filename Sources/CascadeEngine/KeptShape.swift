/// What a row was kept as: its table, and its columns in the order of the values.
///
/// What is kept is known by identities, and not by names: a table that was renamed is the same, and a
/// column that was dropped is another one than the next of its name.
package struct KeptShape: Hashable, Sendable {
  package struct Column: Hashable, Sendable {
    package let name: String
    /// A number of the engine's, or of ours; nil if it is not known any more which column it is.
    package let identity: Int64?
    package let type: String
    /// What it was called last in its table; nil if it had gone from that.
    package let lastName: String?

    package init(name: String, identity: Int64?, type: String) {
      self.init(name: name, identity: identity, type: type, lastName: name)
    }

    package init(name: String, identity: Int64?, type: String, lastName: String?) {
      (self.name, self.identity, self.type) = (name, identity, type)
      self.lastName = lastName
    }
  }

  package let table: String
  /// Nil if the engine has none for the table.
  package let identity: Int64?
  package let columns: [Column]

  package init(table: String, identity: Int64?, columns: [Column]) {
    (self.table, self.identity, self.columns) = (table, identity, columns)
  }
}

/// A table as it is now.
package struct TableShape: Sendable {
  package struct Column: Hashable, Sendable {
    package let name: String
    package let identity: Int64?
    package let type: String
    package let isGenerated: Bool
    package let isKey: Bool
    /// Whether a row can be without a value for it: it may be null, or has a default.
    package let isOptional: Bool

    package init(
      name: String, identity: Int64?, type: String, isGenerated: Bool = false,
      isKey: Bool = false, isOptional: Bool = true
    ) {
      (self.name, self.identity, self.type) = (name, identity, type)
      (self.isGenerated, self.isKey, self.isOptional) = (isGenerated, isKey, isOptional)
    }
  }

  package let table: String
  package let identity: Int64?
  package let columns: [Column]
  /// What the model says that the columns were called.
  package let was: [String: String]
  /// What the model says that the table was called.
  package let tableWas: String?

  package init(
    table: String, identity: Int64?, columns: [Column], was: [String: String] = [:],
    tableWas: String? = nil
  ) {
    (self.table, self.identity, self.columns) = (table, identity, columns)
    (self.was, self.tableWas) = (was, tableWas)
  }
}
