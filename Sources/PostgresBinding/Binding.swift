package import CascadeModel

/// The tables and columns of a model, as the database has them. Names are quoted for SQL.
package struct Binding {
  package var tables: [String: MappedTable] = [:]
  package var relations: [EdgeRelation] = []
  package var files: [FileRelation] = []
  package var problems: [ModelProblem] = []
  /// Of the tables that are partitioned, or are partitions, by their names.
  package var partitions: [String: Partitions] = [:]
  /// How many nodes there have to be at the other ends of edges.
  package var judgements: [Judgement] = []
  /// The tables of which nodes may go because no root reaches them.
  package var collected: [MappedTable] = []
  /// The tables that have roots.
  package var roots: [MappedTable] = []

  package init() {}

  package func table(_ number: Int64) -> MappedTable? {
    tables.values.first { $0.number == number }
  }
  package func relation(_ number: Int64) -> EdgeRelation? {
    relations.first { $0.number == number }
  }

  package func relations(from table: MappedTable) -> [EdgeRelation] {
    relations.filter { $0.source.number == table.number }
  }

  package func relations(to table: MappedTable) -> [EdgeRelation] {
    relations.filter { $0.destination.number == table.number }
  }

  /// Stored edges from a table to files.
  package func storedFiles(of table: MappedTable) -> [FileRelation] {
    files.filter { $0.source.number == table.number && $0.stored != nil }
  }

  package func relations(with rules: Rules) -> [EdgeRelation] {
    relations.filter { !$0.rules.isDisjoint(with: rules) }
  }

  /// Whether anything may follow when a row of the table is gone, or a denial may end, apart from
  /// the loss of the edges that are in the row.
  package func isMissed(_ table: MappedTable) -> Bool {
    relations(from: table).contains { $0.join != nil }
      || !storedFiles(of: table).isEmpty
      || relations(to: table).contains {
        $0.join != nil || !$0.allRules.isDisjoint(with: [.losingDestination, .denySourceDeletion])
      }
  }

  package var denies: Bool {
    !relations(with: [.denyDestinationDeletion, .denySourceDeletion]).isEmpty
  }
}

/// A collection, and its table.
package struct MappedTable {
  package let collection: String
  /// Its number in Cascade's own tables.
  package let number: Int64
  /// With its schema.
  package let name: String
  package let key: Columns
  /// Whether it is Cascade's own, and has objects.
  package var isManaged = false

  /// Of objects.
  package init(objectsOf collection: String, _ number: Int64) {
    self.init(
      collection: collection, number: number, name: "cascade.objects_\(number)",
      key: Columns([Columns.Column(name: "key", family: .text)]), isManaged: true)
  }

  package init(
    collection: String, number: Int64, name: String, key: Columns, isManaged: Bool = false
  ) {
    (self.collection, self.number, self.name) = (collection, number, name)
    (self.key, self.isManaged) = (key, isManaged)
  }

  package func node(_ key: String) -> Node { Node(collection, self.key.key(key)) }

  /// The type and the value of a row, as JSON.
  package func content(_ row: String) -> String {
    isManaged ? "\(row).type, \(row).value" : "NULL, row_to_json(\(row).*)"
  }

  /// Whether the row of the key that a text names is there.
  package func has(_ key: String) -> String {
    "EXISTS (SELECT FROM \(name) t WHERE \(self.key.equal("t", text: key)))"
  }
}
