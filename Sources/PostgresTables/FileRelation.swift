package import CascadeModel
internal import CascadePostgres
internal import CascadeStore

/// A relationship to files: a column of the source has their paths below a root.
package struct FileRelation {
  package let number: Int64
  package let relationship: Relationship
  package let source: MappedTable
  package let root: String
  package let column: String

  /// The path that a row names; null if it names none.
  package func path(in row: String) -> String { "\(row).\(quoted(column))" }

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
  package let store: StoreConnection
  /// Whether relationships get a number if they have none.
  package let numbers: Bool

  package func bind(_ binding: inout Binding) throws {
    for (index, relationship) in store.model.relationships.enumerated() {
      guard case .files(let root) = relationship.to,
        case .column(let columns) = relationship.edgeStorage,
        let source = binding.tables[relationship.from]
      else { continue }
      if let problem = try problem(columns[0], in: source) {
        binding.problems.append(
          ModelProblem(path: "relationships[\(index)]", message: problem))
      } else if let number = try number(relationship, root, columns[0]) {
        binding.files.append(
          FileRelation(
            number: number, relationship: relationship, source: source, root: root,
            column: columns[0]))
      }
    }
  }

  private func problem(_ column: String, in table: MappedTable) throws -> String? {
    let type = try store.db.run(
      """
      SELECT format_type(atttypid, NULL) FROM pg_attribute
      WHERE attrelid = $1::regclass AND attname = $2 AND attnum > 0 AND NOT attisdropped
      """, [table.name, column]
    ).text
    guard let type else { return "\(table.name) has no column \"\(column)\"" }
    if ["text", "character varying"].contains(type) { return nil }
    return "\"\(column)\" is \(type): a path is text or varchar"
  }

  private func number(
    _ relationship: Relationship, _ root: String, _ column: String
  ) throws -> Int64? {
    let parts = [relationship.name, relationship.from, "\(FileRows.collection)\(root)", column]
    return try store.number(relation: parts, makes: numbers)
  }
}

extension Triggers {
  /// The triggers that write down which files lost an edge. They see what the daemon deletes, too.
  var files: [Trigger] { binding.files.filter(\.releases).flatMap(triggers) }

  private func triggers(_ relation: FileRelation) -> [Trigger] {
    let (table, old) = (relation.source.name, relation.path(in: "OLD"))
    let (deletion, rows) = dialect.deletion(from: table)
    let renamed = """
      UPDATE ON \(table) FOR EACH ROW
      WHEN (\(old) IS NOT NULL AND \(old) IS DISTINCT FROM \(relation.path(in: "NEW")))
      """
    return [
      trigger("file_gone", relation, deletion, "\(relation.path(in: "o")) FROM \(rows)"),
      trigger("file_renamed", relation, renamed, old),
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
