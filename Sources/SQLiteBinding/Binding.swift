internal import CascadeStore
package import CascadeModel
package import CascadeSQLite

/// The model, bound to the tables that exist now. It is built again when the schema changes.
package struct Binding: Sendable {
  package private(set) var model = StoreModel.empty
  /// The mapped collections, by name.
  package private(set) var collections: [String: NodeTable] = [:]
  /// Edges in the application's tables, in the order of the model.
  package private(set) var edgeRelations: [EdgeRelation] = []
  /// Relations that follow from the application's tables alone: foreign keys, as SQLite will
  /// enforce them when Cascade deletes, and join rows that are nodes themselves.
  package private(set) var impliedRelations: [EdgeRelation] = []
  /// Foreign keys that lead out of the model.
  package private(set) var foreignKeyPlan = ForeignKeyPlan()
  /// The edge name for nodes that are deleted with other nodes through tables that are no
  /// collections; nil if there are none.
  package private(set) var foreignKeyPathName: Int64?
  /// Rows outside of the model that hold nodes by a foreign key.
  package private(set) var holdsOutsideModel: [ForeignHold] = []
  /// Whether rows outside of the model may hold more nodes than `holdsOutsideModel` has.
  package private(set) var mayBeHeldOutsideModel = false
  /// The collections in the order in which rows are deleted.
  package private(set) var childrenFirst: [NodeTable] = []
  /// Collections that foreign keys refer to.
  package private(set) var parents: Set<Int64> = []
  /// The collections of which rows can be marked, by number, and what of that does not fit.
  package private(set) var marked: [Int64: MarkedTable] = [:]
  package private(set) var markProblems: [ModelProblem] = []
  /// What the model says and the tables do not allow.
  package private(set) var problems: [ModelProblem] = []
  /// The problems because of which nothing is deleted at all.
  package var stoppingProblems: [ModelProblem] {
    problems.filter { !containedProblems.contains($0.path) }
  }
  /// The paths of those problems that concern only one collection and what it is related to.
  private var containedProblems: Set<String> = []
  /// What is related to a collection that cannot be read, and why that is so.
  private var relatedToContained: [(nodes: NodeTable, problem: ModelProblem)] = []
  /// Collections of which no node is deleted, and why.
  package private(set) var kept: [(nodes: NodeTable, reason: String)] = []
  /// What SQLite cannot do with tables, by their folded names.
  package private(set) var missingDefinitions: [String: MissingDefinitions] = [:]
  /// Lists that may hold nodes that a sweep wants to delete.
  package private(set) var holdingLists: [EdgeRelation] = []
  /// Collections without a relationship in the model and without an edge in the store.
  package private(set) var unlinked: Set<Int64> = []
  /// The texts of the application's triggers, in lower case.
  private(set) var triggers: [String] = []
  /// Whether rows may be deleted before the rows that refer to them, with the rules in place of
  /// foreign keys.
  package private(set) var canDeleteInSteps = true
  /// Whether any table of the file has foreign keys: then SQLite requires an order of deletion.
  package private(set) var hasForeignKeys = false
  package private(set) var schemaVersion: Int64 = -1

  /// A store without mapped collections needs none of this.
  package var isEmpty: Bool { collections.isEmpty && problems.isEmpty }

  /// All relations that the rules must examine, including those of the application's foreign keys.
  package var examinedRelations: [EdgeRelation] { edgeRelations + impliedRelations }

  package init(schemaVersion: Int64 = -1, problems: [ModelProblem] = []) {
    (self.schemaVersion, self.problems) = (schemaVersion, problems)
  }

  /// `numbers` assigns ids to collections and to names of edges. Collections with `problems` are
  /// left out.
  package init(
    _ model: StoreModel, _ db: borrowing Connection, numbers: some Numbering,
    problems known: [ModelProblem] = []
  ) throws {
    self.model = model
    problems = known
    schemaVersion = try db.integer("PRAGMA main.schema_version") ?? 0
    let catalog = try Catalog(db)
    triggers = try db.all(
      generated: """
        SELECT sql FROM main.sqlite_schema WHERE type = 'trigger' AND NOT (\(Trigger.isOurs))
        """
    ) { $0.text(0).folded }
    for (name, collection) in model.collections.sorted(by: { $0.key < $1.key }) {
      guard case .mapped(let table, let key, _) = collection else { continue }
      let path = ModelProblem.path(of: name)
      if known.contains(where: { $0.path == path }) { continue }
      try bind(name, path, key, to: catalog.table(table, in: db), numbers)
    }
    (marked, markProblems) = try Binding.marked(of: model, collections, db)
    unlinked = try findUnlinked(db)
    for (index, relationship) in model.relationships.enumerated() {
      let binder = EdgeRelationBinder(
        model: model, relationship: relationship, path: "relationships[\(index)]",
        collections: collections)
      do {
        edgeRelations += try binder.relations(catalog, db, numbers)
      } catch let unusable as Catalog.Unusable {
        add(unusable, binder.path, of: model.ends(of: relationship))
      }
    }
    try findKeptCollections(db)
    holdingLists = findHoldingLists()
    impliedRelations = try bindForeignKeys(numbers) + joinRows()
    childrenFirst = orderedByForeignKeys()
    parents = findParents()
    let keys = try db.foreignKeys()
    hasForeignKeys = !keys.isEmpty
    let changed = Set(keys.filter { !$0.onDelete.blocksDeletion }.map(\.child))
    foreignKeyPlan = ForeignKeyPlan(self, try db.tables(changed.sorted()))
    if !foreignKeyPlan.linksBackToNodes.isEmpty {
      foreignKeyPathName = try numbers.nameId("FOREIGN KEY")
    }
    holdsOutsideModel = try findOutsideHolds(keys, db)
    mayBeHeldOutsideModel = canBeHeldOutsideModel(keys)
    canDeleteInSteps = canReplaceForeignKeys(for: keys)
  }

  /// Whether the application has triggers: what they write in response to Cascade must be
  /// journaled.
  package var hasTriggers: Bool { !triggers.isEmpty }

  /// Whether rules or notices may follow from the deletion of a row of this table.
  package func hasConsequences(_ table: NodeTable, _ numbers: NumberedTables) -> Bool {
    return numbers.tablesInNodes.contains(table.id)
      || examinedRelations.contains { relation in
        EdgeEnd.allCases.contains { end in
          relation[end] == table
            && (relation.isInJoinTable
              || !relation.rules.isDisjoint(with: .following(losing: end)))
        }
      }
  }

  private func findUnlinked(_ db: borrowing Connection) throws -> Set<Int64> {
    let alone = collections.values.filter { !model.hasRelationship(with: $0.collection) }.map(\.id)
    let isAttached = "SELECT 1 FROM main.sqlite_schema WHERE name = 'cascade_node'"
    if try alone.isEmpty || db.integer(generated: isAttached) == nil { return Set(alone) }
    return Set(try alone.filter { try !db.hasStoredNodes(of: $0) })
  }

  private mutating func bind(
    _ name: String, _ path: String, _ key: [String],
    to table: Result<Table, Catalog.Unusable>, _ numbers: some Numbering
  ) throws {
    do {
      let table = try table.get()
      let columns = try key.map { try table.required($0) }
      guard table.uniqueKey(of: key) != nil else {
        throw Catalog.Unusable(
          "\"\(table.name)\" may have several rows with the same \(key.joined(separator: ", ")): a "
            + "key needs a PRIMARY KEY or a UNIQUE constraint on exactly these columns, by the "
            + "columns' own collations")
      }
      collections[name] = NodeTable(
        id: try numbers.collectionId(name), collection: name,
        kind: .mapped(table, key: columns, collations: columns.map(\.collation)))
    } catch let unusable as Catalog.Unusable {
      add(unusable, path, of: [name])
    }
  }

  /// A problem is contained if what it makes unknown is known: the edges of relationships that are
  /// in tables of the application alone.
  private mutating func add(
    _ unusable: Catalog.Unusable, _ path: String, of names: [String]
  ) {
    let problem = ModelProblem(path: path, message: unusable.reason)
    problems.append(problem)
    if !unusable.isContained || !names.allSatisfy(model.isRelatedByTablesOnly) { return }
    containedProblems.insert(path)
    relatedToContained += names.compactMap { collections[$0] }.map { ($0, problem) }
  }

  private mutating func findKeptCollections(_ db: borrowing Connection) throws {
    let tables = collections.values.compactMap(\.table) + edgeRelations.compactMap(\.referringTable)
    for table in Set(tables) {
      missingDefinitions[table.name.folded] = try db.missingDefinitions(of: table)
    }
    kept = collections.values.sorted { $0.id < $1.id }.compactMap { nodes in
      reasonToKeep(nodes).map { (nodes, $0) }
    }
    kept += relatedToContained.map { nodes, problem in
      (nodes, "what it is related to cannot be read: \(problem)")
    }
  }

  private func reasonToKeep(_ nodes: NodeTable) -> String? {
    guard let table = nodes.table, let missing = missingDefinitions[table.name.folded] else {
      return nil
    }
    if let reason = missing.reasonAgainstDeletion(from: table) { return reason }
    let mayGo = model.trash == .zero || model.irrevocable.contains(nodes.collection)
    return mayGo ? nil : missing.reasonAgainstRestoring(to: table)
  }

  /// All relations that may hold the same edges: an edge is identified by its name and its ends.
  package func edgeRelations(like relation: EdgeRelation) -> [EdgeRelation] {
    edgeRelations.filter {
      $0.nameId == relation.nameId && $0.source == relation.source
        && $0.destination == relation.destination
    }
  }

  package func problem(of collection: String) -> ModelProblem? {
    problems.first { $0.path == ModelProblem.path(of: collection) }
  }

  package func collection(_ id: Int64) -> NodeTable? { collections.values.first { $0.id == id } }

  /// The numbers of the mapped collections, as a list in SQL.
  package var tableNumbers: String {
    collections.values.map { String($0.id) }.joined(separator: ", ")
  }

  /// The collection whose rows are this table's.
  package func collection(in table: Table) -> NodeTable? {
    collections.values.first { $0.table?.name == table.name }
  }

  /// Lists that hold nodes: by a rule of their own, by rule 32 of another relation of the same
  /// name, or because what they lead to is reached from the roots.
  func findHoldingLists() -> [EdgeRelation] {
    let counted = edgeRelations.filter { $0.rules.contains(.deleteDestinationIfAllSourcesDeleted) }
    let names = Set(counted.map(\.name))
    let holding = Rules.ofLostSource.union(.denyDestinationDeletion)
    return edgeRelations.filter {
      $0.isInLists
        && (!$0.rules.isDisjoint(with: holding) || names.contains($0.name)
          || !model.roots.isEmpty && $0.leadsToDestination)
    }
  }
}

/// Assigns numbers to names. The writer creates new ones; a reader knows only existing ones.
package protocol Numbering {
  func collectionId(_ name: String) throws -> Int64
  func nameId(_ name: String) throws -> Int64
}

extension Table {
  func required(_ name: String) throws(Catalog.Unusable) -> Column {
    guard let column = column(name) else {
      throw Catalog.Unusable("table \"\(self.name)\" has no column \"\(name)\"")
    }
    if ["BINARY", "NOCASE", "RTRIM"].contains(column.collation.uppercased()) { return column }
    throw Catalog.Unusable(
      "column \"\(column.name)\" of \"\(self.name)\" compares by \"\(column.collation)\", which "
        + "only the application defines: SQLite itself has BINARY, NOCASE and RTRIM",
      isContained: true)
  }
}

extension StoreModel {
  fileprivate func ends(of relationship: Relationship) -> [String] {
    ([relationship.from] + relationship.to.collections).map(collection(of:))
  }

  /// Whether it matters to the model that a node of this collection vanishes.
  package func hasRelationship(with collection: String) -> Bool {
    relationships.contains { ends(of: $0).contains(collection) }
  }
}
