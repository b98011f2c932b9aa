/// Reads where a relationship's edges are stored, and refuses a place that cannot hold them.
struct EdgeStorageReader {
  let fields: Fields
  let names: DeclaredNames
  let from: String
  let to: Relationship.Target

  func read() -> Relationship.EdgeStorage {
    checkSingleStorage()
    if let column = fields["column"] { return self.column(column) }
    fields["typeColumn"]?.addProblem("\"typeColumn\" needs \"column\" beside it")
    if let join = fields["join"] { return self.join(join) }
    if let property = fields["property"] { return .property(property.name("a property") ?? "") }
    return .stored
  }

  private func checkSingleStorage() {
    let given = ["column", "join", "property"].compactMap { fields[$0] }
    for entry in given.dropFirst() {
      entry.addProblem("a relationship needs exactly one of column, join and property")
    }
  }

  private func column(_ entry: ModelValue) -> Relationship.EdgeStorage {
    let column = entry.name("a column") ?? ""
    if fields["toMany"]?.json == .bool(true) {
      fields["toMany"]?.addProblem("a column holds one reference; use join or property for many")
    }
    for collection in to.collections { names.requireSimpleKey(collection, for: entry) }
    if let type = fields["typeColumn"] { return polymorphic(column, type) }
    names.requireTable(from, for: entry, "a column")
    return .column(column)
  }

  private func polymorphic(_ column: String, _ entry: ModelValue) -> Relationship.EdgeStorage {
    let typeColumn = entry.name("a column") ?? ""
    if case .types = to {
      if typeColumn == column { entry.addProblem("\"\(column)\" is the column of the reference") }
    } else {
      entry.addProblem("\"typeColumn\" needs a map from types to collections in \"to\"")
    }
    return .polymorphic(column: column, typeColumn: typeColumn)
  }

  private func join(_ entry: ModelValue) -> Relationship.EdgeStorage {
    names.requireTable(from, for: entry, "a join")
    if case .files = to { entry.addProblem("a join table joins tables, not files") }
    let join = Fields(entry, ["table", "source", "destination"])
    let table = table(join?.required("table"))
    let source = column(join?.required("source"), to: [from])
    let destination = column(join?.required("destination"), to: to.collections)
    if !source.isEmpty, source == destination {
      join?["destination"]?.addProblem("\"\(source)\" is the column of the source")
    }
    return .join(table: table, source: source, destination: destination)
  }

  private func table(_ entry: ModelValue?) -> String {
    guard let entry, let table = entry.name("a table") else { return "" }
    entry.judge(table: table)
    return table
  }

  private func column(_ entry: ModelValue?, to collections: [String]) -> String {
    guard let entry else { return "" }
    for collection in collections { names.requireSimpleKey(collection, for: entry) }
    return entry.name("a column") ?? ""
  }
}
