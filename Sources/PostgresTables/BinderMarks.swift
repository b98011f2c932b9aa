internal import CascadeModel
internal import CascadePostgres
internal import CascadeStore
internal import PostgresBinding

/// Binds what the model says of rows that are marked (`softDelete`).
extension Binder {
  mutating func bindMarks() throws {
    for (name, soft) in store.model.softDeletions.sorted(by: { $0.key < $1.key }) {
      guard let table = binding.tables[name], !table.isManaged else { continue }
      let types = try soft.columns.map { try store.db.type(of: $0, in: table.name) }
      func add(_ problem: String) {
        let path = "\(ModelProblem.path(of: name)).softDelete"
        binding.markProblems.append(ModelProblem(path: path, message: problem))
      }
      let missing = zip(soft.columns, types).filter { $1 == nil }.map { "\"\($0.0)\"" }
      if !missing.isEmpty {
        add("\(table.name) has no column \(missing.joined(separator: ", "))")
        continue
      }
      let marked = MarkedTable(table, soft, types.compactMap(\.self))
      do {
        try check(marked)
        binding.marked[table.number] = marked
      } catch let error as PostgresError where error.isAboutTheStatement {
        add("it cannot be used: \(error.message)")
      }
    }
  }

  /// The server says what is wrong with the condition, or with what marks a row.
  private func check(_ marked: MarkedTable) throws {
    let assignments = marked.marking(value: "NULL::text", type: "NULL::text")
    let question =
      "EXPLAIN UPDATE \(marked.table.name) s SET \(assignments.list) WHERE \(marked.isMarked("s"))"
    if !store.db.isInTransaction {
      try store.db.run(question)
      return
    }
    _ = try store.db.savepoint { try store.db.run(question) }
  }
}
