internal import CascadeModel
internal import CascadeEngine
internal import CascadePostgres
internal import CascadeStore
internal import PostgresBinding

/// Stored edges that the model has no place for any more. They are kept, and it is told that no rule of
/// theirs runs. A model that is only judged may have other names for what is there.
extension Binder {
  mutating func noteLeftovers() throws {
    if store.provisional != nil { return }
    let rows = try store.remembered(
      """
      SELECT number, name, source, destination FROM cascade.relation
      WHERE part LIKE 'stored: %' ORDER BY number
      """)
    for row in rows {
      let number = Int64(row[0]!)!
      if isBound(number) || hasFiles(number) { continue }
      let ends = [row[2]!, row[3]!].filter { !$0.hasPrefix(FileRows.collection) }
      if ends.contains(where: { binding.stopped.reasons[$0] != nil }) { continue }
      if try !hasEdges(number) { continue }
      let missing = ends.first { binding.tables[$0] == nil }
      note(row[1]!, ends, missing: missing)
    }
  }

  private func isBound(_ number: Int64) -> Bool {
    binding.relation(number) != nil || binding.stopped.relations.contains(number)
  }

  private mutating func note(_ name: String, _ ends: [String], missing: String?) {
    if let missing {
      let collection = missing.split(separator: "/").last.map(String.init) ?? missing
      let (path, message) = (
        ModelProblem.path(of: collection), MissingCollection.message(collection)
      )
      if !binding.problems.contains(where: { $0.path == path }) { fail(path, message) }
      return
    }
    fail(
      ModelProblem.path(of: ends[0]),
      "stored edges \"\(name)\" of \"\(ends[0])\" name keys that cannot be converted to the type which "
        + "the key has now: no rule of theirs runs")
  }

  private func hasEdges(_ number: Int64) throws -> Bool {
    for table in ["edges", "files"].map({ "cascade.\($0)_\(number)" }) {
      let isThere = try store.db.run("SELECT to_regclass($1) IS NOT NULL", [table]).bool
      if try isThere && store.db.run("SELECT EXISTS (SELECT FROM \(table))").bool { return true }
    }
    return false
  }
}
