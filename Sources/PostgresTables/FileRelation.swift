package import CascadeModel
internal import CascadePostgres
internal import CascadeStore

/// A relationship to files: a column of the source has their paths below a root, each row one or a
/// list.
package struct FileRelation {
  package let number: Int64
  package let relationship: Relationship
  package let source: MappedTable
  package let root: String
  package let place: Place

  package enum Place {
    case column(String)
    case list(ListColumn)
  }

  package var list: ListColumn? {
    if case .list(let list) = place { list } else { nil }
  }

  /// The path that a row names, or an element `e` of it; null if it names none.
  package func path(in row: String) -> String {
    switch place {
    case .column(let column): "\(row).\(quoted(column))"
    case .list(let list): list.value.contents("e")
    }
  }

  /// All rows `s`, or these, with their elements, for FROM.
  package func edges(of rows: String? = nil, as row: String = "s") -> String {
    (rows ?? "\(source.name) \(row)") + (list.map { " CROSS JOIN \($0.elements(row))" } ?? "")
  }

  /// Whether the row `s` may name one of the paths that a query returns.
  package func mayName(anyOf paths: String) -> String {
    list?.mayHaveAny(paths, in: "s") ?? "true"
  }

  /// Whether the row `s` names a file.
  package var namesAny: String {
    guard let list else { return "\(path(in: "s")) IS NOT NULL" }
    return "EXISTS (SELECT FROM \(list.elements("s")) WHERE \(path(in: "s")) IS NOT NULL)"
  }

  fileprivate func mayBeChanged(_ row: String, _ other: String) -> String {
    if let list { return list.mayBeChanged(row, other) }
    return "\(path(in: row)) IS NOT NULL AND \(path(in: row)) IS DISTINCT FROM \(path(in: other))"
  }

  /// Whether a file may go with an edge.
  var releases: Bool { !relationship.rules.isEmpty }

  package func edge(_ key: String, _ path: String) -> Edge {
    Edge(
      name: relationship.name, source: source.node(key),
      destination: .file(root: root, path: path), rules: relationship.rules, origin: .declared,
      kind: .file)
  }
}

/// Finds the columns of a model that have paths.
struct FileBinder {
  let store: StoreConnection
  /// Whether relationships get a number if they have none.
  let numbers: Bool

  func bind(_ binding: inout Binding) throws {
    for (index, relationship) in store.model.relationships.enumerated() {
      guard case .files(let root) = relationship.to,
        let source = binding.tables[store.model.collection(of: relationship.from)]
      else { continue }
      do throws(Unfit) {
        guard let place = try place(of: relationship, in: source),
          let number = try number(relationship, root, place.text)
        else { continue }
        binding.files.append(
          FileRelation(
            number: number, relationship: relationship, source: source, root: root,
            place: place.place))
      } catch {
        binding.problems.append(
          ModelProblem(path: "relationships[\(index)]", message: error.description))
      }
    }
  }

  /// Why a column cannot have paths.
  private struct Unfit: Error, CustomStringConvertible {
    let description: String
  }

  /// Nil where edges to files cannot be.
  private func place(
    of relationship: Relationship, in table: MappedTable
  ) throws(Unfit) -> (place: FileRelation.Place, text: String)? {
    switch relationship.edgeStorage {
    case .column(let columns):
      let type = try type(of: columns[0], in: table)
      if ["text", "character varying"].contains(type) { return (.column(columns[0]), columns[0]) }
      throw Unfit(description: "\"\(columns[0])\" is \(type): a path is text or varchar")
    case .property(let property):
      var list = try list(table.isManaged ? "value.\(property)" : property, in: table)
      list.objectTypes = store.model.objectTypes(called: relationship.from)
      return (.list(list), property)
    case .polymorphic, .join, .stored: return nil
    }
  }

  private func list(_ property: String, in table: MappedTable) throws(Unfit) -> ListColumn {
    let names = ListColumn.names(of: property)
    let type = try type(of: names[0], in: table)
    let isArray = names.count == 1 && ["text[]", "character varying[]"].contains(type)
    if !isArray && !ListColumn.documents.contains(type) {
      throw Unfit(
        description: "\"\(names[0])\" is \(type): a list of paths is jsonb, json, text"
          + (names.count > 1 ? "" : ", or an array of text"))
    }
    return ListColumn(
      name: quoted(names[0]), type: type, family: .text,
      path: isArray ? [] : Array(names.dropFirst()))
  }

  private func type(of column: String, in table: MappedTable) throws(Unfit) -> String {
    if let type = try? store.type(of: column, in: table.name) { return type.name }
    throw Unfit(description: "\(table.name) has no column \"\(column)\"")
  }

  private func number(
    _ relationship: Relationship, _ root: String, _ place: String
  ) throws(Unfit) -> Int64? {
    let parts = [relationship.name, relationship.from, "\(FileRows.collection)\(root)", place]
    do {
      return try store.number(relation: parts, makes: numbers)
    } catch {
      throw Unfit(description: "\(error)")
    }
  }
}

extension Triggers {
  /// The triggers that write down which files lost an edge. They see what the daemon deletes, too.
  var files: [Trigger] { binding.files.filter(\.releases).flatMap(triggers) }

  private func triggers(_ relation: FileRelation) -> [Trigger] {
    let table = relation.source.name
    let (deletion, rows) = dialect.deletion(from: table)
    let renamed = """
      UPDATE ON \(table) FOR EACH ROW
      WHEN (\(relation.mayBeChanged("OLD", "NEW")))
      """
    func paths(_ rows: String) -> String {
      "\(relation.path(in: "o")) FROM \(relation.edges(of: rows, as: "o"))"
    }
    return [
      trigger("file_gone", relation, deletion, paths(rows)),
      trigger("file_renamed", relation, renamed, paths("(SELECT OLD.*) o")),
    ]
  }

  private func trigger(
    _ kind: String, _ relation: FileRelation, _ event: String, _ paths: String
  ) -> Trigger {
    let name = "\(kind)_\(relation.number)"
    return trigger(
      "cascade_\(name)", on: relation.source.name, name, event,
      """
      INSERT INTO cascade.file(root, path)
      SELECT DISTINCT \(literal(relation.root)), p.path FROM (SELECT \(paths)) p(path)
      WHERE p.path IS NOT NULL;
      """)
  }
}
