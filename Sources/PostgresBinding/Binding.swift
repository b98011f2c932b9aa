package import CascadeModel

/// The tables and columns of a model, as the database has them. Names are quoted for SQL.
package struct Binding {
  package var tables: [String: MappedTable] = [:]
  package var relations: [EdgeRelation] = []
  package var files: [FileRelation] = []
  package var problems: [ModelProblem] = []
  /// The collections of which rows can be marked, by number, and what of that does not fit.
  package var marked: [Int64: MarkedTable] = [:]
  package var markProblems: [ModelProblem] = []
  package var stopped = StoppedParts()
  /// What the model calls the tables that it names, by their names.
  package var tableNames: [String: String] = [:]
  /// Of the tables that are partitioned, or are partitions, by their names.
  package var partitions: [String: Partitions] = [:]
  /// How rows are written, by the names of tables; directly if a table is none of these.
  package var access: [String: RowAccess] = [:]
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
      || EdgeEnd.allCases.contains { isPartlySeen(table.collection, at: $0) }
  }

  /// Whether a deletion ends what was lost before: something may follow for a node of the table from an
  /// edge that it lost.
  package func mayHaveLost(_ table: MappedTable) -> Bool {
    relations(to: table).contains { !$0.allRules.isDisjoint(with: .losingSource) }
  }

  /// Whether it matters when a row of the table went, or came: what it may have lost is in other rows.
  package func hasOrder(_ table: MappedTable) -> Bool {
    mayHaveLost(table)
      || relations.contains { relation in
        relation.looseJoin != nil
          && EdgeEnd.allCases.contains { relation.table(at: $0).number == table.number }
      }
  }

  /// Whether a rule may deny that a node of the table goes.
  package func isDeniable(_ table: MappedTable) -> Bool {
    relations(to: table).contains { $0.rules.contains(.denyDestinationDeletion) }
      || relations(from: table).contains { $0.rules.contains(.denySourceDeletion) }
  }

  /// Leaves out what is in tables of Cascade's own that are not made yet. Their numbers are below 0. The
  /// same for JSON in `texts`, if the function that reads it is not made yet.
  package mutating func leaveOutUnmade(texts: Bool) {
    func isMade(_ table: MappedTable) -> Bool { !table.isManaged || table.number > 0 }
    func isMade(_ relation: EdgeRelation) -> Bool {
      let tables = [relation.source, relation.destination] + relation.alternatives.map(\.table)
      if texts && relation.list?.isText == true { return false }
      return tables.allSatisfy(isMade) && (relation.join?.isStored != true || relation.number > 0)
    }
    relations.removeAll { !isMade($0) }
    judgements.removeAll {
      !isMade($0.subject) || !($0.outgoing + $0.incoming).allSatisfy(isMade)
    }
  }

  package var denies: Bool {
    !relations(with: [.denyDestinationDeletion, .denySourceDeletion]).isEmpty
      || stopped.relationships.contains { $0.denies(at: .source) || $0.denies(at: .destination) }
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
  /// Triggers of the application that are fired by what the daemon does to its rows.
  package var triggers: [AppTrigger] = []

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

  /// The triggers that may keep a row as it is, without a word.
  package func keepers(_ event: AppTrigger.Event) -> [AppTrigger] {
    triggers.filter { $0.event == event && $0.mayKeepRows }
  }

  package func hasTriggers(_ event: AppTrigger.Event) -> Bool {
    triggers.contains { $0.event == event }
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
