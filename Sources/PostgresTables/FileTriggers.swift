internal import CascadePostgres
internal import PostgresBinding

extension Triggers {
  /// The triggers that write down which files lost an edge. They see what the daemon deletes, too.
  var files: [Trigger] { binding.files.filter(\.releases).flatMap(triggers) }

  private func triggers(_ relation: FileRelation) -> [Trigger] {
    let (deletion, rows) = dialect(of: relation.table).deletion(from: relation.table)
    let renamed = """
      UPDATE ON \(relation.table) FOR EACH ROW
      WHEN (\(relation.mayBeChanged("OLD", "NEW")))
      """
    func paths(_ rows: String) -> String {
      """
      INSERT INTO cascade.file(root, path)
      SELECT DISTINCT \(literal(relation.root)), p.path
      FROM (SELECT \(relation.path(in: "o")) FROM \(relation.edges(of: rows, as: "o"))) p(path)
      WHERE p.path IS NOT NULL;
      """
    }
    return [
      trigger("file_gone", relation, deletion, paths(rows)),
      trigger("file_renamed", relation, renamed, paths("(SELECT OLD.*) o")),
    ]
  }

  private func trigger(
    _ kind: String, _ relation: FileRelation, _ event: String, _ body: String
  ) -> Trigger {
    let name = "\(kind)_\(relation.number)"
    return trigger("cascade_\(name)", on: relation.table, name, event, body)
  }
}
