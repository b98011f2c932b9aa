/// Reads where a relationship's edges are stored, and refuses a place that cannot hold them.
struct EdgeStorageReader {
  let fields: Fields
  let names: DeclaredNames
  let from: String
  let to: Relationship.Target

  func read() -> Relationship.EdgeStorage {
    checkSingleStorage()
    if to.isEither { checkEither() }
    if let column = fields["column"] { return self.column(column) }
    fields["typeColumn"]?.addProblem("\"typeColumn\" needs \"column\" beside it")
    if let join = fields["join"] { return self.join(join) }
    if let property = fields["property"] { return self.property(property) }
    return .stored
  }

  private func checkSingleStorage() {
    let given = ["column", "join", "property"].compactMap { fields[$0] }
    for entry in given.dropFirst() {
      entry.addProblem("a relationship needs exactly one of column, join and property")
    }
  }

  /// The value of a column alone says where it leads. Elsewhere an edge names its collection.
  private func checkEither() {
    if fields["column"] != nil { return }
    fields["to"]?.addProblem(
      "only a reference in a \"column\" may lead to one of several collections")
  }

  private func column(_ entry: ModelValue) -> Relationship.EdgeStorage {
    let columns = self.columns(entry, to: to.collections)
    if fields["toMany"]?.json == .bool(true) {
      fields["toMany"]?.addProblem("a column holds one reference; use join or property for many")
    }
    if columns.count > 1 { checkSeveral(entry) }
    if let type = fields["typeColumn"] { return polymorphic(columns, type) }
    names.requireTable(from, for: entry, "a column")
    return .column(columns)
  }

  private func property(_ entry: ModelValue) -> Relationship.EdgeStorage {
    if case .array = entry.json {
      entry.addProblem("a property holds the whole reference; only \"column\" may be a list")
      return .property("")
    }
    return .property(entry.name("a property") ?? "")
  }

  /// Only a table has columns to list; an object has properties.
  private func checkSeveral(_ entry: ModelValue) {
    names.requireTable(from, for: entry, "a list of columns")
    if case .files = to { entry.addProblem("a path is in one column") }
  }

  private func polymorphic(
    _ columns: [String], _ entry: ModelValue
  ) -> Relationship.EdgeStorage {
    let typeColumn = entry.name("a column") ?? ""
    if case .types = to {
      if columns.contains(typeColumn) {
        entry.addProblem("\"\(typeColumn)\" is the column of the reference")
      }
    } else {
      entry.addProblem("\"typeColumn\" needs a map from types to collections in \"to\"")
    }
    return .polymorphic(column: columns, typeColumn: typeColumn)
  }

  private func join(_ entry: ModelValue) -> Relationship.EdgeStorage {
    names.requireTable(from, for: entry, "a join")
    if case .files = to { entry.addProblem("a join table joins tables, not files") }
    let join = Fields(entry, ["table", "source", "destination"])
    let table = table(join?.required("table"))
    let source = columns(join?.required("source"), to: [from])
    let destination = columns(join?.required("destination"), to: to.collections)
    if !source.isEmpty, source == destination {
      let names = source.map { "\"\($0)\"" }.joined(separator: ", ")
      join?["destination"]?.addProblem(
        "\(names) \(source.count == 1 ? "is the column" : "are the columns") of the source")
    }
    return .join(table: table, source: source, destination: destination)
  }

  private func table(_ entry: ModelValue?) -> String {
    guard let entry, let table = entry.name("a table") else { return "" }
    entry.judge(table: table)
    return table
  }

  private func columns(_ entry: ModelValue?, to collections: [String]) -> [String] {
    guard let entry else { return [] }
    let columns = entry.columns(of: "a reference")
    for collection in collections {
      names.requireKey(of: collection, like: columns, for: entry)
    }
    return columns
  }
}
