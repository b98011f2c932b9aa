internal import CascadeModel
internal import CascadePostgres
internal import CascadeStore
internal import PostgresBinding

/// Finds the tables and columns of a model in the catalog.
struct Binder: ~Copyable {
  let store: StoreConnection
  /// Whether collections and relationships get a number if they have none.
  let numbers: Bool
  var binding = Binding()
  /// What columns are called now that have another name in the model, by their tables.
  var renamed: [String: [String: String]] = [:]
  /// The numbers of relations that were there before.
  private(set) var knownRelations: Set<String> = []

  init(_ store: StoreConnection, numbers: Bool) {
    self.store = store
    self.numbers = numbers
  }

  mutating func bind() throws -> Binding {
    let known = try store.remembered("SELECT number FROM cascade.relation")
    knownRelations = Set(known.map { $0[0]! })
    for (name, collection) in store.model.collections.sorted(by: { $0.key < $1.key }) {
      switch collection {
      case .mapped(let table, let key, _): try bind(name, table, key)
      case .managed: try bindObjects(name)
      }
    }
    for name in try unlisted() { try bindObjects(name) }
    for (index, relationship) in store.model.relationships.enumerated() {
      try bind(relationship, "relationships[\(index)]")
    }
    try bindMarks()
    try bindManual()
    try bindFiles()
    try noteLeftovers()
    binding.stopUncountable()
    binding.judgements = binding.makeJudgements(store.model)
    binding.roots = store.model.roots.compactMap {
      binding.tables[store.model.collection(of: $0)]
    }
    binding.collected = binding.tables.values.filter(store.model.collects)
    let needed = binding.needed(by: .source)
    for index in binding.relations.indices {
      binding.relations[index].isNeeded = needed.contains(binding.relations[index].number)
    }
    return binding
  }

  private mutating func bind(_ collection: String, _ table: String, _ key: [String]) throws {
    let count = binding.problems.count
    let mapped = try mappedTable(collection, table, key)
    if binding.problems.count == count {
      binding.tables[collection] = mapped
      return
    }
    binding.stopped.reasons[collection] = binding.problems[count].message
    guard let number = try number(of: collection, makes: false) else { return }
    binding.stopped.collections.append(number)
    binding.stopped.tables[collection] = mapped
  }

  /// Also where there is a problem, as far as it is known what to do.
  private mutating func mappedTable(
    _ collection: String, _ table: String, _ key: [String]
  ) throws -> MappedTable? {
    let (path, count) = (ModelProblem.path(of: collection), binding.problems.count)
    guard let name = try self.table(table, path), let key = try columns(key, in: name, path) else {
      return nil
    }
    let isFit = binding.problems.count == count
    guard let number = try number(of: collection, makes: numbers && isFit) else {
      fail(path, "the store is not attached with this collection")
      return nil
    }
    var mapped = MappedTable(collection: collection, number: number, name: name, key: key)
    mapped.triggers = try store.appTriggers(on: name)
    return mapped
  }

  private func number(of collection: String, makes: Bool) throws -> Int64? {
    try store.number("collection", ["name"], [collection], makes: makes)
  }

  /// Collections that change files have made.
  private func unlisted() throws -> [String] {
    try store.remembered(
      """
      SELECT c.name FROM cascade.collection c
      WHERE to_regclass('cascade.objects_' || c.number) IS NOT NULL ORDER BY 1
      """
    ).map { $0[0]! }.filter {
      store.model.collections[$0] == nil && store.model.typeNames[$0] == nil
    }
  }

  /// Objects are in a table of Cascade's own.
  private mutating func bindObjects(_ collection: String) throws {
    guard let number = try number(of: collection, makes: numbers) else {
      return fail(
        ModelProblem.path(of: collection), "the store is not attached with this collection")
    }
    let table = MappedTable(objectsOf: collection, number)
    if numbers { try store.db.execute(OwnSchema.objects(table)) }
    binding.tables[collection] = table
  }

  private mutating func bind(_ relationship: Relationship, _ path: String) throws {
    let targets = relationship.to.targets(in: store.model)
    let source = store.model.collection(of: relationship.from)
    try stopping([source] + targets.map(\.collection)) {
      try $0.bindRelations(relationship, path)
    } asFor: { binder in
      try targets.map { type, destination in
        Stoppable(
          number: try binder.number(of: relationship, type, source, destination),
          name: relationship.name, source: source, destination: destination,
          rules: relationship.rules)
      }
    }
  }

  /// One relation for each destination, which has to be there.
  private mutating func bindRelations(_ relationship: Relationship, _ path: String) throws {
    guard let source = table(called: relationship.from) else { return }
    var relations: [EdgeRelation] = []
    for (type, to) in relationship.to.targets(in: store.model) {
      guard let destination = table(called: to) else { return }
      if relationship.edgeStorage == .stored {
        try bindStored(relationship.name, relationship.rules, source, destination)
        continue
      }
      guard let relation = try relation(relationship, source, destination, type, path) else {
        return
      }
      guard let ties = try ties(of: relation, path) else { return }
      relations += [relation] + ties
    }
    if relationship.to.isEither { try link(&relations, path) }
    binding.relations += relations
  }

  /// Also of one that is stopped.
  var tables: [MappedTable] {
    Array(binding.tables.values) + Array(binding.stopped.tables.values)
  }
  func hasFiles(_ number: Int64) -> Bool {
    (binding.files + binding.stopped.files).contains { $0.number == number }
  }
  mutating func add(_ files: FileRelation) { binding.files.append(files) }

  /// The name may be that of a type of objects.
  func table(called name: String) -> MappedTable? {
    let collection = store.model.collection(of: name)
    return binding.tables[collection] ?? binding.stopped.tables[collection]
  }

  private mutating func relation(
    _ relationship: Relationship, _ source: MappedTable, _ destination: MappedTable,
    _ type: String?, _ path: String
  ) throws -> EdgeRelation? {
    guard let form = try form(of: relationship, source, destination, type, path) else {
      return nil
    }
    let part = relationship.part(type, source.collection)
    var column: TypeColumn?
    if let type, !source.isManaged,
      case .polymorphic(_, let name) = relationship.edgeStorage
    {
      column = try self.type(type, in: name, of: source.name, relationship, path)
      if column == nil { return nil }
    }
    let parts = [relationship.name, source.collection, destination.collection, part]
    guard let number = try store.number(relation: parts, makes: numbers) else {
      fail(path, "the store is not attached with this relationship")
      return nil
    }
    return EdgeRelation(
      number: number, name: relationship.name, rules: relationship.rules,
      storage: relationship.edgeStorage, none: relationship.none, source: source,
      destination: destination, form: form, type: column)
  }

  private mutating func ties(
    of relation: EdgeRelation, _ path: String
  ) throws -> [EdgeRelation]? {
    let ties = try relation.ties { try store.number(relation: $0, makes: numbers) }
    if ties == nil { fail(path, "the store is not attached with this relationship") }
    return ties
  }

  /// Makes relations of one reference known to each other.
  private mutating func link(_ relations: inout [EdgeRelation], _ path: String) throws {
    let all = relations.enumerated().compactMap { index, relation in
      relation.columns.map { (index, relation, $0) }
    }
    if let columns = all.first?.2, columns.all.count > 1, all.contains(where: { $0.2 != columns }) {
      fail(path, "keys of several columns, to any of which a reference leads, have the same types")
    }
    for index in relations.indices {
      relations[index].alternatives = all.filter { $0.0 != index }.map { place, other, columns in
        Alternative(
          number: other.number, table: other.destination, columns: columns, isBefore: place < index)
      }
    }
  }

  private mutating func type(
    _ value: String, in name: String, of table: String, _ relationship: Relationship,
    _ path: String
  ) throws -> TypeColumn? {
    guard let type = try type(of: name, in: table, path) else { return nil }
    let family = KeyFamily(type)
    guard let text = family == nil ? value : family?.text(.text(value)) else {
      fail(path, "\"\(name)\" is \(type.name), and cannot have the type \"\(value)\"")
      return nil
    }
    let isRequired = try isNotNull(name, in: table)
    if isRequired && relationship.rules.contains(.nullifySourceIfDestinationDeleted)
      && relationship.none.isEmpty
    {
      fail(path, "\"\(name)\" is NOT NULL, and cannot be nullified")
      return nil
    }
    return TypeColumn(
      name: quoted(now(name, in: table)), value: text, family: family,
      empty: isRequired ? nil : "NULL")
  }

  /// Edges to which change files gave other rules than the model does, or that it does not declare.
  private mutating func bindManual() throws {
    let rows = try store.remembered(
      "SELECT name, source, destination, part FROM cascade.relation WHERE part LIKE 'stored: %' "
        + "ORDER BY number")
    for row in rows {
      guard let source = tables.first(where: { $0.collection == row[1] }),
        let destination = tables.first(where: { $0.collection == row[2] }),
        let rules = row[3]!.split(separator: " ").last.flatMap({ Int64($0) }),
        row[3] == JoinTable.part(source, destination, rules: Rules(rawValue: rules))
      else { continue }
      try stopping([source.collection, destination.collection]) {
        try $0.bindStored(row[0]!, Rules(rawValue: rules), source, destination)
      } asFor: { _ in
        []
      }
    }
  }

  /// Stored edges are in a table of their own, which has the types of both keys.
  private mutating func bindStored(
    _ name: String, _ rules: Rules, _ source: MappedTable, _ destination: MappedTable
  ) throws {
    func columns(_ key: Columns, _ letter: String) -> Columns {
      Columns(
        key.all.enumerated().map {
          Columns.Column(name: "\(letter)\($0.offset)", family: $0.element.family)
        })
    }
    let part = JoinTable.part(source, destination, rules: rules)
    let parts = [name, source.collection, destination.collection, part]
    guard let number = try store.number(relation: parts, makes: numbers),
      binding.relation(number) == nil, !binding.stopped.relations.contains(number)
    else { return }
    let join = JoinTable(
      name: "cascade.edges_\(number)", source: columns(source.key, "s"),
      destination: columns(destination.key, "d"), isStored: true)
    if numbers { try store.db.execute(OwnSchema.edges(join)) }
    binding.relations.append(
      EdgeRelation(
        number: number, name: name, rules: rules, storage: .stored, source: source,
        destination: destination, form: .join(join)))
  }

  private mutating func form(
    of relationship: Relationship, _ source: MappedTable, _ destination: MappedTable,
    _ type: String?, _ path: String
  ) throws -> EdgeRelation.Form? {
    switch relationship.edgeStorage {
    case .polymorphic(let names, let typeName) where source.isManaged:
      var list = try list("value.\(names[0])", in: source.name, to: destination, path)
      list?.kind = ListColumn.Kind(path: ListColumn.names(of: typeName), value: type ?? "")
      list?.objectTypes = store.model.objectTypes(called: relationship.from)
      return list.map { .list($0) }
    case .column(let names), .polymorphic(let names, _):
      guard let columns = try reference(names, in: source.name, to: destination, path) else {
        return nil
      }
      return try emptied(columns, names, relationship, source, path).map { .columns($0) }
    case .join(let table, let from, let to):
      guard let name = try self.table(table, path),
        let source = try reference(from, in: name, to: source, path),
        let destination = try reference(to, in: name, to: destination, path)
      else { return nil }
      let nodes = binding.tables.values.sorted { $0.number < $1.number }.first { $0.name == name }
      let hasNulls = try !(from + to).allSatisfy { try isNotNull($0, in: name) }
      return .join(
        JoinTable(
          name: name, source: source, destination: destination, nodes: nodes, hasNulls: hasNulls))
    case .property(let name):
      // The members of an object are those of its value.
      var list = try list(
        source.isManaged ? "value.\(name)" : name, in: source.name, to: destination, path)
      list?.objectTypes = store.model.objectTypes(called: relationship.from)
      return list.map { .list($0) }
    case .stored: return nil
    }
  }
}

extension Relationship.Target {
  /// The collections, in the order of the model, with the value that stands for each.
  func targets(in model: StoreModel) -> [(type: String?, collection: String)] {
    switch self {
    case .collection(let name): [(nil, model.collection(of: name))]
    case .types(let map):
      map.sorted { $0.key < $1.key }.map { ($0.key, model.collection(of: $0.value)) }
    case .either(let names):
      // Types of one collection are the same table.
      names.map(model.collection(of:)).reduce(into: []) { all, name in
        if !all.contains(where: { $0.1 == name }) { all.append((nil, name)) }
      }
    case .files: []
    }
  }
}

extension Relationship {
  /// Tells apart the places of edges that are alike otherwise.
  func part(_ type: String?, _ source: String) -> String {
    var part = edgeStorage.part
    if from != source { part += "; of \(from)" }
    if let type { part += " = \(type)" }
    return part
  }
}

extension Relationship.EdgeStorage {
  /// Tells apart the places of edges that are alike otherwise.
  var part: String {
    switch self {
    case .stored: ""
    case .column(let columns): columns.joined(separator: ", ")
    case .polymorphic(let columns, let type): (columns + [type]).joined(separator: ", ")
    case .property(let path): path
    case .join(let table, let source, let destination):
      "\(table): \(source.joined(separator: ", ")) -> \(destination.joined(separator: ", "))"
    }
  }
}
